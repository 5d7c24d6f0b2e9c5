"""Prefix sums of a list of lengths that can change: which item holds a position, and where each item begins."""

from array import array
from collections.abc import Sequence
from copy import copy
from itertools import accumulate
from operator import sub


class PrefixSums:
    """A Fenwick tree over lengths (P. M. Fenwick, 1994): `find`, `start` and `add` take O(log n).

    `replace` takes O(n), but O(log n) a change where fewer than 64 lengths are replaced by as many.
    """

    __slots__ = ("_lengths", "_seen", "_sums", "total")

    total: int
    """The sum of all lengths."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = array("q", lengths)
        self._build()

    def _build(self) -> None:
        self._seen = 0, 0, 0  # index, start and end of the last item found: the next position is often in the same
        ends = array("q", accumulate(self._lengths, initial=0))
        self.total = ends[-1]
        self._sums = sums = ends[:]
        step = 1
        while step < len(sums):  # the number at an odd multiple of `step` is the sum of the last `step` lengths
            sums[step :: 2 * step] = array("q", map(sub, ends[step :: 2 * step], ends[:: 2 * step]))
            step *= 2

    def copy(self) -> "PrefixSums":
        """An independent copy."""
        copied = copy(self)
        copied._lengths, copied._sums = self._lengths[:], self._sums[:]
        return copied

    def __len__(self) -> int:
        return len(self._lengths)

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; the last item for a position at or past the end."""
        index, start, end = self._seen
        if start <= position < end:
            return index, start
        sums = self._sums
        index = start = 0
        step = 1 << (len(sums) - 1).bit_length()
        while step := step >> 1:
            ahead = index + step
            if ahead < len(sums) and start + sums[ahead] <= position:
                index = ahead
                start += sums[ahead]
        if index and index == len(self._lengths):
            index -= 1
            start -= self._lengths[index]
        if index < len(self._lengths):
            self._seen = index, start, start + self._lengths[index]
        return index, start

    def start(self, index: int) -> int:
        """Where the item at `index` begins: the sum of the lengths before it; `start(len(self))` is the total."""
        total = 0
        while index:
            total += self._sums[index]
            index &= index - 1
        return total

    def add(self, index: int, change: int) -> None:
        """Add `change`, which may be negative, to the length at `index`."""
        seen, start, end = self._seen
        self._seen = (seen, start, end + change) if seen == index else (0, 0, 0)
        self._lengths[index] += change
        self.total += change
        i = index + 1
        while i < len(self._sums):
            self._sums[i] += change
            i += i & -i

    def replace(self, first: int, last: int, lengths: Sequence[int]) -> None:
        """Replace the lengths from `first` up to, not including, `last` by `lengths`, which may be more or fewer."""
        if len(lengths) == last - first < 64:
            for index, length in enumerate(lengths, first):
                if length != self._lengths[index]:
                    self.add(index, length - self._lengths[index])
        else:
            self._lengths[first:last] = array("q", lengths)
            self._build()
