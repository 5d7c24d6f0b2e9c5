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
from typing import NamedTuple

from textual.document._document import Location
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from tui.text.document import LONG_LINE, FaithfulDocument
from tui.text.glyphs import TAB_SIZE, Layout, border, lay_out, measure, narrow, wrap
from tui.text.prefix_sums import PrefixSums

CHUNK = 512  # characters between two marks on the ruler


class Ruler:
    """Marks every few hundred characters along a line: at which column, at which cell.

    The marks are set from the left as far as they are needed, so the first character of a line of a million costs
    nothing; a line of plain ASCII needs none at all.
    """

    def __init__(self, line: str, tab_size: int) -> None:
        self.line = line
        self._tab_size = tab_size
        self._narrow = narrow(line)
        self._columns = [0]
        self._cells = [0]

    def with_line(self, line: str, column: int) -> "Ruler":
        """The ruler of a line that is the same up to `column`; the marks before it are kept."""
        ruler = Ruler(line, self._tab_size)
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
        mark = self._mark_before(self._columns, column)
        return self._cells[mark] + self._chunk(mark).cell(column - self._columns[mark])

    def column(self, cell: int) -> int:
        """The column of the character that covers a cell; the line's length beyond its end."""
        if self._narrow:
            return min(max(cell, 0), len(self.line))
        while self._cells[-1] <= cell and self._columns[-1] < len(self.line):
            self._mark()
        mark = self._mark_before(self._cells, cell)
        return self._columns[mark] + self._chunk(mark).column(cell - self._cells[mark])

    def window(self, cell: int, width: int) -> tuple[int, str, int]:
        """(column, text, cell) of a stretch that begins at a mark and covers `width` cells from `cell`."""
        if len(self.line) <= CHUNK:
            return 0, self.line, 0
        if self._narrow:
            start = min(cell, len(self.line))
            return start, self.line[start : cell + width], start
        first = self.column(cell)
        last = self.column(cell + width)
        mark = self._mark_before(self._columns, first)
        end = bisect_right(self._columns, last)
        stop = self._columns[end] if end < len(self._columns) else len(self.line)
        return self._columns[mark], self.line[self._columns[mark] : stop], self._cells[mark]

    def _mark_before(self, marks: list[int], value: int) -> int:
        return max(bisect_right(marks, value) - 1, 0)

    def _mark(self) -> None:
        start, cell = self._columns[-1], self._cells[-1]
        end = border(self.line, start + CHUNK)
        self._columns.append(end)
        self._cells.append(cell + measure(self.line[start:end], self._tab_size, cell % self._tab_size))

    def _chunk(self, mark: int) -> Layout:
        start = self._columns[mark]
        end = self._columns[mark + 1] if mark + 1 < len(self._columns) else border(self.line, start + CHUNK)
        return lay_out(self.line[start:end], self._tab_size, self._cells[mark] % self._tab_size)


_AT_ONCE = 200_000  # characters that are wrapped at once; of more, only what is looked at
_NEAR = 150
"""Lines on either side of the cursor that have their own height, so that the rows around it stay where they are."""


class RowStretch(NamedTuple):
    """The stretch of a line that stands on one row, or the part of it that is in view."""

    line: int
    section: int  # 0 for the row on which the line begins
    start: int  # the column of the line at which the stretch begins
    text: str  # the stretch
    cell: int  # the cell of the row at which the stretch begins; more than 0 only in a long line that is not wrapped
    ends_line: bool
    lane: int = 0  # the lane that is drawn here; 0 is the first


class Rows(WrappedDocument):
    """A document as rows of at most `width` cells, or one row a line when the width is 0."""

    document: FaithfulDocument

    def __init__(self, document: FaithfulDocument, width: int = 0, tab_width: int = TAB_SIZE) -> None:
        self._asked = width
        self._breaks: list[tuple[int, ...] | None] = []
        self._heights = PrefixSums()
        self._rulers: dict[int, Ruler] = {}
        self._widest = 0
        self.n_lanes = 1  # screen rows for each row of the text, one below the other
        super().__init__(document, width, tab_width)

    @property
    def width(self) -> int:
        """The width the text is wrapped at, in cells; 0 when it is not, which very long lines forbid."""
        return self._width

    @property
    def tab_size(self) -> int:
        return self._tab_width

    @property
    def height(self) -> int:
        return self.n_lanes * (self._heights.total if self._width else self.document.line_count)

    @property
    def widest(self) -> int:
        """Cells of the widest line, in a big text at least that; the width when the text is wrapped."""
        return self._width or self._widest

    @property
    def wrapped(self) -> bool:
        return bool(self._width) and self._heights.total > self.document.line_count

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._asked = width
        width = self._width = 0 if self.document.n_long_lines else width
        self._tab_width = tab_width or self._tab_width
        self._rulers.clear()
        lines = self.document.lines
        self._widest = 0
        self._breaks, heights = self._wrap_lines(lines) if width else ([], [])
        self._heights = PrefixSums(heights)
        if not width:
            self._note_widths(lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        if self._asked and bool(self._width) == bool(self.document.n_long_lines):
            self.wrap(self._asked)
            return
        top = min(start[0], old_end[0])
        bottom = max(start[0], new_end[0])
        lines = self.document.lines[top : bottom + 1]
        self._rulers = {row: ruler for row, ruler in self._rulers.items() if row <= top}
        if top in self._rulers:
            self._rulers[top] = self._rulers[top].with_line(self.document[top], min(start, old_end)[1])
        if not self._width:
            if self.document.n_characters <= _AT_ONCE:
                self._widest = 0
                self._note_widths(self.document.lines)
            elif start[0] == old_end[0] == new_end[0] and len(lines[0]) > LONG_LINE:
                # Of a line of a million characters, measure what is new: it has grown by no more than that.
                self._widest += measure(lines[0][min(start, old_end)[1] : new_end[1]], self._tab_width)
            else:
                self._note_widths(lines)
            return
        old_bottom = min(max(start[0], old_end[0]), len(self._breaks) - 1)
        self._breaks[top : old_bottom + 1], heights = self._wrap_lines(lines)
        self._heights.replace(top, old_bottom + 1, heights)

    def _wrap_lines(self, lines: list[str]) -> tuple[list[tuple[int, ...] | None], list[int]]:
        """(where each line breaks, its height); None and a guess for the lines of a big text."""
        width = self._width
        if sum(map(len, lines)) > _AT_ONCE:
            heights = {n: -(-n // width) or 1 for n in set(map(len, lines))}
            return [None] * len(lines), list(map(heights.__getitem__, map(len, lines)))
        breaks = list(map(self._wrap_line, lines))
        return [*breaks], [len(cuts) + 1 for cuts in breaks]

    def _wrap_line(self, line: str) -> tuple[int, ...]:
        width, tab_size = self._width, self._tab_width
        fits = len(line) <= width and _widest_possible(line, tab_size) <= width
        return () if fits else wrap(line, width, tab_size)

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
        tab_size = self._tab_width
        for line in (max(lines, key=len, default=""), *lines):
            if _widest_possible(line, tab_size) > self._widest:
                self._widest = max(self._widest, measure(line, tab_size))

    def ruler(self, line: int) -> Ruler:
        ruler = self._rulers.get(line)
        if ruler is None:
            ruler = self._rulers[line] = Ruler(self.document[line], self._tab_width)
            if len(self._rulers) > 512:
                del self._rulers[next(iter(self._rulers))]
        return ruler

    def place(self, y: int, x: int = 0, width: int = 0) -> RowStretch | None:
        """What stands on row `y`, None below the text; of a line that is not wrapped, `width` cells from `x` on."""
        if not 0 <= y < self.height:
            return None
        y, lane = divmod(y, self.n_lanes)
        if not self._width:
            start, text, cell = self.ruler(y).window(x, width)
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
        if not self._width:
            return Offset(self.ruler(line).cell(column), line * self.n_lanes)
        first, last = max(line - _NEAR, 0), line + _NEAR
        if None in self._breaks[first:last]:
            for near in range(first, min(last, len(self._breaks))):
                self._cuts(near)
        section = bisect_right(self._cuts(line), column)
        start, end = self._bounds(line, section)
        layout = lay_out(self.document[line][start:end], self._tab_width)
        return Offset(layout.cell(column - start), (self._heights.start(line) + section) * self.n_lanes)

    def offset_to_location(self, offset: Offset) -> Location:
        x, y = max(offset[0], 0), min(max(offset[1], 0), self.height - 1) // self.n_lanes
        if not self._width:
            return y, self.ruler(y).column(x)
        line, section = self._find(y)
        return line, self.get_target_document_column(line, x, section)

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        if not self._width:
            return self.ruler(line_index).column(x_offset)
        last = len(self._cuts(line_index))
        section = y_offset if y_offset >= 0 else last + 1 + y_offset
        start, end = self._bounds(line_index, section)
        layout = lay_out(self.document[line_index][start:end], self._tab_width)
        # Past the end of a row that the line goes on from, the next row would begin: stay on this one.
        cell = x_offset if section == last else min(x_offset, layout.width - 1)
        return start + layout.column(cell)

    def get_offsets(self, line_index: int) -> list[int]:
        return list(self._cuts(line_index)) if self._width else []

    def get_sections(self, line_index: int) -> list[str]:
        cuts = [0, *self.get_offsets(line_index), len(self.document[line_index])]
        return [self.document[line_index][a:b] for a, b in pairwise(cuts)]

    def get_tab_widths(self, line_index: int) -> list[int]:
        # Nothing: tab stops are the business of `Layout`.
        return []

    @property
    def lines(self) -> list[list[str]]:
        return [self.get_sections(line) for line in range(self.document.line_count)]


def _widest_possible(line: str, tab_size: int) -> int:
    """A number of cells that a line cannot exceed, found without measuring it."""
    if line.isascii():
        return len(line) + (tab_size - 1) * line.count("\t")
    return max(2, tab_size) * len(line)
