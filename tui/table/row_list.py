"""RowList: a long list that draws only the rows on the screen.

The order of the shown rows is a list of indices, so sorting and filtering move no data.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.reactive import reactive, var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import visible
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import INK_CLASSES, fit, ink_of


class RowList(HasCommands, ScrollView, can_focus=True):
    """A fixed header, rows that scroll, and a fixed footer if there is room for it.

    A subclass draws each line as segments. The style of a row over its background is `base`.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {*INK_CLASSES, "ink--header", "ink--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Lists")
    FOLLOWS: ClassVar[bool] = False
    """Whether the list scrolls to new rows as they arrive, until the user moves up."""
    FOOTER: ClassVar[bool] = False
    """Whether `render_footer` draws a line."""

    cursor: var[int] = var(0, init=False)
    """The position of the cursor among the shown rows; it has no meaning without rows."""
    hint: var[str] = var("")
    """A sentence that describes the row under the cursor."""
    following: reactive[bool] = reactive(False, init=False)
    """Whether the list scrolls to new rows now."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.order: Sequence[int] = range(0)
        """The indices of the shown rows in the data; see `show_rows`."""
        self._noted_target = ""
        self._settled_rows = 0
        self._settled_page = 1
        self.set_reactive(RowList.following, self.FOLLOWS)

    # For a subclass to override

    def render_header(self, width: int) -> Iterable[Segment]:
        return ()

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        raise NotImplementedError

    def render_footer(self, width: int) -> Iterable[Segment]:
        return ()

    @property
    def empty(self) -> str:
        """The text shown in an empty list."""
        return ""

    def row_hint(self, row: int) -> str:
        """Describe row `row` of the data in a sentence, for users who do not know the columns yet."""
        return ""

    def row_highlighted(self, row: int) -> None:
        """React to the user moving the cursor to row `row` of the data."""

    def row_selected(self, row: int) -> None:
        """React to Enter or a double click on row `row` of the data."""

    @property
    def target(self) -> str:
        """What Enter shows for the row under the cursor, in a word; "" if nothing."""
        return "" if self.current is None else "row"

    def header_clicked(self, x: int) -> None: ...

    def footer_clicked(self, x: int) -> None: ...

    # Rows

    @property
    def row_count(self) -> int:
        return len(self.order)

    @property
    def current(self) -> int | None:
        """The index in the data of the row under the cursor."""
        if 0 <= self.cursor < len(self.order):
            return self.order[self.cursor]
        return None

    def show_rows(self, order: Sequence[int]) -> None:
        """Show these rows in this order, with the cursor on the same row if it is still shown."""
        row = self.current
        self.order = order
        self._settled_rows = min(self._settled_rows, len(order))
        if self.current != row or row is None:
            if row is not None and row in order:
                self.cursor = order.index(row)
            else:
                self.cursor = max(0, min(self.cursor, len(order) - 1))
        self.watch_cursor()
        self._settle()

    def _settle(self) -> None:
        """Adapt the scrollbar and the cursor to the number of rows and the size of the list."""
        size = Size(self.row_width, self.row_count + 1 + self._has_footer)
        if size != self.virtual_size:
            # An assignment would lay out the whole screen again for each batch of rows.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        if self.following:
            if self.row_count > self._settled_rows:
                self.cursor = self.row_count - 1
            self.scroll_top(self.max_scroll_y)
        self._settled_rows = self.row_count
        self.refresh()

    def scroll_top(self, y: int) -> None:
        """Scroll so that position `y` is the first row."""
        self.scroll_target_y = y
        self.scroll_y = y

    def on_resize(self) -> None:
        """Keep the cursor in sight if it was before."""
        was_in_sight = 0 <= self.cursor - self.scroll_offset.y < self._settled_page
        self._settled_page = self.page_rows
        self._settle()
        if was_in_sight and not self.following:
            self._scroll_to_cursor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls up, and resume when they scroll down to the end."""
        super().watch_scroll_y(old_value, new_value)
        old = round(old_value)
        new = round(new_value)
        if self.FOLLOWS and old != new:
            # A list that has become higher or shorter may reach its end by moving up: the user did not.
            self.following = new >= self.max_scroll_y and (new > old or self.following)

    # The cursor

    def move_to(self, position: int, *, tell: bool = False) -> None:
        """Move the cursor to the row shown at `position`, and scroll to it.

        With `tell`, call `row_highlighted`, as if the user had moved the cursor.
        """
        if not self.row_count:
            return
        position = max(0, min(position, self.row_count - 1))
        self._refresh_row(self.cursor)
        self._refresh_row(position)
        self.cursor = position
        top = self.scroll_offset.y
        page = self.page_rows
        if top - page < position < top + 2 * page:
            self._scroll_to_cursor()
        else:
            # The row is far away: show it in the middle of its neighbors.
            self.scroll_top(position - page // 2)
        self.following = self.FOLLOWS and position == self.row_count - 1
        if tell:
            self.row_highlighted(self.order[position])

    def _scroll_to_cursor(self) -> None:
        """Scroll as little as needed to show the row under the cursor."""
        lowest_top = self.cursor - self.page_rows + 1
        self.scroll_top(min(self.cursor, max(self.scroll_offset.y, lowest_top)))

    def watch_cursor(self) -> None:
        row = self.current
        self.hint = "" if row is None else self.row_hint(row)
        self.note_target()

    def note_target(self) -> None:
        """Show the key of Enter if it does something now."""
        if self.target != self._noted_target:
            self._noted_target = self.target
            self.refresh_bindings()

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by, tell=True)

    def action_move_page(self, by: int) -> None:
        n_rows = max(1, self.page_rows - 1)
        self.move_to(self.cursor + by * n_rows, tell=True)

    def action_move_to_end(self, end: int) -> None:
        self.move_to((self.row_count - 1) * end, tell=True)

    def action_select(self) -> None:
        row = self.current
        if row is not None:
            self.row_selected(row)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            self.header_clicked(offset.x)
            return
        if self._has_footer and offset.y == self.size.height - 1:
            self.footer_clicked(offset.x)
            return
        position = self.scroll_offset.y + offset.y - 1
        if position < self.row_count:
            self.move_to(position, tell=True)
            if event.chain == 2:
                self.action_select()

    # Drawing

    def style_of(self, name: str, base: Style | None = None) -> Style:
        """Return the theme's style for a part of the list; with `base`, over the background of `base`."""
        style = ink_of(self, name)
        return style if base is None else _over(style, base)

    def _refresh_row(self, position: int) -> None:
        y = position - self.scroll_offset.y
        if 0 <= y < self.page_rows:
            self.refresh(Region(0, 1 + y, self.row_width, 1))

    @property
    def row_width(self) -> int:
        return self.scrollable_content_region.width

    @property
    def page_rows(self) -> int:
        return max(1, self.size.height - 1 - self._has_footer)

    @property
    def _has_footer(self) -> bool:
        return self.FOOTER and self.size.height >= 6

    def render_line(self, y: int) -> Strip:
        width = self.row_width
        base = self.style_of("text")
        position = self.scroll_offset.y + y - 1
        segments: Iterable[Segment] = ()
        if y == 0:
            segments = self.render_header(width)
        elif y == self.size.height - 1 and self._has_footer:
            segments = self.render_footer(width)
        elif position < self.row_count:
            if position == self.cursor:
                base = self.style_of("cursor")
            segments = self.render_row(self.order[position], width, base)
        elif y == 1 and not self.row_count:
            sentence = fit(f" {self.empty}", width)
            segments = [Segment(sentence, self.style_of("muted"))]
        safe_segments = [_without_controls(segment) for segment in segments]
        return Strip(safe_segments).adjust_cell_length(width, base)


def _without_controls(segment: Segment) -> Segment:
    """Return a segment without characters that would control the terminal."""
    if segment.text.isprintable():
        return segment
    return Segment(visible(segment.text), segment.style)


@lru_cache(maxsize=256)
def _over(style: Style, base: Style) -> Style:
    return base + Style(color=style.color, bold=style.bold, dim=style.dim)
