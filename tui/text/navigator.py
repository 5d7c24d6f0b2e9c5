"""The movement of the cursor by characters, words and rows."""

from typing import Final

from textual.document._document import Location
from textual.document._document_navigator import DocumentNavigator
from textual.geometry import Offset

from tui.text.clusters import CLUSTER, compiled
from tui.text.rows import Rows

_REACH: Final = 64
"""Characters examined next to the cursor; a longer cluster is crossed in several steps."""
_WORD: Final = r"\w+|[^\w\s]+"
_WORD_REACH: Final = 2_000
"""Characters in which the next word is searched."""


class Navigator(DocumentNavigator):
    """Moves the cursor, and examines only the stretch of the line around it."""

    _wrapped_document: Rows

    def get_location_left(self, location: Location) -> Location:
        row, column = location
        if column == 0:
            if row == 0:
                return 0, 0
            return row - 1, len(self._document[row - 1])
        start = max(column - _REACH, 0)
        clusters = compiled(CLUSTER).findall(self._document[row][start:column])
        return row, column - len(clusters[-1])

    def get_location_right(self, location: Location) -> Location:
        row, column = location
        cluster = compiled(CLUSTER).match(self._document[row][column : column + _REACH])
        if cluster:
            return row, column + len(cluster.group())
        if self.is_last_document_line(location):
            return location
        return row + 1, 0

    def get_location_above(self, location: Location, rows: int = -1) -> Location:
        document = self._wrapped_document
        x, y = document.location_to_offset(location)
        y += rows * document.n_lanes
        if 0 <= y < document.height:
            return document.offset_to_location(Offset(max(x, self.last_x_offset), y))
        if y < 0:
            return 0, 0
        return self._document.end

    def get_location_below(self, location: Location) -> Location:
        return self.get_location_above(location, 1)

    def get_word_left(self, location: Location) -> Location:
        row, column = location
        if column == 0:
            return self.get_location_left(location)
        start = max(column - _WORD_REACH, 0)
        words = list(compiled(_WORD).finditer(self._document[row][start:column]))
        if not words:
            return row, start
        return row, start + words[-1].start()

    def get_word_right(self, location: Location) -> Location:
        row, column = location
        line = self._document[row]
        if column >= len(line):
            return self.get_location_right(location)
        stop = min(column + _WORD_REACH, len(line))
        word = compiled(_WORD).search(line, column, stop)
        return row, word.end() if word else stop

    def get_location_end(self, location: Location) -> Location:
        row, column = location
        for row_end in self._wrapped_document.get_offsets(row):
            if row_end > column:
                return self.get_location_left((row, row_end))
        return row, len(self._document[row])
