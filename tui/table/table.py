"""Table: a list with columns, a header that sorts, a footer of choices, and a search."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.reactive import var

from tui.drawing.lines import fit
from tui.table.columns import (
    Cell,
    Choices,
    Column,
    PlacedColumn,
    StyledCell,
    choice_places,
    line,
    place_columns,
)
from tui.table.row_list import RowList
from tui.table.rows import Search, mapped, rows_in_order, sorted_in_steps
from tui.terminal.background import SlicedWork, Steps

_BOLD: Final = Style(bold=True)


def _no_style(token: int) -> Style | None:
    return None


def _next_key(keys: Sequence[str], current: str, by: int) -> str:
    """Return the key `by` places after `current`, wrapping around; the first key if `current` is not a key."""
    if current not in keys:
        return keys[0]
    return keys[(keys.index(current) + by) % len(keys)]


class Table(RowList):
    """Numbered rows in columns. A subclass sets `n_rows`, `COLUMNS` and `choices`.

    Rows are sorted, filtered and searched in short slices, so that 200,000 rows never block the keys.
    """

    FOOTER = True
    COLUMNS: ClassVar[Sequence[Column]] = ()
    n_rows = 0
    """The number of all rows, shown or not; a subclass assigns it."""
    LEAD: ClassVar[str] = " "
    """The text of the footer before the choices."""

    sort_key: var[str] = var("", init=False)
    """The key of the column that rows are sorted by; "" keeps their own order."""
    reverse: var[bool] = var(False, init=False)
    """Whether the order is reversed."""
    choice: var[str] = var("", init=False)
    """The key of the chosen one of `choices`."""
    search: var[str] = var("", init=False)
    """The typed search, see `Search`; only the rows that match are shown."""

    class Changed(Message):
        """Posted when the rows, the row under the cursor or its description have changed."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Table.Changed)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: Sequence[Column] = list(self.COLUMNS)
        """The columns that are not hidden; see `fit_columns`."""
        self._orders: dict[tuple[str, bool], Sequence[int]] = {}
        self._arranging = SlicedWork[Sequence[int]](self)
        self.token_style: Callable[[int], Style | None] = _no_style
        """Return the style of a token, by its id, that the editor uses."""

    # For a subclass to override

    @property
    def choices(self) -> Choices:
        """The choices in the footer."""
        return ()

    @property
    def note(self) -> tuple[str, str]:
        """The text of the footer after the choices, and its part of the list's style."""
        return "", "muted"

    @property
    def test(self) -> Callable[[int], bool] | None:
        """A function that returns whether a row is shown; None shows all rows."""
        return None

    @property
    def sorting(self) -> Column | None:
        """The column that rows are sorted by; None if they keep their own order."""
        for column in self.columns:
            if column.key == self.sort_key and column.sort:
                return column
        return None

    def match(self, row: int, search: Search) -> int:
        """Return how well a row matches a search, as `Search.match` does; 0 hides it."""
        return 0

    def row_ink(self, row: int) -> str:
        """Return the name of the style for a row, or "" for the style of each column. A style of a cell comes first."""
        return ""

    # Which rows are shown

    def watch_cursor(self) -> None:
        super().watch_cursor()
        self.post_message(self.Changed())

    def rows_changed(self) -> None:
        """Forget the sorted orders: values in the rows have changed."""
        self._orders.clear()

    def rearrange(self, then: Callable[[], object] | None = None) -> None:
        """Filter, search and sort the rows, show them, then call `then`. A later call replaces this one."""

        def arranged(rows: Sequence[int]) -> None:
            self.following = self.following and self._has_tail
            self.show_rows(rows)
            if then is not None:
                then()

        self._arranging.run(self._rows(), arranged)

    def _rows(self) -> Steps[Sequence[int]]:
        rows: Sequence[int] = range(self.n_rows)
        if self.reverse:
            rows = rows[::-1]
        column = self.sorting
        if column is not None:
            rows = yield from self._sorted_rows(column)
        test = self.test
        if test is not None:
            is_shown = yield from mapped(test, rows)
            rows = list(compress(rows, is_shown))
        if self.search:
            rows = yield from self._matching_rows(rows)
        return rows

    def _sorted_rows(self, column: Column) -> Steps[Sequence[int]]:
        assert column.sort is not None
        descending = column.descending != self.reverse
        order_key = (column.key, descending)
        if order_key not in self._orders:
            self._orders[order_key] = yield from rows_in_order(
                self.n_rows, partial(column.sort, self), descending=descending
            )
        return self._orders[order_key]

    def _matching_rows(self, rows: Sequence[int]) -> Steps[Sequence[int]]:
        """Return the rows that match the search, the best first, equal ones in their order."""
        match = partial(self.match, search=Search.read(self.search))
        all_scores = yield from mapped(match, rows)
        matching = list(compress(rows, all_scores))
        scores = [score for score in all_scores if score]
        best_first = yield from sorted_in_steps(
            range(len(matching)), scores.__getitem__, reverse=True
        )
        return [matching[place] for place in best_first]

    @property
    def _has_tail(self) -> bool:
        """Whether the newest row is the last one: all rows are shown in their own order."""
        return not (self.choice or self.search or self.reverse or self.sorting)

    def validate_following(self, following: bool) -> bool:
        return following and self._has_tail

    def to_top(self) -> None:
        self.rearrange(partial(self.move_to, 0))

    watch_sort_key = to_top
    watch_reverse = to_top
    watch_search = to_top

    def watch_choice(self) -> None:
        row_before = self.current

        def keep_row_or_go_to_top() -> None:
            self.move_to(self.cursor if self.current == row_before else 0)

        self.rearrange(keep_row_or_go_to_top)

    def reveal(self, row: int, *, tell: bool = False) -> None:
        """Move the cursor to a row and scroll to it; `tell` as in `move_to`.

        If the row is hidden, reset the choice and the search. Ignore a row that does not exist yet:
        merges that have just been recovered are added a moment later.
        """

        def move_to_row() -> None:
            self.move_to(self.order.index(row), tell=tell)

        if row in self.order:
            move_to_row()
        elif row < self.n_rows:
            self.choice = ""
            self.search = ""
            self.rearrange(move_to_row)

    def sort_by(self, key: str) -> None:
        """Sort by a column; if rows are sorted by it already, reverse the order."""
        if key == self.sort_key:
            self.reverse = not self.reverse
        elif any(column.key == key and column.sort for column in self.columns):
            self.set_reactive(Table.reverse, False)
            self.sort_key = key

    def action_sort_next(self) -> None:
        keys = [
            place.column.key
            for place in self.places
            if place.column.sort and place.column.heading
        ]
        if keys:
            self.sort_by(_next_key(keys, self.sort_key, by=1))

    def action_reverse(self) -> None:
        self.reverse = not self.reverse

    def action_choice(self, by: int) -> None:
        keys = [key for key, _ in self.choices]
        if keys:
            self.choice = _next_key(keys, self.choice, by)

    # The mouse

    def column_at(self, x: int) -> Column | None:
        """Return the column at cell `x`; the gap after a column belongs to it."""
        for column, start, width in self.places:
            if start <= x < start + width + column.gap:
                return column
        return None

    def header_clicked(self, x: int) -> None:
        column = self.column_at(x)
        if column is not None:
            self.sort_by(column.key)

    def footer_clicked(self, x: int) -> None:
        key = self.choice_at(x)
        if key is not None:
            self.choice = key

    def choice_at(self, x: int) -> str | None:
        """Return the key of the choice at cell `x` of the footer; None between two choices."""
        note, _ = self.note
        room = self.row_width - cell_len(note)
        for place in choice_places(self.choices, self.choice, room, self.LEAD):
            if place.x <= x < place.end:
                return place.key
        return None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Explain the column whose heading is under the mouse."""
        hint = None
        offset = event.get_content_offset(self)
        if offset is not None and offset.y == 0:
            column = self.column_at(offset.x)
            if column is not None:
                hint = column.hint
        if self.tooltip != hint:
            self.tooltip = hint

    # Drawing

    def fit_columns(
        self,
        min_widths: Mapping[str, int],
        hidden: Collection[str] = (),
        stays: str = "",
    ) -> None:
        """Set `columns` to `COLUMNS` without the hidden ones.

        Args:
            min_widths: Key of a column -> its minimum width in cells.
            hidden: Keys of columns that have nothing to show.
            stays: Key of a column that is never left out, even if there is little room.
        """
        columns = []
        for column in self.COLUMNS:
            if column.key in hidden:
                continue
            width = max(column.width, min_widths.get(column.key, 0))
            most = column.most
            if most:
                # A column that is made wider can still grow by as many cells as before.
                most += width - column.width
            rank = 0 if column.key == stays else column.rank
            columns.append(replace(column, width=width, most=most, rank=rank))
        if columns != self.columns:
            self.columns = columns
            self.refresh()

    @property
    def places(self) -> Sequence[PlacedColumn]:
        return place_columns(self.columns, self.row_width)

    def render_header(self, width: int) -> Iterable[Segment]:
        style = self.style_of("header")
        accent = style + self.style_of("accent")
        cells = []
        for place in self.places:
            if place.column.key == self.sort_key:
                title = self._sorting_heading(place.column)
                cells.append(StyledCell(place, Cell(title), accent))
            else:
                cells.append(StyledCell(place, Cell(place.column.heading), style))
        return line(cells, style)

    def _sorting_heading(self, column: Column) -> str:
        arrow = "↓" if column.descending != self.reverse else "↑"
        if column.right:
            return f"{arrow} {column.heading}".strip()
        return f"{column.heading} {arrow}".strip()

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        row_ink = self.row_ink(row)
        cells = []
        for place in self.places:
            cell = place.column.cell(self, row)
            if isinstance(cell, str):
                cell = Cell(cell)
            style = self.style_of(cell.ink or row_ink or place.column.ink, base)
            if cell.bold:
                style += _BOLD
            cells.append(StyledCell(place, cell, style))
        return line(cells, base)

    def render_footer(self, width: int) -> Iterable[Segment]:
        note, ink = self.note
        note_style = self.style_of(ink)
        if not self.choices:
            yield Segment(fit(note, width), note_style)
            return
        style = self.style_of("muted")
        accent = self.style_of("accent")
        room = width - cell_len(note)
        x = 0
        for place in choice_places(self.choices, self.choice, room, self.LEAD):
            if place.end > room:
                # An ellipsis replaces the choices that do not fit.
                yield Segment(fit(" · …", max(0, room - x)), style)
                x = room
                break
            yield Segment(" · " if x else self.LEAD, style)
            yield Segment(place.title, accent if place.key == self.choice else style)
            x = place.end
        yield Segment(" " * (room - x) + note, note_style)
