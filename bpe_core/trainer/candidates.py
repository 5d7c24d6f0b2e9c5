"""Which pair comes next: the most frequent one, and among equals the one the tie rule prefers.

After a pair has come to be, its count only falls. So pairs wait in one list per count, the highest list is opened
first, and those that have fallen meanwhile are sent down to where they belong. Only the pairs of the open level are
ordered among each other, and an exact tally of them says how many were tied.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from bpe_core.trainer.pair_index import Pair

Key = Any


class Candidates:
    """Pairs in the order in which they are to be merged, read off live `counts`.

    `key` gives a pair's order among equals, smallest first. With `key_grows` it is a number that may grow while a pair
    waits (a place moves only later): then it is asked for when the pair's turn comes, and again at every later turn.
    """

    __slots__ = ("_counts", "_key", "_key_grows", "_levels", "_lowest", "_open", "_waiting", "level", "n_tied")

    def __init__(
        self, counts: Mapping[Pair, int], key: Callable[[Pair], Key], *, key_grows: bool, min_count: int
    ) -> None:
        self.level = 0
        """The highest count there is; pairs of this count are being chosen."""
        self.n_tied = 0
        """How many pairs have this count now."""
        self._counts = counts
        self._key = key
        self._key_grows = key_grows
        self._lowest = min_count
        self._open: list[tuple[Key, Pair]] = []
        self._waiting: defaultdict[int, list[Pair]] = defaultdict(list)
        self._levels: list[int] = []
        self._add(counts)

    def update(self, made: Iterable[Pair], fallen: int) -> None:
        """Take in the pairs that a merge has made, and strike the `fallen` ones off those that are tied."""
        self.n_tied -= fallen
        self._add(made)

    def _add(self, pairs: Iterable[Pair]) -> None:
        counts, level, lowest = self._counts, self.level, self._lowest
        for pair in pairs:
            count = counts[pair]
            if count == level:
                self.n_tied += 1
                heappush(self._open, self._entry(pair))
            elif count >= lowest:
                self._wait(pair, count)

    def take(self) -> Pair | None:
        """The pair to merge next; None if every pair occurs less often than the minimum count."""
        while True:
            while self._open:
                key, pair = heappop(self._open)
                count = self._counts.get(pair, 0)
                if count != self.level:
                    if count >= self._lowest:
                        self._wait(pair, count)
                elif self._key_grows and self.n_tied > 1 and (now := self._key(pair)) != key:
                    heappush(self._open, (now, pair))
                else:
                    return pair
            if not self._levels:
                return None
            self._enter(-heappop(self._levels))

    def _entry(self, pair: Pair) -> tuple[Key, Pair]:
        return (0 if self._key_grows else self._key(pair), pair)

    def _wait(self, pair: Pair, count: int) -> None:
        if count not in self._waiting:
            heappush(self._levels, -count)
        self._waiting[count].append(pair)

    def _enter(self, level: int) -> None:
        self.level = level
        here = []
        for pair in self._waiting.pop(level):
            count = self._counts.get(pair, 0)
            if count == level:
                here.append(pair)
            elif count >= self._lowest:
                self._wait(pair, count)
        self.n_tied = len(here)
        self._open = list(map(self._entry, here))
        heapify(self._open)
