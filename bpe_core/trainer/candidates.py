"""A priority queue of pairs: the most frequent one first, among equally frequent ones as the tie rule has it.

The count of a pair never grows after the merge that made it. So the queue is lazy: it keeps a list of pairs per count,
and a pair whose count has fallen since is moved down to its list only when it is met. The pairs of the highest count,
the *level*, are in a heap ordered by the tie rule; `n_tied` counts them exactly.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from bpe_core.trainer.pair_index import Pair

Key = Any
"""What the tie rule compares: an int, or a tuple of ints or of texts."""


class Candidates:
    """All pairs that occur at least `min_count` times, to be taken in the order in which they are to be merged.

    `counts` is the mapping that the pair index keeps up to date; it is read, not copied. Of equally frequent pairs the
    one with the smallest `key` comes first. `key_grows` says that a key is an int that can grow while its pair waits
    (the first slot where it stands moves to the right as it is merged): it is then computed only when the pair comes
    to the top of the heap, and again each time that it does.
    """

    __slots__ = ("_counts", "_key", "_key_grows", "_levels", "_lowest", "_open", "_waiting", "level", "n_tied")

    def __init__(
        self, counts: Mapping[Pair, int], key: Callable[[Pair], Key], *, key_grows: bool, min_count: int
    ) -> None:
        self.level = 0
        """The count of the pairs in the heap: the highest there is, once `pop` has returned; 0 before."""
        self.n_tied = 0
        """How many pairs have the count `level` now, the one that `pop` returned among them."""
        self._counts = counts
        self._key = key
        self._key_grows = key_grows
        self._lowest = min_count
        self._open: list[tuple[Key, Pair]] = []
        self._waiting: defaultdict[int, list[Pair]] = defaultdict(list)
        self._levels: list[int] = []
        self._add(counts)

    def update(self, made: Iterable[Pair], fallen: int) -> None:
        """After a merge: add the pairs it `made`, and subtract `fallen`, how many no longer have the count `level`."""
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

    def pop(self) -> Pair | None:
        """Remove and return the pair to merge next; None if every pair occurs less often than `min_count`."""
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
