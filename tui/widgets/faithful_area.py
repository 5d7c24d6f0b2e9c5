"""FaithfulArea: Textual's text area over a document that keeps every character, at any size.

It replaces three parts of a `TextArea` (the document, its rows, the cursor's ways) where the area puts them in, and
the few methods that would walk the whole text at each key.
"""

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import Location, Selection
from textual.document._document_navigator import DocumentNavigator
from textual.geometry import Offset, Region, Size, Spacing
from textual.reactive import reactive
from textual.strip import Strip
from textual.widgets import TextArea

from tui.text.document import FaithfulDocument, Rows, RowStretch
from tui.text.strips import CLUSTER, compiled

_REACH = 64  # characters looked at on either side of the cursor; a longer cluster is walked through in parts
_WORD = r"\w+|[^\w\s]+"
_WORD_REACH = 2_000


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
        words = [match.start() for match in compiled(_WORD).finditer(self._document[row][start:column])]
        return (row, start + (words[-1] if words else 0)) if column else self.get_location_left(location)

    def get_word_right(self, location: Location) -> Location:
        row, column = location
        line = self._document[row]
        stop = min(column + _WORD_REACH, len(line))
        word = compiled(_WORD).search(line, column, stop)
        return (row, word.end() if word else stop) if column < len(line) else self.get_location_right(location)

    def get_location_end(self, location: Location) -> Location:
        row, column = location
        further = [cut for cut in self._wrapped_document.get_offsets(row) if cut > column]
        return self.get_location_left((row, further[0])) if further else (row, len(self._document[row]))


class FaithfulArea(TextArea, inherit_bindings=False):
    """A text area that gives back what was put in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The function keys belong to the app; everything else is as in every text area.
        *(binding for binding in TextArea.BINDINGS if isinstance(binding, Binding) and binding.key not in ("f6", "f7")),
        Binding("ctrl+shift+a,alt+a", "select_all", "Select all", show=False),
        Binding("ctrl+home", "cursor_text(False, False)", "Start of the text", show=False),
        Binding("ctrl+end", "cursor_text(True, False)", "End of the text", show=False),
        Binding("ctrl+shift+home", "cursor_text(False, True)", "Select to the start of the text", show=False),
        Binding("ctrl+shift+end", "cursor_text(True, True)", "Select to the end of the text", show=False),
    ]

    selection = reactive(Selection(), init=False, always_update=True, repaint=False)
    """As in `TextArea`, but that a moved cursor repaints only the rows that it changes."""

    document: FaithfulDocument
    wrapped_document: Rows
    navigator: Navigator

    _repainting = False
    _n_lanes = 1
    _labels: Sequence[str] = ()

    def new_document(self, text: str) -> FaithfulDocument:
        return FaithfulDocument(text)

    def _set_document(self, text: str, language: str | None) -> None:
        self.document = self.new_document(text)
        self.wrapped_document = Rows(self.document, self.wrap_width)
        self.wrapped_document.n_lanes = self._n_lanes
        self.navigator = Navigator(self.wrapped_document)
        self._shown: dict[int, Strip] = {}
        self.move_cursor((0, 0))
        self._refresh_size()
        self.refresh()  # `repaint` asks which rows have changed, and of this text none was drawn yet

    def set_lanes(self, n_lanes: int) -> None:
        """Draw each row of the text so many times, one below the other; what is at the top stays there."""
        scroll_y = self.scroll_offset.y // self._n_lanes * n_lanes
        if n_lanes != self._n_lanes:
            self._n_lanes = self.wrapped_document.n_lanes = n_lanes
            self._refresh_size()
            self.scroll_to(y=scroll_y, animate=False, force=True)
            self.call_after_refresh(self.scroll_cursor_visible)
            self.refresh()

    def set_labels(self, labels: Sequence[str]) -> None:
        """Write one of these before each row of a lane, all as wide as the widest of them."""
        if labels != self._labels:
            before, self._labels = self.gutter_width, labels
            if self.gutter_width != before:
                self._rewrap_and_refresh_virtual_size()
            self.refresh()

    @property
    def gutter_width(self) -> int:
        return max(map(cell_len, self._labels), default=0)

    def _refresh_size(self) -> None:
        rows, width = self.wrapped_document, 0
        if not rows.width:
            # One cell more than the widest line, for the cursor to rest behind it; and rounded up by some percent,
            # for each change of the width makes Textual lay out and draw everything again.
            width = rows.widest + self.gutter_width + 1
            step = 1 << max(width.bit_length() - 6, 0)
            width = -(-width // step) * step
        self.virtual_size = Size(width, rows.height)
        self._refresh_scrollbars()

    def _on_resize(self) -> None:
        super()._on_resize()
        if self.has_focus:  # in a narrower terminal a text is longer, and its end elsewhere
            self.call_after_refresh(self.scroll_cursor_visible)

    def _recompute_cursor_offset(self) -> None:
        super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
        self._update_height()

    def _update_height(self) -> None:
        """A big text is wrapped where one looks; that may have made it higher or lower than it was thought to be."""
        if self.wrapped_document.height != self.virtual_size.height:
            self._refresh_size()

    def render_line(self, y: int) -> Strip:
        strip = self._shown[y] = self.draw_row(y)
        return strip

    def draw_row(self, y: int) -> Strip:
        """Draw row `y` of the area. A row that looks as before should be the same `Strip` as before."""
        return super().render_line(y)

    def repaint(self) -> None:
        """Soon, send those rows to the terminal that do not look as they did when they were sent last."""
        if not self._repainting and self.is_running:
            self._repainting = True
            self.call_later(self._repaint)

    def _repaint(self) -> None:
        self._repainting = False
        shown, scroll_y = self._shown, self.scroll_offset.y
        for y in range(self.size.height):
            if y in shown and self.draw_row(y) is not shown[y]:
                self.refresh_lines(scroll_y + y)
        self._update_height()

    def gutter_text(self, place: RowStretch) -> str:
        """What stands before a row: the label of its lane."""
        label = self._labels[place.lane] if place.lane < len(self._labels) else ""
        return set_cell_size(label, self.gutter_width)

    def cursor_column(self, place: RowStretch) -> int | None:
        """The cursor's column on a row; None when it is elsewhere or not to be seen."""
        row, column = self.cursor_location
        if row != place.line or not self._draw_cursor:
            return None
        at = column - place.start
        return at if 0 <= at < len(place.text) + place.ends_line else None

    def _watch__cursor_visible(self) -> None:
        self.refresh_lines(self._cursor_offset[1], self._n_lanes)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        offset = super().scroll_cursor_visible(center, animate)
        if self._n_lanes > 1 and self._has_cursor:
            lanes = Region(*self._cursor_offset, 3, min(self._n_lanes, max(self.content_size.height, 1)))
            right = Spacing(right=self.gutter_width)
            offset += self.scroll_to_region(lanes, spacing=right, animate=animate, force=True)
        return offset

    def find_matching_bracket(self, bracket: str, search_from: Location) -> None:
        """None: brackets are not matched, and the search would walk through the whole text."""

    def get_cursor_word_left_location(self) -> Location:
        return self.navigator.get_word_left(self.cursor_location)

    def get_cursor_word_right_location(self) -> Location:
        return self.navigator.get_word_right(self.cursor_location)

    def action_cursor_text(self, end: bool, select: bool) -> None:
        self.move_cursor(self.document.end if end else (0, 0), select)

    def action_delete_left(self) -> None:
        start, end = self.selection
        if start == end:
            row, column = start
            end = (row, column - 1) if column else self.get_cursor_left_location()
        self._delete_via_keyboard(start, end)

    async def _on_key(self, event: events.Key) -> None:
        """Do what a key is bound to here and now, before the next one.

        Textual lets it rise to the app first: a letter typed right behind it would be in the text by then.
        A terminal sends the letter along with Alt and a letter, but that is a command and no text.
        """
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop().prevent_default()
                return
        if event.key.startswith("alt+"):
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send the line ends of a paste as carriage returns; a text wants them as newlines.
        event.stop().prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if text and (result := self._replace_via_keyboard(text, *self.selection)):
            self.move_cursor(result.end_location)
            self.focus()
