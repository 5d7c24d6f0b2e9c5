"""FaithfulArea: Textual's text area over a document that keeps every character, at any size.

Three parts of a `TextArea` are replaced (the document, its rows, the movements of the cursor), and the few methods
that would read the whole text at each key. Each row can be drawn in several lanes, with a label before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import ceil
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import Location
from textual.geometry import Offset, Region, Size, Spacing
from textual.widgets import TextArea

from tui.state import EditorPlace
from tui.text.document import FaithfulDocument
from tui.text.navigator import Navigator
from tui.text.rows import Rows, RowStretch
from tui.text.strips import Columns


class FaithfulArea(TextArea, inherit_bindings=False):
    """An editor that gives back exactly the text that was put in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The function keys belong to the app; all other keys are the usual ones of a text area.
        *(
            binding
            for binding in TextArea.BINDINGS
            if isinstance(binding, Binding) and binding.key not in ("f6", "f7")
        ),
        Binding("ctrl+shift+a,alt+a", "select_all", "Select all", show=False),
        Binding(
            "ctrl+home", "cursor_text(False, False)", "Start of the text", show=False
        ),
        Binding("ctrl+end", "cursor_text(True, False)", "End of the text", show=False),
        Binding(
            "ctrl+shift+home",
            "cursor_text(False, True)",
            "Select to the start of the text",
            show=False,
        ),
        Binding(
            "ctrl+shift+end",
            "cursor_text(True, True)",
            "Select to the end of the text",
            show=False,
        ),
    ]

    document: FaithfulDocument
    wrapped_document: Rows
    navigator: Navigator

    _n_lanes = 1
    _labels: Sequence[str] = ()
    _top = 0
    """The character that was last known to be the first in view."""
    _height = 0
    """The rows in view, before a resize that is being handled."""
    _place_to_show: EditorPlace | None = None
    """The place to scroll to once the area has a size."""

    @property
    def selected(self) -> Columns:
        """The start and the end of the selection, as characters; equal if nothing is selected."""
        start, end = self.selection
        first = self.document.get_index_from_location(start)
        last = self.document.get_index_from_location(end)
        return min(first, last), max(first, last)

    @property
    def in_view(self) -> Columns:
        """The start and the end of the lines in view, as characters."""
        rows = self.wrapped_document
        top = self.scroll_offset.y
        first = rows.offset_to_location(Offset(0, top))
        last_line, _ = rows.offset_to_location(Offset(0, top + self.size.height - 1))
        end = (last_line, len(self.document[last_line]))
        return (
            self.document.get_index_from_location(first),
            self.document.get_index_from_location(end),
        )

    @property
    def place(self) -> EditorPlace:
        """The cursor, and the part of the text in view."""
        cursor = self.document.get_index_from_location(self.cursor_location)
        if self._place_to_show is not None:
            return replace(self._place_to_show, cursor=cursor)
        rows = self.wrapped_document
        left, first_row = self.scroll_offset
        if self._row_of(self._top) != first_row - first_row % self._n_lanes:
            location = rows.offset_to_location(Offset(0, first_row))
            self._top = self.document.get_index_from_location(location)
        rows_above = self._row_of(cursor) - first_row
        return EditorPlace(cursor, self._top, left, 0 <= rows_above < self._height)

    def show_place(self, place: EditorPlace) -> None:
        """Move the cursor and scroll, as far as the text reaches."""
        self.move_to(place.cursor)
        self._scroll_to_place(place)

    def move_to(self, index: int, *, select: bool = False) -> None:
        """Move the cursor to a character of the text."""
        self.move_cursor(self.document.get_location_from_index(index), select)

    def _row_of(self, index: int) -> int:
        location = self.document.get_location_from_index(index)
        return self.wrapped_document.location_to_offset(location).y

    def _scroll_to_place(self, place: EditorPlace) -> None:
        if not self.size:
            self._place_to_show = place
            return
        self._place_to_show = None
        self._top = min(max(place.top, 0), self.document.n_characters)
        left = min(max(place.left, 0), self.virtual_size.width)
        top = self._row_of(self._top)
        self.scroll_to(left, top, animate=False, force=True, immediate=True)
        if place.is_cursor_in_view:
            # Textual defers this: at a smaller height the cursor may be below the last row.
            self.call_after_refresh(self.scroll_cursor_visible)

    @contextmanager
    def _keeping_place(self) -> Iterator[None]:
        """Keep the first character in view while rows change, and the cursor if it is in view."""
        place = self.place
        yield
        self._height = self.size.height
        self._scroll_to_place(place)

    def set_lanes(self, n_lanes: int) -> None:
        """Draw each row of the text `n_lanes` times."""
        if n_lanes == self._n_lanes:
            return
        with self._keeping_place():
            self._n_lanes = n_lanes
            self.wrapped_document.n_lanes = n_lanes
            self._refresh_size()
        self.refresh()

    def set_labels(self, labels: Sequence[str]) -> None:
        """Write the label of its lane before each row. All labels take the width of the widest."""
        if labels == self._labels:
            return
        old_width = self.gutter_width
        with self._keeping_place():
            self._labels = labels
            if self.gutter_width != old_width:
                self._rewrap_and_refresh_virtual_size()
        self.refresh()

    @property
    def gutter_width(self) -> int:
        return max(map(cell_len, self._labels), default=0)

    def _refresh_size(self) -> None:
        rows = self.wrapped_document
        width = 0
        if not rows.width:
            # Leave a cell after the widest line for the cursor. Round up by some percent, because
            # each change of the width makes Textual lay out and draw everything again.
            width = rows.widest + self.gutter_width + 1
            step = 1 << max(width.bit_length() - 6, 0)
            width = ceil(width / step) * step
        self.virtual_size = Size(width, rows.height)
        self._refresh_scrollbars()

    def _on_resize(self) -> None:
        with self._keeping_place():
            super()._on_resize()

    def _recompute_cursor_offset(self) -> None:
        super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
        self._update_height()

    def _update_height(self) -> None:
        """Correct the height. A big text is wrapped only in view, so its height is an estimate until then."""
        if self.wrapped_document.height != self.virtual_size.height:
            self._refresh_size()

    def cursor_column(self, place: RowStretch) -> int | None:
        """Return the cursor's column on a row; None if the cursor is elsewhere or not drawn."""
        row, column = self.cursor_location
        is_drawn = self.show_cursor and self._draw_cursor
        if row != place.line or not is_drawn:
            return None
        column -= place.start
        n_columns = len(place.text) + place.ends_line
        return column if 0 <= column < n_columns else None

    def _watch__cursor_visible(self) -> None:
        self.refresh_lines(self._cursor_offset[1], self._n_lanes)

    def scroll_cursor_visible(
        self, center: bool = False, animate: bool = False
    ) -> Offset:
        offset = super().scroll_cursor_visible(center, animate)
        if self._n_lanes > 1 and self._has_cursor:
            n_rows = min(self._n_lanes, max(self.content_size.height, 1))
            lanes = Region(*self._cursor_offset, 3, n_rows)
            right = Spacing(right=self.gutter_width)
            offset += self.scroll_to_region(
                lanes, spacing=right, animate=animate, force=True
            )
        return offset

    def find_matching_bracket(self, bracket: str, search_from: Location) -> None:
        """Do nothing: brackets are not matched, and the search would read the whole text."""

    def get_cursor_word_left_location(self) -> Location:
        return self.navigator.get_word_left(self.cursor_location)

    def get_cursor_word_right_location(self) -> Location:
        return self.navigator.get_word_right(self.cursor_location)

    def action_cursor_text(self, end: bool, select: bool) -> None:
        self.move_cursor(self.document.end if end else (0, 0), select)

    def action_delete_left(self) -> None:
        """Delete the selection, or one character before the cursor.

        Textual would delete all that the cursor crosses in one step, for example a letter with its accent.
        """
        start, end = self.selection
        if start == end:
            row, column = start
            end = (row, column - 1)
            if not column:
                end = self.get_cursor_left_location()
        self._delete_via_keyboard(start, end)

    async def _on_key(self, event: events.Key) -> None:
        """Run what a key is bound to at once, before the next key.

        Textual would pass it to the app first, and a letter typed after it would already be in the text.
        """
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop().prevent_default()
                return

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send the line ends of a paste as carriage returns, but in a text they are newlines.
        event.stop().prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if not text:
            return
        start, end = self.selection
        result = self._replace_via_keyboard(text, start, end)
        if result:
            # Textual would focus the area, too late: the user may have gone to another pane.
            self.move_cursor(result.end_location)
