"""Ruler: from column to cell and back along one line of any length, laying out only what is asked for."""

from bisect import bisect_right

from tui.text.glyphs import Layout, border, lay_out, measure, narrow

CHUNK = 512
"""Characters between two marks on the ruler."""


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
