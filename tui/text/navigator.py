"""Navigator: the cursor goes from cluster to cluster, and from row to row as `Rows` lays them out."""

from textual.document._document import Location
from textual.document._document_navigator import DocumentNavigator
from textual.geometry import Offset

from tui.text.glyphs import CLUSTER, compiled
from tui.text.screen_rows import Rows

_REACH = 64
"""Characters looked at on either side of the cursor; a longer cluster is walked through in parts."""
_WORD = r"\w+|[^\w\s]+"
_WORD_REACH = 2_000


class Navigator(DocumentNavigator):
    """Where the cursor goes. Nothing here looks at more of a line than the stretch around the cursor."""

    _wrapped_document: Rows

    def get_location_left(self, location: Location) -> Location:
        """The beginning of the cluster before, or the end of the line above."""
        row, column = location
        if column == 0:
            return (row - 1, len(self._document[row - 1])) if row else (0, 0)
        start = max(column - _REACH, 0)
        *_, last = compiled(CLUSTER).findall(self._document[row][start:column])
        return row, column - len(last)

    def get_location_right(self, location: Location) -> Location:
        """Behind the cluster at the cursor, or the beginning of the line below."""
        row, column = location
        cluster = compiled(CLUSTER).match(self._document[row][column : column + _REACH])
        if cluster:
            return row, column + len(cluster.group())
        return location if self.is_last_document_line(location) else (row + 1, 0)

    def get_location_above(self, location: Location) -> Location:
        """The place a row higher, as far right as the cursor last went by itself; on the first row, its beginning."""
        return self._vertically(location, -1)

    def get_location_below(self, location: Location) -> Location:
        """The place a row lower, as far right as the cursor last went by itself; on the last row, its end."""
        return self._vertically(location, 1)

    def _vertically(self, location: Location, rows: int) -> Location:
        x, y = self._wrapped_document.location_to_offset(location)
        rows *= self._wrapped_document.n_lanes
        if y + rows < 0:
            return 0, 0
        if y + rows >= self._wrapped_document.height:
            return self._document.end
        return self._wrapped_document.offset_to_location(Offset(max(x, self.last_x_offset), y + rows))

    def get_word_left(self, location: Location) -> Location:
        """The beginning of the word before, or the end of the line above."""
        row, column = location
        if column == 0:
            return self.get_location_left(location)
        start = max(column - _WORD_REACH, 0)
        words = [match.start() for match in compiled(_WORD).finditer(self._document[row][start:column])]
        return row, start + (words[-1] if words else 0)

    def get_word_right(self, location: Location) -> Location:
        """Behind the word at the cursor or after it, or the beginning of the line below."""
        row, column = location
        line = self._document[row]
        if column == len(line):
            return self.get_location_right(location)
        stop = min(column + _WORD_REACH, len(line))
        word = compiled(_WORD).search(line, column, stop)
        return row, word.end() if word else stop

    def get_location_end(self, location: Location) -> Location:
        """The end of the line, or the last cluster of a row that the line goes on from."""
        row, column = location
        further = [cut for cut in self._wrapped_document.get_offsets(row) if cut > column]
        return self.get_location_left((row, further[0])) if further else (row, len(self._document[row]))
