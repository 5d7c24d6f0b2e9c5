"""Prefix sums of a list of lengths that can change: which item holds a position, and where each item begins."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import isqrt
from typing import Final

_LEAST: Final = 64  # lengths in a group, if there are so many


class PrefixSums:
    """Lengths above 0 in groups, about as many as each of them has lengths, and the sum of each group.

    So each call takes O(sqrt(n)) steps, most of them in one sum or copy of a list, and all that is kept is lists.

    >>> lengths = PrefixSums([6, 3, 9])
    >>> lengths.start(2), lengths.find(8), lengths.total
    (9, (1, 6), 18)
    """

    __slots__ = ("_groups", "_seen", "_sizes", "_totals", "total")

    total: int  # the sum of all lengths

    def __init__(self, lengths: Sequence[int] = ()) -> None:
        self._groups = _in_groups(list(lengths), max(_LEAST, isqrt(len(lengths))))
        self._totals = list(map(sum, self._groups))
        self._index()

    def _index(self) -> None:
        self._sizes = list(accumulate(map(len, self._groups), initial=0))
        self.total = sum(self._totals)
        self._seen = 0, 0, 0  # index, start and end of the last item found: the next position is often in the same

    def copy(self) -> "PrefixSums":
        """An independent copy."""
        copied = object.__new__(PrefixSums)
        copied._groups = [group[:] for group in self._groups]
        copied._totals = self._totals[:]
        copied._index()
        return copied

    def __len__(self) -> int:
        return self._sizes[-1]

    def __getitem__(self, index: int) -> int:
        group, place = self._place(index)
        return self._groups[group][place]

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; the last item for a position at or past the end."""
        index, start, end = self._seen
        if start <= position < end:
            return index, start
        if not self._groups:
            return 0, 0
        position = min(position, self.total - 1)
        group, start = _find(self._totals, position, 0)
        place, start = _find(self._groups[group], position, start)
        index = self._sizes[group] + place
        self._seen = index, start, start + self._groups[group][place]
        return index, start

    def start(self, index: int) -> int:
        """Where the item at `index` begins: the sum of the lengths before it; `start(len(self))` is the total."""
        if index >= len(self):
            return self.total
        group, place = self._place(index)
        return sum(self._totals[:group]) + sum(self._groups[group][:place])

    def add(self, index: int, change: int) -> None:
        """Add `change`, which may be negative, to the length at `index`."""
        group, place = self._place(index)
        self._groups[group][place] += change
        self._totals[group] += change
        self.total += change
        seen, start, end = self._seen
        self._seen = (seen, start, end + change) if seen == index else (0, 0, 0)

    def replace(self, first: int, last: int, lengths: Sequence[int]) -> None:
        """Replace the lengths from `first` up to, not including, `last` by `lengths`, which may be more or fewer."""
        (one, left), (other, right) = self._place(first), self._place(last)
        new = [*self._groups[one][:left], *lengths, *self._groups[other][right:]] if self._groups else list(lengths)
        size = max(_LEAST, isqrt(len(self) + len(lengths)))
        groups = _in_groups(new, size) if len(new) > 2 * size else [new] if new else []
        self._groups[one : other + 1] = groups
        self._totals[one : other + 1] = map(sum, groups)
        self._index()

    def _place(self, index: int) -> tuple[int, int]:
        """(group, place in it); the end of the list is the end of its last group."""
        group = max(0, min(bisect_right(self._sizes, index), len(self._groups)) - 1)
        return group, index - self._sizes[group]


def _find(lengths: list[int], position: int, start: int) -> tuple[int, int]:
    """(index, start) of the length that holds `position`; the first one begins at `start`."""
    index, step = 0, 1 << len(lengths).bit_length()
    while step := step >> 1:  # to add up a half is faster than to list where each ends
        end = start + sum(lengths[index : index + step])
        if end <= position:
            index, start = index + step, end
    return index, start


def _in_groups(lengths: list[int], size: int) -> list[list[int]]:
    return [lengths[at : at + size] for at in range(0, len(lengths), size)]
