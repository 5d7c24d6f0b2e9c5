"""RowList: a long list drawn row by row, so that 200,000 rows cost no more than the thirty on the screen.

Which rows are shown in which order is a list of indices, so that sorting and filtering move no data.
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
    """A header that stays, rows that scroll, a footer that stays when there is room for it.

    A subclass draws its lines as segments, of which a row has the style `base` behind it.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {*INK_CLASSES, "ink--header", "ink--cursor"}
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Lists")
    FOLLOWS: ClassVar[bool] = (
        False  # whether the view stays at the tail while rows arrive, until the user moves up
    )
    FOOTER: ClassVar[bool] = False  # whether `render_footer` has a line to say

    cursor: var[int] = var(
        0, init=False
    )  # its position among the rows shown; meaningless while there are none
    hint: var[str] = var("")  # what the row under the cursor tells, in a sentence
    following: reactive[bool] = reactive(
        False, init=False
    )  # whether the tail is being followed now

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.order: Sequence[int] = range(
            0
        )  # which rows of the data are shown, in their order; see `show_rows`
        self._settled_rows = 0
        self._settled_page = 1
        self.set_reactive(RowList.following, self.FOLLOWS)

    # What a subclass says and does

    def render_header(self, width: int) -> Iterable[Segment]:
        return ()

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        raise NotImplementedError

    def render_footer(self, width: int) -> Iterable[Segment]:
        return ()

    @property
    def empty(self) -> str:
        """What stands where there is no row."""
        return ""

    def row_hint(self, row: int) -> str:
        """Row `row` of the data in a sentence, for who does not know the columns yet."""
        return ""

    def row_highlighted(self, row: int) -> None:
        """The user moved the cursor onto row `row` of the data."""

    def row_selected(self, row: int) -> None:
        """The user pressed Enter on row `row` of the data, or clicked it twice."""

    def header_clicked(self, x: int) -> None: ...

    def footer_clicked(self, x: int) -> None: ...

    # Rows

    @property
    def row_count(self) -> int:
        return len(self.order)

    @property
    def current(self) -> int | None:
        """Index in the data of the row under the cursor."""
        return self.order[self.cursor] if 0 <= self.cursor < len(self.order) else None

    def show_rows(self, order: Sequence[int]) -> None:
        """Show these rows in this order; the cursor stays on its row where that is still shown."""
        row = self.current
        self.order = order
        self._settled_rows = min(self._settled_rows, len(order))
        if self.current != row or row is None:
            found = row is not None and row in order
            self.cursor = (
                order.index(row) if found else max(0, min(self.cursor, len(order) - 1))
            )
        self.watch_cursor()
        self._settle()

    def _settle(self) -> None:
        """Make scrollbar and cursor agree with the rows, which may be more than before, and with the size."""
        size = Size(self.row_width, self.row_count + 1 + self._has_footer)
        if size != self.virtual_size:
            # Not by assignment: that would lay out the whole screen again for every batch.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        if self.following:
            if self.row_count > self._settled_rows:
                self.cursor = self.row_count - 1
            self.scroll_top(self.max_scroll_y)
        self._settled_rows = self.row_count
        self.refresh()

    def scroll_top(self, y: int) -> None:
        """Let the rows begin at position `y`."""
        self.scroll_target_y = y
        self.scroll_y = y

    def on_resize(self) -> None:
        # A new height moves the tail, and hides no row that the cursor is seen on; a new width moves the columns.
        was_seen = 0 <= self.cursor - self.scroll_offset.y < self._settled_page
        self._settled_page = self.page_rows
        self._settle()
        if was_seen and not self.following:
            self._scroll_to_cursor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        # Scrolling away from the tail ends the following; coming down to it resumes.
        super().watch_scroll_y(old_value, new_value)
        old, new = round(old_value), round(new_value)
        if self.FOLLOWS and old != new:
            # Upwards, a list that has got higher or shorter may be at its tail, too: nobody has gone there.
            self.following = new >= self.max_scroll_y and (new > old or self.following)

    # The cursor

    def move_to(self, position: int, *, tell: bool = False) -> None:
        """Put the cursor on the row shown at `position`, in sight; `tell`: as if the user had moved it there."""
        if not self.row_count:
            return
        position = max(0, min(position, self.row_count - 1))
        self._refresh_row(self.cursor)
        self._refresh_row(position)
        self.cursor = position
        top, page = self.scroll_offset.y, self.page_rows
        if top - page < position < top + 2 * page:
            self._scroll_to_cursor()
        else:  # a leap: show what stands around the row
            self.scroll_top(position - page // 2)
        self.following = self.FOLLOWS and position == self.row_count - 1
        if tell:
            self.row_highlighted(self.order[position])

    def _scroll_to_cursor(self) -> None:
        """As little as brings the row under the cursor into sight."""
        self.scroll_top(
            min(
                self.cursor, max(self.scroll_offset.y, self.cursor - self.page_rows + 1)
            )
        )

    def watch_cursor(self) -> None:
        self.hint = "" if (row := self.current) is None else self.row_hint(row)

    def action_move(self, by: int) -> None:
        self.move_to(self.cursor + by, tell=True)

    def action_move_page(self, by: int) -> None:
        self.move_to(self.cursor + by * max(1, self.page_rows - 1), tell=True)

    def action_move_to_end(self, end: int) -> None:
        self.move_to((self.row_count - 1) * end, tell=True)

    def action_select(self) -> None:
        if (row := self.current) is not None:
            self.row_selected(row)

    def on_click(self, event: events.Click) -> None:
        if (offset := event.get_content_offset(self)) is None:
            return
        if offset.y == 0:
            self.header_clicked(offset.x)
        elif self._has_footer and offset.y == self.size.height - 1:
            self.footer_clicked(offset.x)
        elif (position := self.scroll_offset.y + offset.y - 1) < self.row_count:
            self.move_to(position, tell=True)
            if event.chain == 2:
                self.action_select()

    # Drawing

    def style_of(self, name: str, base: Style | None = None) -> Style:
        """The theme's style for a part of the list; with `base`, its color over that background."""
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
        width, base = self.row_width, self.style_of("text")
        position = self.scroll_offset.y + y - 1
        segments: Iterable[Segment] = ()
        if y == 0:
            segments = self.render_header(width)
        elif y == self.size.height - 1 and self._has_footer:
            segments = self.render_footer(width)
        elif position < self.row_count:
            base = self.style_of("cursor") if position == self.cursor else base
            segments = self.render_row(self.order[position], width, base)
        elif y == 1 and not self.row_count:
            segments = [Segment(fit(f" {self.empty}", width), self.style_of("muted"))]
        # Whatever a subclass drew: nothing that would act on the terminal passes here.
        safe = [
            one if one.text.isprintable() else Segment(visible(one.text), one.style)
            for one in segments
        ]
        return Strip(safe).adjust_cell_length(width, base)


@lru_cache(maxsize=256)
def _over(style: Style, base: Style) -> Style:
    return base + Style(color=style.color, bold=style.bold, dim=style.dim)
