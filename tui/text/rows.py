"""The rows of a document on a screen: wrapped lines, or very long lines that are not wrapped."""

from bisect import bisect_right
from collections.abc import Sequence
from math import ceil
from typing import Final, NamedTuple

from textual.document._document import Location
from textual.document._wrapped_document import WrappedDocument
from textual.geometry import Offset

from tui.text.clusters import (
    TAB_SIZE,
    Layout,
    border,
    lay_out,
    measure,
    widest_possible,
    wrap,
)
from tui.text.document import LONG_LINE, FaithfulDocument, PrefixSums

CHUNK: Final = 256
"""Characters between two marks of a ruler."""
_AT_ONCE: Final = 200_000
"""Characters that are wrapped at once; of a longer text only the visible lines are wrapped."""
_NEAR: Final = 150
"""Lines before and after the cursor that are wrapped, so that the rows around it do not move."""


class Ruler:
    """Converts between columns and cells of a long line, by marks every few hundred characters.

    Marks are set from the left as far as needed, so that the start of a very long line costs nothing.
    """

    def __init__(
        self, line: str, columns: Sequence[int] = (0,), cells: Sequence[int] = (0,)
    ) -> None:
        self.line = line
        self._columns = list(columns)
        self._cells = list(cells)

    def with_line(self, line: str, column: int) -> "Ruler":
        """Return the ruler for a changed line, and keep the marks before `column`."""
        # A cluster near the change can be a different one: keep only marks well before it.
        keep = max(bisect_right(self._columns, column - 64), 1)
        return Ruler(line, self._columns[:keep], self._cells[:keep])

    def cell(self, column: int) -> int:
        """Return the cell where the character at `column` is drawn."""
        mark = self._mark(self._columns, column)
        return self._cells[mark] + self._chunk(mark).cell(column - self._columns[mark])

    def column(self, cell: int) -> int:
        """Return the column of the character that covers a cell, or the length of the line."""
        mark = self._mark(self._cells, max(cell, 0))
        return self._columns[mark] + self._chunk(mark).column(cell - self._cells[mark])

    def window(self, cell: int, width: int) -> "LineWindow":
        """Return a stretch that starts at a mark and covers `width` cells from `cell`."""
        first = self._mark(self._cells, cell)
        last = self._mark(self._cells, cell + width)
        column = self._columns[first]
        return LineWindow(
            column, self.line[column : self._end(last)], self._cells[first]
        )

    def _mark(self, places: list[int], place: int) -> int:
        """Return the last mark at or before a place, in `places`: the columns or the cells of marks.

        If necessary, a mark after the place is added.
        """
        while places[-1] <= place and self._columns[-1] < len(self.line):
            start = self._columns[-1]
            cell = self._cells[-1]
            end = border(self.line, start + CHUNK)
            self._columns.append(end)
            self._cells.append(cell + measure(self.line[start:end], cell % TAB_SIZE))
        return bisect_right(places, place) - 1

    def _end(self, mark: int) -> int:
        if mark + 1 < len(self._columns):
            return self._columns[mark + 1]
        return len(self.line)

    def _chunk(self, mark: int) -> Layout:
        text = self.line[self._columns[mark] : self._end(mark)]
        return lay_out(text, self._cells[mark] % TAB_SIZE)


class LineWindow(NamedTuple):
    """A visible stretch of a long line."""

    column: int
    text: str
    cell: int


class RowStretch(NamedTuple):
    """The stretch of a line on one row, or the visible part of it."""

    line: int
    start: int
    """The column of the line where the stretch starts."""
    text: str
    cell: int
    """The cell of the row where the stretch starts; above 0 only in a long line that is not wrapped."""
    ends_line: bool
    lane: int = 0
    """The index of the lane, from 0."""


class _WrappedLines(NamedTuple):
    breaks: list[list[int] | None]
    heights: list[int]


class Rows(WrappedDocument):
    """A document in rows of at most `width` cells, or one row per line if the width is 0; repeated for each lane.

    Textual's class counts cells differently from how this app draws them (control characters, clusters, tab stops),
    adds up all lines for the height, and copies whole lines. This class does not wrap a big text at once: a line has
    an estimated height until it, or the cursor near it, is visible.
    """

    document: FaithfulDocument

    def __init__(self, document: FaithfulDocument, width: int = 0) -> None:
        self.n_lanes = 1
        """Screen rows for each row of the text."""
        # This calls `wrap`.
        super().__init__(document, width)

    @property
    def height(self) -> int:
        if self.width:
            return self.n_lanes * self._heights.total
        return self.n_lanes * self.document.line_count

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        self._asked = width
        self.width = 0 if self.document.n_long_lines else width
        """The cells of a row; 0 if the text is not wrapped, as with very long lines."""
        self._rulers: dict[int, Ruler] = {}
        self.widest = self.width
        """The cells of the widest line, or a little more after an edit."""
        lines = self.document.lines
        self._breaks: list[list[int] | None] = []
        """The columns where each line is wrapped; None until it is visible."""
        self._heights = PrefixSums()
        if self.width:
            wrapped = self._wrap_lines(lines)
            self._breaks = wrapped.breaks
            self._heights = PrefixSums(wrapped.heights)
        else:
            self._note_widths(lines)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wrap the lines that an edit changed.

        The text from `start` to `old_end` was replaced by the text that now ends at `new_end`. As in Textual, the
        locations can be in any order.
        """
        is_wrapped = self.width > 0
        has_long_line = self.document.n_long_lines > 0
        if self._asked and is_wrapped == has_long_line:
            # The first very long line was added, or the last one was removed.
            self.wrap(self._asked)
            return
        top, column = min(start, old_end)
        old_bottom, _ = max(start, old_end)
        bottom, _ = max(start, new_end)
        lines = self.document.lines[top : bottom + 1]
        self._rulers = {row: ruler for row, ruler in self._rulers.items() if row <= top}
        if top in self._rulers:
            self._rulers[top] = self._rulers[top].with_line(self.document[top], column)
        if is_wrapped:
            stop = min(old_bottom + 1, len(self._breaks))
            wrapped = self._wrap_lines(lines)
            self._breaks[top:stop] = wrapped.breaks
            self._heights.replace(top, stop, wrapped.heights)
        elif top == old_bottom == bottom and len(lines[0]) > LONG_LINE:
            # Measure only the new text of a very long line: the line has grown by no more than that.
            self.widest += measure(lines[0][column : new_end[1]])
        else:
            self._note_widths(lines)

    def _wrap_lines(self, lines: list[str]) -> "_WrappedLines":
        """Wrap lines; for the lines of a big text, only estimate their heights."""
        if sum(map(len, lines)) > _AT_ONCE:
            heights = [ceil(len(line) / self.width) or 1 for line in lines]
            return _WrappedLines([None] * len(lines), heights)
        breaks: list[list[int] | None] = []
        heights = []
        for line in lines:
            columns = wrap(line, self.width)
            breaks.append(columns)
            heights.append(len(columns) + 1)
        return _WrappedLines(breaks, heights)

    def get_offsets(self, line_index: int) -> list[int]:
        """Return the columns at which a line continues on another row."""
        if not self.width:
            return []
        breaks = self._breaks[line_index]
        if breaks is None:
            breaks = wrap(self.document[line_index], self.width)
            self._breaks[line_index] = breaks
            if self._heights[line_index] != len(breaks) + 1:
                self._heights.replace(line_index, line_index + 1, [len(breaks) + 1])
        return breaks

    def _row(self, line: int, section: int) -> tuple[int, str]:
        """Return the first column and the text of a row of a line; `section` counts its rows from 0."""
        cuts = [0, *self.get_offsets(line), len(self.document[line])]
        return cuts[section], self.document[line][cuts[section] : cuts[section + 1]]

    def _note_widths(self, lines: list[str]) -> None:
        """Update `widest`. The longest line is measured first, which saves measuring most others."""
        for line in (max(lines, key=len, default=""), *lines):
            if widest_possible(line) > self.widest:
                self.widest = max(self.widest, measure(line))

    def _ruler(self, line: int) -> Ruler:
        if line not in self._rulers:
            self._rulers[line] = Ruler(self.document[line])
        return self._rulers[line]

    def place(self, y: int, x: int = 0, width: int = 0) -> RowStretch | None:
        """Return the stretch on row `y`, None below the text.

        If lines are not wrapped, the stretch covers `width` cells from `x` on.
        """
        if not 0 <= y < self.height:
            return None
        y, lane = divmod(y, self.n_lanes)
        if not self.width:
            start, text, cell = self._ruler(y).window(x, width)
            ends_line = start + len(text) == len(self.document[y])
            return RowStretch(y, start, text, cell, ends_line, lane)
        line, top = self._heights.find(y)
        while self._breaks[line] is None:
            # The height was an estimate: wrap the line and look again.
            self.get_offsets(line)
            line, top = self._heights.find(y)
        start, text = self._row(line, min(y, self._heights.total) - top)
        ends_line = start + len(text) == len(self.document[line])
        return RowStretch(line, start, text, 0, ends_line, lane)

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
        # The end of a wrapped row is also the start of the next one: stay on this row.
        cell = x
        if not place.ends_line:
            cell = min(x, layout.width - 1)
        return place.line, place.start + layout.column(cell)
