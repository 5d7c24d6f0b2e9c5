"""FaithfulDocument: a text in lines that gives back exactly the characters it was given.

Textual's own document splits on everything that looks like the end of a line and joins with one kind of newline,
so carriage returns, form feeds and Unicode separators come back changed. Here only "\\n" ends a line; every other
character stays inside one. Every edit, undo and redo passes `replace_range`, and there the listener hears of it in
code point offsets.
"""

from collections.abc import Callable
from typing import Literal

from textual.document._document import Document, EditResult, Location

from bpe_core.utf8 import without_surrogates
from tui.text.prefix_sums import PrefixSums

LONG_LINE = 20_000  # a line of more characters than this is never wrapped

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
        self.n_bytes = _count_bytes(text)  # bytes of the text in UTF-8
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
        top, bottom = sorted((self._clamp(start), self._clamp(end)))
        first, last = self._lines[top[0]], self._lines[bottom[0]]
        if top[0] == bottom[0]:
            return first[top[1] : bottom[1]]
        return "\n".join((first[top[1] :], *self._lines[top[0] + 1 : bottom[0]], last[: bottom[1]]))

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Put `text` in place of what stands between two places, and tell the listener.

        Returns:
            where the new text ends, and the text that is gone.
        """
        text = without_surrogates(text)
        top, bottom = sorted((self._clamp(start), self._clamp(end)))
        offset = self._lengths.start(top[0]) + top[1]
        removed = self.get_text_range(top, bottom)
        inserted = text.split("\n")
        end_row = top[0] + len(inserted) - 1
        end_column = len(inserted[-1]) + (top[1] if len(inserted) == 1 else 0)
        inserted[0] = self._lines[top[0]][: top[1]] + inserted[0]
        inserted[-1] += self._lines[bottom[0]][bottom[1] :]
        self._replace_lines(top[0], bottom[0] + 1, inserted)
        self.n_bytes += _count_bytes(text) - _count_bytes(removed)
        if self._listener is not None:
            self._listener(offset, offset + len(removed), text)
        return EditResult((end_row, end_column), removed)

    def _replace_lines(self, start: int, stop: int, lines: list[str]) -> None:
        self.n_long_lines += _count_long(lines) - _count_long(self._lines[start:stop])
        self._lines[start:stop] = lines
        self._lengths.replace(start, stop, _lengths(lines))

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
