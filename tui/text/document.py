"""A text in lines that gives back exactly the characters it was given; its rows on a screen, and the cursor's ways.

Textual's own document splits on everything that looks like the end of a line and joins with one kind of newline,
so carriage returns, form feeds and Unicode separators come back changed. Here only "\\n" ends a line; every other
character stays inside one. Every edit, undo and redo passes `replace_range`.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice
from typing import Final, Literal, NamedTuple

from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from bpe_core.utf8 import without_surrogates
from tui.text.strips import (
    CLUSTER,
    TAB_SIZE,
    Layout,
    border,
    compiled,
    lay_out,
    measure,
    widest_possible,
    wrap,
)

LONG_LINE: Final = 20_000  # a line of more characters than this is never wrapped
CHUNK: Final = 256  # characters between two marks on the ruler
_TOGETHER: Final = 1024  # lengths that are added up in one go
_AT_ONCE: Final = (
    200_000  # characters that are wrapped at once; of more, only what is looked at
)
_REACH: Final = 64  # characters looked at on either side of the cursor; a longer cluster is walked through in parts
_WORD: Final = r"\w+|[^\w\s]+"
_WORD_REACH: Final = 2_000
_NEAR: Final = 150  # lines before and behind the cursor that have their own height, so that the rows around it stay


class FaithfulDocument(Document):
    """The `listener` is called with (start, end, replacement) of an edit: which code points are replaced by what.

    >>> FaithfulDocument("a\\r\\nb\\x0cc").lines
    ['a\\r', 'b\\x0cc']
    """

    def __init__(
        self, text: str, listener: Callable[[int, int, str], None] | None = None
    ) -> None:
        self._newline: Literal["\n"] = "\n"
        text = without_surrogates(text)
        self._lines = text.split("\n")
        self._lengths = PrefixSums(_lengths(self._lines))
        self._listener = listener
        self.n_edits = 0
        self.n_bytes = _count_bytes(text)  # of the text in UTF-8
        self.n_long_lines = _count_long(
            self._lines
        )  # how many lines have more than `LONG_LINE` characters

    @property
    def n_characters(self) -> int:
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
        return "\n".join(
            (
                self._lines[top][left:],
                *self._lines[top + 1 : bottom],
                self._lines[bottom][:right],
            )
        )

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Put `text` in place of what stands between two places; where it ends, and the text that is gone."""
        text = without_surrogates(text)
        (top, left), (bottom, right) = sorted((self._clamp(start), self._clamp(end)))
        offset = self._lengths.start(top) + left
        removed = self.get_text_range((top, left), (bottom, right))
        lines = text.split("\n")
        end_place = (
            top + len(lines) - 1,
            len(lines[-1]) + (left if len(lines) == 1 else 0),
        )
        lines[0] = self._lines[top][:left] + lines[0]
        lines[-1] += self._lines[bottom][right:]
        self.n_long_lines += _count_long(lines) - _count_long(
            self._lines[top : bottom + 1]
        )
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
        self._starts += islice(
            accumulate(self._lengths[known:index], initial=self._starts[-1]), 1, None
        )
        return self._starts[min(index, len(self))]

    def replace(self, first: int, last: int, lengths: Sequence[int]) -> None:
        """Replace the lengths from `first` up to, not including, `last` by `lengths`, which may be more or fewer."""
        self.total += sum(lengths) - sum(self._lengths[first:last])
        self._lengths[first:last] = lengths
        del self._starts[first + 1 :]


class Ruler:
    """Marks every few hundred characters along a line: at which column, at which cell.

    They are set from the left as far as they are needed, so the first character of a line of a million costs nothing.
    """

    def __init__(
        self, line: str, columns: Sequence[int] = (0,), cells: Sequence[int] = (0,)
    ) -> None:
        self.line, self._columns, self._cells = line, [*columns], [*cells]

    def with_line(self, line: str, column: int) -> "Ruler":
        """The ruler of a line that is the same up to `column`; the marks before it are kept."""
        # A mark is good when no cluster across it can have changed: well before the first new character.
        keep = max(bisect_right(self._columns, column - 64), 1)
        return Ruler(line, self._columns[:keep], self._cells[:keep])

    def cell(self, column: int) -> int:
        """The cell at which the character at `column` is drawn."""
        mark = self._mark(self._columns, column)
        return self._cells[mark] + self._chunk(mark).cell(column - self._columns[mark])

    def column(self, cell: int) -> int:
        """The column of the character that covers a cell; the line's length beyond its end."""
        mark = self._mark(self._cells, max(cell, 0))
        return self._columns[mark] + self._chunk(mark).column(cell - self._cells[mark])

    def window(self, cell: int, width: int) -> tuple[int, str, int]:
        """(column, text, cell) of a stretch that begins at a mark and covers `width` cells from `cell`."""
        first, last = (
            self._mark(self._cells, cell),
            self._mark(self._cells, cell + width),
        )
        return (
            self._columns[first],
            self.line[self._columns[first] : self._end(last)],
            self._cells[first],
        )

    def _mark(self, places: list[int], place: int) -> int:
        """The last mark that is not behind a place, and a mark behind it; `places` are those of columns or of cells."""
        while places[-1] <= place and self._columns[-1] < len(self.line):
            start, cell = self._columns[-1], self._cells[-1]
            self._columns.append(border(self.line, start + CHUNK))
            self._cells.append(
                cell + measure(self.line[start : self._columns[-1]], cell % TAB_SIZE)
            )
        return bisect_right(places, place) - 1

    def _end(self, mark: int) -> int:
        return (
            self._columns[mark + 1] if mark + 1 < len(self._columns) else len(self.line)
        )

    def _chunk(self, mark: int) -> Layout:
        return lay_out(
            self.line[self._columns[mark] : self._end(mark)],
            self._cells[mark] % TAB_SIZE,
        )


class RowStretch(NamedTuple):
    """The stretch of a line that stands on one row, or the part of it that is in view."""

    line: int
    start: int  # the column of the line at which the stretch begins
    text: str
    cell: int  # the cell of the row at which the stretch begins; more than 0 only in a long line that is not wrapped
    ends_line: bool
    lane: int = 0  # the lane that is drawn here; 0 is the first


class Rows(WrappedDocument):
    """A document as rows of at most `width` cells, or one row a line when the width is 0; each once for each lane.

    Textual's own counts cells in another way than this app draws them (one glyph for a control character, clusters, tab
    stops), sums all lines to know its height and copies a whole line to find a column. A big text is not wrapped at
    once: a line that was not looked at yet has the height it is likely to have, and gets its own when it, or the cursor
    near it, comes into view.
    """

    document: FaithfulDocument

    def __init__(self, document: FaithfulDocument, width: int = 0) -> None:
        self.n_lanes = 1  # screen rows for each row of the text, one below the other
        super().__init__(document, width)  # which calls `wrap`

    @property
    def height(self) -> int:
        return self.n_lanes * (
            self._heights.total if self.width else self.document.line_count
        )

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._asked = width
        self.width = 0 if self.document.n_long_lines else width
        """The width the text is wrapped at, in cells; 0 when it is not, which very long lines forbid."""
        self._rulers: dict[int, Ruler] = {}
        self.widest = (
            self.width
        )  # cells of the widest line, or a little more once it was edited
        lines = self.document.lines
        self._breaks: list[list[int] | None]
        self._breaks, heights = self._wrap_lines(lines) if self.width else ([], [])
        self._heights = PrefixSums(heights)
        if not self.width:
            self._note_widths(lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        if self._asked and bool(self.width) == bool(self.document.n_long_lines):
            return self.wrap(self._asked)
        top, old_bottom, bottom = (
            min(start[0], old_end[0]),
            max(start[0], old_end[0]),
            max(start[0], new_end[0]),
        )
        lines, column = self.document.lines[top : bottom + 1], min(start, old_end)[1]
        self._rulers = {row: ruler for row, ruler in self._rulers.items() if row <= top}
        if top in self._rulers:
            self._rulers[top] = self._rulers[top].with_line(self.document[top], column)
        if self.width:
            stop = min(old_bottom + 1, len(self._breaks))
            self._breaks[top:stop], heights = self._wrap_lines(lines)
            self._heights.replace(top, stop, heights)
        elif start[0] == old_end[0] == new_end[0] and len(lines[0]) > LONG_LINE:
            # Of a line of a million characters, measure what is new: it has grown by no more than that.
            self.widest += measure(lines[0][column : new_end[1]])
        else:
            self._note_widths(lines)

    def _wrap_lines(self, lines: list[str]) -> tuple[list[list[int] | None], list[int]]:
        """(where each line breaks, its height); None and a guess for the lines of a big text."""
        if sum(map(len, lines)) > _AT_ONCE:
            return [None] * len(lines), [
                -(-len(line) // self.width) or 1 for line in lines
            ]
        breaks = [wrap(line, self.width) for line in lines]
        return [*breaks], [len(cuts) + 1 for cuts in breaks]

    def get_offsets(self, line_index: int) -> list[int]:
        """Where a line breaks, found out now if it was not yet."""
        if not self.width:
            return []
        breaks = self._breaks[line_index]
        if breaks is None:
            breaks = self._breaks[line_index] = wrap(
                self.document[line_index], self.width
            )
            if self._heights[line_index] != len(breaks) + 1:
                self._heights.replace(line_index, line_index + 1, [len(breaks) + 1])
        return breaks

    def _row(self, line: int, section: int) -> tuple[int, str]:
        """(its first column, its text) of the row of a line with this number, from 0."""
        cuts = [0, *self.get_offsets(line), len(self.document[line])]
        return cuts[section], self.document[line][cuts[section] : cuts[section + 1]]

    def _note_widths(self, lines: list[str]) -> None:
        """Keep the width of the widest line; a line that cannot be wider is not measured, the longest goes first."""
        for line in (max(lines, key=len, default=""), *lines):
            if widest_possible(line) > self.widest:
                self.widest = max(self.widest, measure(line))

    def _ruler(self, line: int) -> Ruler:
        if line not in self._rulers:
            self._rulers[line] = Ruler(self.document[line])
        return self._rulers[line]

    def place(self, y: int, x: int = 0, width: int = 0) -> RowStretch | None:
        """What stands on row `y`, None below the text; of a line that is not wrapped, `width` cells from `x` on."""
        if not 0 <= y < self.height:
            return None
        y, lane = divmod(y, self.n_lanes)
        if not self.width:
            start, text, cell = self._ruler(y).window(x, width)
            return RowStretch(
                y, start, text, cell, start + len(text) == len(self.document[y]), lane
            )
        while self._breaks[(found := self._heights.find(y))[0]] is None:
            self.get_offsets(found[0])
        line, top = found
        start, text = self._row(line, min(y, self._heights.total) - top)
        return RowStretch(
            line, start, text, 0, start + len(text) == len(self.document[line]), lane
        )

    def location_to_offset(self, location: Location) -> Offset:
        line, column = location
        line = min(max(line, 0), self.document.line_count - 1)
        if not self.width:
            return Offset(self._ruler(line).cell(column), line * self.n_lanes)
        first, last = max(line - _NEAR, 0), min(line + _NEAR, len(self._breaks))
        if None in self._breaks[first:last]:
            for near in range(first, last):
                self.get_offsets(near)
        section = bisect_right(self.get_offsets(line), column)
        start, text = self._row(line, section)
        x = lay_out(text).cell(column - start)
        return Offset(x, (self._heights.start(line) + section) * self.n_lanes)

    def offset_to_location(self, offset: Offset) -> Location:
        x, y = max(offset[0], 0), min(max(offset[1], 0), self.height - 1)
        place = self.place(y) if self.width else None
        if place is None:
            return y // self.n_lanes, self._ruler(y // self.n_lanes).column(x)
        layout = lay_out(place.text)
        # Past the end of a row that the line goes on from, the next row would begin: stay on this one.
        cell = x if place.ends_line else min(x, layout.width - 1)
        return place.line, place.start + layout.column(cell)


class Navigator(DocumentNavigator):
    """Where the cursor goes. Nothing here looks at more of a line than the stretch around the cursor."""

    _wrapped_document: Rows

    def get_location_left(self, location: Location) -> Location:
        row, column = location
        if column == 0:
            return (row - 1, len(self._document[row - 1])) if row else (0, 0)
        start = max(column - _REACH, 0)
        *_, last = compiled(CLUSTER).findall(self._document[row][start:column])
        return row, column - len(last)

    def get_location_right(self, location: Location) -> Location:
        row, column = location
        cluster = compiled(CLUSTER).match(self._document[row][column : column + _REACH])
        if cluster:
            return row, column + len(cluster.group())
        return location if self.is_last_document_line(location) else (row + 1, 0)

    def get_location_above(self, location: Location, rows: int = -1) -> Location:
        document = self._wrapped_document
        x, y = document.location_to_offset(location)
        y += rows * document.n_lanes
        if 0 <= y < document.height:
            return document.offset_to_location(Offset(max(x, self.last_x_offset), y))
        return (0, 0) if y < 0 else self._document.end

    def get_location_below(self, location: Location) -> Location:
        return self.get_location_above(location, 1)

    def get_word_left(self, location: Location) -> Location:
        row, column = location
        start = max(column - _WORD_REACH, 0)
        words = [
            match.start()
            for match in compiled(_WORD).finditer(self._document[row][start:column])
        ]
        return (
            (row, start + (words[-1] if words else 0))
            if column
            else self.get_location_left(location)
        )

    def get_word_right(self, location: Location) -> Location:
        row, column = location
        line = self._document[row]
        stop = min(column + _WORD_REACH, len(line))
        word = compiled(_WORD).search(line, column, stop)
        return (
            (row, word.end() if word else stop)
            if column < len(line)
            else self.get_location_right(location)
        )

    def get_location_end(self, location: Location) -> Location:
        row, column = location
        further = [
            cut for cut in self._wrapped_document.get_offsets(row) if cut > column
        ]
        return (
            self.get_location_left((row, further[0]))
            if further
            else (row, len(self._document[row]))
        )
