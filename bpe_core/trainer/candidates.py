"""A priority queue of pairs: the most frequent one first, among equally frequent ones as the tie rule has it.

The count of a pair never grows after the merge that made it. So the queue is lazy: it keeps a list of pairs per count,
and a pair whose count has fallen since is moved down to its list only when it is met. The pairs of the highest count,
the *level*, are in a heap ordered by the tie rule.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Any

from bpe_core.trainer.pair_index import Pair, PairIndex

Key = Any
"""What the tie rule compares: an int, or a tuple of ints or of texts."""


class Candidates:
    """All pairs that occur at least `min_count` times, to be taken in the order in which they are to be merged.

    `index` keeps their counts up to date. Of equally frequent pairs the one with the smallest `key` comes first.
    `key_grows` says that a key is an int that can grow while its pair waits (the first slot where it stands moves to
    the right as it is merged): it is then computed only when the pair comes to the top of the heap, and again each time
    that it does.
    """

    __slots__ = ("_index", "_key", "_key_grows", "_levels", "_lowest", "_open", "_waiting", "level")

    def __init__(self, index: PairIndex, key: Callable[[Pair], Key], *, key_grows: bool, min_count: int) -> None:
        self.level = 0
        """The count of the pairs in the heap: the highest there is, once `pop` has returned; 0 before."""
        self._index = index
        self._key = key
        self._key_grows = key_grows
        self._lowest = min_count
        self._open: list[tuple[Key, Pair]] = []
        self._waiting: defaultdict[int, list[Pair]] = defaultdict(list)
        self._levels: list[int] = []
        self.add(index.counts)

    def add(self, pairs: Iterable[Pair]) -> None:
        """Add pairs that are new: those that a merge has made."""
        for pair in pairs:
            count = self._index.counts[pair]
            if count == self.level:
                heappush(self._open, self._entry(pair))
            else:
                self._wait(pair, count)

    def pop(self) -> Pair | None:
        """Remove and return the pair to merge next; None if every pair occurs less often than `min_count`."""
        counts, n_tied = self._index.counts, self._index.n_tied
        while True:
            while self._open:
                key, pair = heappop(self._open)
                count = counts.get(pair, 0)
                if count != self.level:
                    self._wait(pair, count)
                elif self._key_grows and n_tied[count] > 1 and (now := self._key(pair)) != key:
                    heappush(self._open, (now, pair))
                else:
                    return pair
            if not self._levels:
                return None
            self.level = -heappop(self._levels)
            for pair in self._waiting.pop(self.level):
                if (count := counts.get(pair, 0)) == self.level:
                    self._open.append(self._entry(pair))
                else:
                    self._wait(pair, count)
            heapify(self._open)

    def _entry(self, pair: Pair) -> tuple[Key, Pair]:
        return (0 if self._key_grows else self._key(pair), pair)

    def _wait(self, pair: Pair, count: int) -> None:
        if count < self._lowest:
            return
        if count not in self._waiting:
            heappush(self._levels, -count)
        self._waiting[count].append(pair)
