"""Rows: which stretch of which line stands on each screen row, and where in it each character stands.

Where a text has several lanes, each row of it is followed by itself, once for each further lane.

It takes the place of Textual's `WrappedDocument`, which counts cells in another way than this app draws them (one
glyph for a control character, clusters, tab stops), sums all lines to know its height and copies a whole line to
find a column. A big text is not wrapped at once: a line that was not looked at yet has the height it is likely to have,
and gets its own when it, or the cursor near it, comes into view.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from textual.document._document import Location
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from tui.text.document import LONG_LINE, FaithfulDocument, PrefixSums
from tui.text.strips import TAB_SIZE, Layout, border, lay_out, measure, widest_possible, wrap

CHUNK: Final = 256  # characters between two marks on the ruler
_AT_ONCE: Final = 200_000  # characters that are wrapped at once; of more, only what is looked at
_NEAR: Final = 150  # lines before and behind the cursor that have their own height, so that the rows around it stay


class Ruler:
    """Marks every few hundred characters along a line: at which column, at which cell.

    They are set from the left as far as they are needed, so the first character of a line of a million costs nothing.
    """

    def __init__(self, line: str, columns: Sequence[int] = (0,), cells: Sequence[int] = (0,)) -> None:
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
        first, last = self._mark(self._cells, cell), self._mark(self._cells, cell + width)
        return self._columns[first], self.line[self._columns[first] : self._end(last)], self._cells[first]

    def _mark(self, places: list[int], place: int) -> int:
        """The last mark that is not behind a place, and a mark behind it; `places` are those of columns or of cells."""
        while places[-1] <= place and self._columns[-1] < len(self.line):
            start, cell = self._columns[-1], self._cells[-1]
            self._columns.append(border(self.line, start + CHUNK))
            self._cells.append(cell + measure(self.line[start : self._columns[-1]], cell % TAB_SIZE))
        return bisect_right(places, place) - 1

    def _end(self, mark: int) -> int:
        return self._columns[mark + 1] if mark + 1 < len(self._columns) else len(self.line)

    def _chunk(self, mark: int) -> Layout:
        return lay_out(self.line[self._columns[mark] : self._end(mark)], self._cells[mark] % TAB_SIZE)


class RowStretch(NamedTuple):
    """The stretch of a line that stands on one row, or the part of it that is in view."""

    line: int
    start: int  # the column of the line at which the stretch begins
    text: str
    cell: int  # the cell of the row at which the stretch begins; more than 0 only in a long line that is not wrapped
    ends_line: bool
    lane: int = 0  # the lane that is drawn here; 0 is the first


class Rows(WrappedDocument):
    """A document as rows of at most `width` cells, or one row a line when the width is 0."""

    document: FaithfulDocument

    def __init__(self, document: FaithfulDocument, width: int = 0) -> None:
        self.n_lanes = 1  # screen rows for each row of the text, one below the other
        super().__init__(document, width)  # which calls `wrap`

    @property
    def height(self) -> int:
        return self.n_lanes * (self._heights.total if self.width else self.document.line_count)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._asked = width
        self.width = 0 if self.document.n_long_lines else width
        """The width the text is wrapped at, in cells; 0 when it is not, which very long lines forbid."""
        self._rulers: dict[int, Ruler] = {}
        self.widest = self.width  # cells of the widest line, or a little more once it was edited
        lines = self.document.lines
        self._breaks: list[list[int] | None]
        self._breaks, heights = self._wrap_lines(lines) if self.width else ([], [])
        self._heights = PrefixSums(heights)
        if not self.width:
            self._note_widths(lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        if self._asked and bool(self.width) == bool(self.document.n_long_lines):
            return self.wrap(self._asked)
        top, old_bottom, bottom = min(start[0], old_end[0]), max(start[0], old_end[0]), max(start[0], new_end[0])
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
            return [None] * len(lines), [-(-len(line) // self.width) or 1 for line in lines]
        breaks = [wrap(line, self.width) for line in lines]
        return [*breaks], [len(cuts) + 1 for cuts in breaks]

    def get_offsets(self, line_index: int) -> list[int]:
        """Where a line breaks, found out now if it was not yet."""
        if not self.width:
            return []
        breaks = self._breaks[line_index]
        if breaks is None:
            breaks = self._breaks[line_index] = wrap(self.document[line_index], self.width)
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
            return RowStretch(y, start, text, cell, start + len(text) == len(self.document[y]), lane)
        while self._breaks[(found := self._heights.find(y))[0]] is None:
            self.get_offsets(found[0])
        line, top = found
        start, text = self._row(line, min(y, self._heights.total) - top)
        return RowStretch(line, start, text, 0, start + len(text) == len(self.document[line]), lane)

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
