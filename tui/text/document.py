"""FaithfulDocument: a text in lines that gives back exactly the characters it was given.

Textual's own document splits on everything that looks like the end of a line and joins with one kind of newline,
so carriage returns, form feeds and Unicode separators come back changed. Here only "\\n" ends a line; every other
character stays inside one. Every edit, undo and redo passes `replace_range`, and there the listener hears of it in
code point offsets.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isqrt
from typing import Final, Literal

from textual.document._document import Document, EditResult, Location

from bpe_core.utf8 import without_surrogates

LONG_LINE: Final = 20_000  # a line of more characters than this is never wrapped
_LEAST: Final = 64  # lengths in a group, if there are so many

Listener = Callable[[int, int, str], None]
"""Called with (start, end, replacement) of an edit: offsets of the replaced code points, and what replaced them."""


class FaithfulDocument(Document):
    """The document of a `TextArea`: "\\n" ends a line, nothing else does.

    >>> FaithfulDocument("a\\r\\nb\\x0cc").lines
    ['a\\r', 'b\\x0cc']
    """

    def __init__(self, text: str, listener: Listener | None = None) -> None:
        self._newline: Literal["\n"] = "\n"
        text = without_surrogates(text)
        self._lines = text.split("\n")
        self._lengths = PrefixSums(_lengths(self._lines))
        self._listener = listener
        self.n_bytes = _count_bytes(text)  # of the text in UTF-8
        self.n_long_lines = _count_long(self._lines)  # how many lines have more than `LONG_LINE` characters

    @property
    def n_characters(self) -> int:
        """Code points in the text."""
        return self._lengths.total - 1

    def get_index_from_location(self, location: Location) -> int:
        row, column = self._clamp(location)
        return self._lengths.start(row) + column

    def get_location_from_index(self, index: int) -> Location:
        index = min(max(index, 0), self.n_characters)
        row, start = self._lengths.find(index)
        return row, index - start

    def get_text_range(self, start: Location, end: Location) -> str:
        (top, left), (bottom, right) = sorted((self._clamp(start), self._clamp(end)))
        if top == bottom:
            return self._lines[top][left:right]
        return "\n".join((self._lines[top][left:], *self._lines[top + 1 : bottom], self._lines[bottom][:right]))

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Put `text` in place of what stands between two places, and tell the listener.

        Returns:
            where the new text ends, and the text that is gone.
        """
        text = without_surrogates(text)
        (top, left), (bottom, right) = sorted((self._clamp(start), self._clamp(end)))
        offset = self._lengths.start(top) + left
        removed = self.get_text_range((top, left), (bottom, right))
        lines = text.split("\n")
        end_place = top + len(lines) - 1, len(lines[-1]) + (left if len(lines) == 1 else 0)
        lines[0] = self._lines[top][:left] + lines[0]
        lines[-1] += self._lines[bottom][right:]
        self.n_long_lines += _count_long(lines) - _count_long(self._lines[top : bottom + 1])
        self._lines[top : bottom + 1] = lines
        self._lengths.replace(top, bottom + 1, _lengths(lines))
        self.n_bytes += _count_bytes(text) - _count_bytes(removed)
        if self._listener is not None:
            self._listener(offset, offset + len(removed), text)
        return EditResult(end_place, removed)

    def _clamp(self, location: Location) -> Location:
        row, column = location
        if row >= len(self._lines):
            return self.end
        return max(row, 0), min(max(column, 0), len(self._lines[max(row, 0)]))


def _count_long(lines: list[str]) -> int:
    return sum(map(LONG_LINE.__lt__, map(len, lines)))


def _lengths(lines: list[str]) -> list[int]:
    """Characters of each line, its newline among them."""
    return list(map((1).__add__, map(len, lines)))


def _count_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


class PrefixSums:
    """Lengths above 0 that can change: which item holds a position, where each begins, and the `total`.

    They stand in groups, about as many as each of them has lengths, with the sum of each group. So each call takes
    O(sqrt(n)) steps, most of them in one sum or copy of a list, and all that is kept is lists.

    >>> lengths = PrefixSums([6, 3, 9])
    >>> lengths.start(2), lengths.find(8), lengths.total
    (9, (1, 6), 18)
    """

    def __init__(self, lengths: Sequence[int] = ()) -> None:
        self._groups = _in_groups(list(lengths), max(_LEAST, isqrt(len(lengths))))
        self._totals = list(map(sum, self._groups))
        self._index()

    def _index(self) -> None:
        self._sizes = list(accumulate(map(len, self._groups), initial=0))
        self.total = sum(self._totals)
        self._found = 0, 0, 0  # index, start and end of the last item found: the next position is often in the same

    def __len__(self) -> int:
        return self._sizes[-1]

    def __getitem__(self, index: int) -> int:
        group, place = self._place(index)
        return self._groups[group][place]

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; the last item for a position at or past the end."""
        index, start, end = self._found
        if start <= position < end:
            return index, start
        if not self._groups:
            return 0, 0
        position = min(position, self.total - 1)
        group, start = _find(self._totals, position, 0)
        place, start = _find(self._groups[group], position, start)
        index = self._sizes[group] + place
        self._found = index, start, start + self._groups[group][place]
        return index, start

    def start(self, index: int) -> int:
        """Where the item at `index` begins: the sum of the lengths before it; `start(len(self))` is the total."""
        if index >= len(self):
            return self.total
        group, place = self._place(index)
        return sum(self._totals[:group]) + sum(self._groups[group][:place])

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
