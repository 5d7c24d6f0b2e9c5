"""FaithfulDocument: a text in lines that gives back exactly the characters it was given.

Textual's own document splits on everything that looks like the end of a line and joins with one kind of newline,
so carriage returns, form feeds and Unicode separators come back changed. Here only "\\n" ends a line; every other
character stays inside one. Every edit, undo and redo passes `replace_range`.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice
from typing import Final, Literal

from textual.document._document import Document, EditResult, Location

from bpe_core.utf8 import without_surrogates

LONG_LINE: Final = 20_000  # a line of more characters than this is never wrapped
_TOGETHER: Final = 1024  # lengths that are added up in one go


class FaithfulDocument(Document):
    """The `listener` is called with (start, end, replacement) of an edit: which code points are replaced by what.

    >>> FaithfulDocument("a\\r\\nb\\x0cc").lines
    ['a\\r', 'b\\x0cc']
    """

    def __init__(self, text: str, listener: Callable[[int, int, str], None] | None = None) -> None:
        self._newline: Literal["\n"] = "\n"
        text = without_surrogates(text)
        self._lines = text.split("\n")
        self._lengths = PrefixSums(_lengths(self._lines))
        self._listener = listener
        self.n_edits = 0
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
        """Put `text` in place of what stands between two places; where it ends, and the text that is gone."""
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
        self.n_edits += 1
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

    Where items begin is known from the first on as far as it was asked for, and up to the first one that has changed
    since. So what lies near an edit is found at once; to go from one end of 400,000 to the other takes 30 ms.

    >>> lengths = PrefixSums([6, 3, 9])
    >>> lengths.start(2), lengths.find(8), lengths.total
    (9, (1, 6), 18)
    """

    def __init__(self, lengths: Iterable[int] = ()) -> None:
        self._lengths = list(lengths)
        self._starts = [0]
        self.total = sum(self._lengths)

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, index: int) -> int:
        return self._lengths[index]

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; the last item for a position at or past the end."""
        while self._starts[-1] <= position and len(self._starts) < len(self):
            self.start(len(self._starts) + _TOGETHER)
        index = max(min(bisect_right(self._starts, position), len(self)) - 1, 0)
        return index, self._starts[index]

    def start(self, index: int) -> int:
        """Where the item at `index` begins: the sum of the lengths before it; `start(len(self))` is the total."""
        known = len(self._starts) - 1
        self._starts += islice(accumulate(self._lengths[known:index], initial=self._starts[-1]), 1, None)
        return self._starts[min(index, len(self))]

    def replace(self, first: int, last: int, lengths: Sequence[int]) -> None:
        """Replace the lengths from `first` up to, not including, `last` by `lengths`, which may be more or fewer."""
        self.total += sum(lengths) - sum(self._lengths[first:last])
        self._lengths[first:last] = lengths
        del self._starts[first + 1 :]
