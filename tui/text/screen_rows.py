"""Rows: which stretch of which line stands on each screen row, and where in it each character stands.

Where a text has several lanes, each row of it is followed by itself, once for each further lane.

It takes the place of Textual's `WrappedDocument`, which counts cells in another way than this app draws them (one
glyph for a control character, clusters, tab stops), sums all lines to know its height and copies a whole line to
find a column. Here everything is asked of `glyphs.Layout`, heights are kept in `PrefixSums`, and of a long line only
the stretch in question is laid out. A big text is not wrapped at once: a line that was not looked at yet has the height
it is likely to have, and gets its own when it, or the cursor near it, comes into view.
"""

from bisect import bisect_right
from itertools import pairwise
from typing import Final, NamedTuple

from textual.document._document import Location
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from tui.text.document import LONG_LINE, FaithfulDocument, PrefixSums
from tui.text.strips import TAB_SIZE, Layout, border, lay_out, measure, narrow, wrap

CHUNK: Final = 512  # characters between two marks on the ruler
_RULERS: Final = 512  # lines whose marks are remembered
_AT_ONCE: Final = 200_000  # characters that are wrapped at once; of more, only what is looked at
_NEAR: Final = 150
"""Lines on either side of the cursor that have their own height, so that the rows around it stay where they are."""


class Ruler:
    """Marks every few hundred characters along a line: at which column, at which cell.

    The marks are set from the left as far as they are needed, so the first character of a line of a million costs
    nothing; a line of plain ASCII needs none at all.
    """

    def __init__(self, line: str) -> None:
        self.line = line
        self._narrow = narrow(line)
        self._columns = [0]
        self._cells = [0]

    def with_line(self, line: str, column: int) -> "Ruler":
        """The ruler of a line that is the same up to `column`; the marks before it are kept."""
        ruler = Ruler(line)
        # A mark is good when no cluster across it can have changed: well before the first new character.
        keep = max(bisect_right(self._columns, column - 64), 1)
        ruler._columns, ruler._cells = self._columns[:keep], self._cells[:keep]
        return ruler

    def cell(self, column: int) -> int:
        """The cell at which the character at `column` is drawn."""
        if self._narrow:
            return min(column, len(self.line))
        while self._columns[-1] < column:
            self._mark()
        mark = bisect_right(self._columns, column) - 1
        return self._cells[mark] + self._chunk(mark).cell(column - self._columns[mark])

    def column(self, cell: int) -> int:
        """The column of the character that covers a cell; the line's length beyond its end."""
        cell = max(cell, 0)
        if self._narrow:
            return min(cell, len(self.line))
        while self._cells[-1] <= cell and self._columns[-1] < len(self.line):
            self._mark()
        mark = bisect_right(self._cells, cell) - 1
        return self._columns[mark] + self._chunk(mark).column(cell - self._cells[mark])

    def window(self, cell: int, width: int) -> tuple[int, str, int]:
        """(column, text, cell) of a stretch that begins at a mark and covers `width` cells from `cell`."""
        if len(self.line) <= CHUNK:
            return 0, self.line, 0
        if self._narrow:
            start = min(cell, len(self.line))
            return start, self.line[start : cell + width], start
        first, last = self.column(cell), self.column(cell + width)
        mark = bisect_right(self._columns, first) - 1
        end = bisect_right(self._columns, last)
        stop = self._columns[end] if end < len(self._columns) else len(self.line)
        return self._columns[mark], self.line[self._columns[mark] : stop], self._cells[mark]

    def _mark(self) -> None:
        start, cell = self._columns[-1], self._cells[-1]
        end = border(self.line, start + CHUNK)
        self._columns.append(end)
        self._cells.append(cell + measure(self.line[start:end], cell % TAB_SIZE))

    def _chunk(self, mark: int) -> Layout:
        start = self._columns[mark]
        end = self._columns[mark + 1] if mark + 1 < len(self._columns) else border(self.line, start + CHUNK)
        return lay_out(self.line[start:end], self._cells[mark] % TAB_SIZE)


class RowStretch(NamedTuple):
    """The stretch of a line that stands on one row, or the part of it that is in view."""

    line: int
    section: int  # 0 for the row on which the line begins
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

    @property
    def widest(self) -> int:
        """Cells of the widest line, in a big text at least that; the width when the text is wrapped."""
        return self.width or self._widest

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._asked = width
        self.width = 0 if self.document.n_long_lines else width
        """The width the text is wrapped at, in cells; 0 when it is not, which very long lines forbid."""
        self._rulers: dict[int, Ruler] = {}
        self._widest = 0
        lines = self.document.lines
        self._breaks: list[tuple[int, ...] | None]
        self._breaks, heights = self._wrap_lines(lines) if self.width else ([], [])
        self._heights = PrefixSums(heights)
        if not self.width:
            self._note_widths(lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        if self._asked and bool(self.width) == bool(self.document.n_long_lines):
            self.wrap(self._asked)
            return
        top, old_bottom, bottom = min(start[0], old_end[0]), max(start[0], old_end[0]), max(start[0], new_end[0])
        lines, column = self.document.lines[top : bottom + 1], min(start, old_end)[1]
        self._rulers = {row: ruler for row, ruler in self._rulers.items() if row <= top}
        if top in self._rulers:
            self._rulers[top] = self._rulers[top].with_line(self.document[top], column)
        if self.width:
            stop = min(old_bottom + 1, len(self._breaks))
            self._breaks[top:stop], heights = self._wrap_lines(lines)
            self._heights.replace(top, stop, heights)
        elif self.document.n_characters <= _AT_ONCE:
            self._widest = 0
            self._note_widths(self.document.lines)
        elif start[0] == old_end[0] == new_end[0] and len(lines[0]) > LONG_LINE:
            # Of a line of a million characters, measure what is new: it has grown by no more than that.
            self._widest += measure(lines[0][column : new_end[1]])
        else:
            self._note_widths(lines)

    def _wrap_lines(self, lines: list[str]) -> tuple[list[tuple[int, ...] | None], list[int]]:
        """(where each line breaks, its height); None and a guess for the lines of a big text."""
        if sum(map(len, lines)) > _AT_ONCE:
            heights = {n: -(-n // self.width) or 1 for n in set(map(len, lines))}
            return [None] * len(lines), list(map(heights.__getitem__, map(len, lines)))
        breaks = list(map(self._wrap_line, lines))
        return [*breaks], [len(cuts) + 1 for cuts in breaks]

    def _wrap_line(self, line: str) -> tuple[int, ...]:
        fits = len(line) <= self.width and _widest_possible(line) <= self.width
        return () if fits else wrap(line, self.width)

    def _cuts(self, line: int) -> tuple[int, ...]:
        """Where a line breaks, found out now if it was not yet."""
        breaks = self._breaks[line]
        if breaks is None:
            breaks = self._breaks[line] = self._wrap_line(self.document[line])
            if self._heights[line] != len(breaks) + 1:
                self._heights.replace(line, line + 1, [len(breaks) + 1])
        return breaks

    def _find(self, y: int) -> tuple[int, int]:
        """(line, its row) at row `y` of the text, of which each lane has one."""
        while self._breaks[(found := self._heights.find(y))[0]] is None:
            self._cuts(found[0])
        line, start = found
        return line, min(y, self._heights.total) - start

    def _note_widths(self, lines: list[str]) -> None:
        """Keep the width of the widest line; a line that cannot be wider is not measured, the longest goes first."""
        for line in (max(lines, key=len, default=""), *lines):
            if _widest_possible(line) > self._widest:
                self._widest = max(self._widest, measure(line))

    def _ruler(self, line: int) -> Ruler:
        ruler = self._rulers.get(line)
        if ruler is None:
            ruler = self._rulers[line] = Ruler(self.document[line])
            if len(self._rulers) > _RULERS:
                del self._rulers[next(iter(self._rulers))]
        return ruler

    def place(self, y: int, x: int = 0, width: int = 0) -> RowStretch | None:
        """What stands on row `y`, None below the text; of a line that is not wrapped, `width` cells from `x` on."""
        if not 0 <= y < self.height:
            return None
        y, lane = divmod(y, self.n_lanes)
        if not self.width:
            start, text, cell = self._ruler(y).window(x, width)
            return RowStretch(y, 0, start, text, cell, start + len(text) == len(self.document[y]), lane)
        line, section = self._find(y)
        text = self.document[line]
        start, end = self._bounds(line, section)
        return RowStretch(line, section, start, text[start:end], 0, end == len(text), lane)

    def _bounds(self, line: int, section: int) -> tuple[int, int]:
        breaks = self._cuts(line)
        start = breaks[section - 1] if section else 0
        return start, breaks[section] if section < len(breaks) else len(self.document[line])

    def location_to_offset(self, location: Location) -> Offset:
        line, column = location
        line = min(max(line, 0), self.document.line_count - 1)
        if not self.width:
            return Offset(self._ruler(line).cell(column), line * self.n_lanes)
        first, last = max(line - _NEAR, 0), min(line + _NEAR, len(self._breaks))
        if None in self._breaks[first:last]:
            for near in range(first, last):
                self._cuts(near)
        section = bisect_right(self._cuts(line), column)
        start, end = self._bounds(line, section)
        x = lay_out(self.document[line][start:end]).cell(column - start)
        return Offset(x, (self._heights.start(line) + section) * self.n_lanes)

    def offset_to_location(self, offset: Offset) -> Location:
        x, y = max(offset[0], 0), min(max(offset[1], 0), self.height - 1) // self.n_lanes
        line, section = self._find(y) if self.width else (y, 0)
        return line, self.get_target_document_column(line, x, section)

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        if not self.width:
            return self._ruler(line_index).column(x_offset)
        last = len(self._cuts(line_index))
        section = y_offset if y_offset >= 0 else last + 1 + y_offset
        start, end = self._bounds(line_index, section)
        layout = lay_out(self.document[line_index][start:end])
        # Past the end of a row that the line goes on from, the next row would begin: stay on this one.
        cell = x_offset if section == last else min(x_offset, layout.width - 1)
        return start + layout.column(cell)

    def get_offsets(self, line_index: int) -> list[int]:
        return list(self._cuts(line_index)) if self.width else []

    def get_sections(self, line_index: int) -> list[str]:
        cuts = [0, *self.get_offsets(line_index), len(self.document[line_index])]
        return [self.document[line_index][a:b] for a, b in pairwise(cuts)]


def _widest_possible(line: str) -> int:
    """A number of cells that a line cannot exceed, found without measuring it."""
    return len(line) + (TAB_SIZE - 1) * line.count("\t") if line.isascii() else TAB_SIZE * len(line)
