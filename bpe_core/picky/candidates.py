"""Which pair comes next, where counts may grow again: the most frequent one, of several the first by the tie rule."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from bpe_core.trainer.pair_index import Pair


class Candidates:
    """All pairs by their count. Of equally frequent pairs the one with the smallest `key`, which may change, is next.

    `counts` is read, not copied; `update` has to be told of every pair whose count or key may have changed.
    """

    def __init__(self, counts: Mapping[Pair, int], key: Callable[[Pair], Any]) -> None:
        self._counts = counts
        self._key = key
        self._count_of: dict[Pair, int] = {}
        self._pairs_of: defaultdict[int, set[Pair]] = defaultdict(set)
        self._levels: list[int] = []  # negative counts, as a heap; some are of no pair any more
        self._level = 0  # the count of the pairs in `_open`
        self._open: list[tuple[Any, Pair]] = []  # a heap; a key in it is never greater than that of its pair now
        self.update(counts)

    def update(self, changed: Iterable[Pair]) -> None:
        """Look again at the counts and keys of pairs."""
        for pair in changed:
            count, was = self._counts.get(pair, 0), self._count_of.get(pair, 0)
            if count != was:
                if was:
                    self._pairs_of[was].discard(pair)
                if not count:
                    del self._count_of[pair]
                    continue
                if count not in self._pairs_of:
                    heappush(self._levels, -count)
                self._count_of[pair] = count
                self._pairs_of[count].add(pair)
            if count == self._level and count:
                heappush(self._open, (self._key(pair), pair))

    def next(self) -> tuple[Pair, int, int] | None:
        """(pair, its count, how many pairs have this count); None if there is no pair."""
        while self._levels:
            level = -self._levels[0]
            if tied := self._pairs_of[level]:
                return (self._first(level, tied) if len(tied) > 1 else next(iter(tied))), level, len(tied)
            heappop(self._levels)
            del self._pairs_of[level]
        return None

    def _first(self, level: int, tied: set[Pair]) -> Pair:
        if level != self._level:
            self._level = level
            self._open = [(self._key(pair), pair) for pair in tied]
            heapify(self._open)
        while True:
            key, pair = self._open[0]
            if pair in tied and self._key(pair) == key:
                return pair
            heappop(self._open)
            if pair in tied:
                heappush(self._open, (self._key(pair), pair))
