"""Table: a list with columns as data, a head that sorts, a foot of choices, and rows found by what is typed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any, ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import var
from textual.widgets import Input

from tui.drawing.lines import fit
from tui.table.row_list import RowList
from tui.table.rows import Search, mapped, rows_in_order, sorted_in_steps
from tui.terminal.background import SlicedWork, Steps
from tui.terminal.guards import Field

_BOLD: Final = Style(bold=True)
_SEARCH: Final = "A token's text, its id, or its bytes in hex (0xf09f). Enter goes to the list, Escape shows all again."
_LEAST: Final = (
    4  # cells that a growing column keeps in a row that is too narrow for all of them
)


class Cell(NamedTuple):
    """What stands in a column of one row; a function draws it for as many cells as there are.

    `ink` is the part of the list's style that it is drawn in, empty for the column's; `tint` lies over the text and not
    over the blanks behind it.
    """

    text: str | Callable[[int], str]
    ink: str = ""
    bold: bool = False
    tint: Style | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """What one column says and sorts by.

    It takes `width` cells, or up to `most` where there is room, with `gap` free cells behind. When the columns do not
    all fit, the highest `rank` goes first; rank 0 stays. `cell` and `sort`, the key that rows are sorted by, take the
    table and the number of a row: None comes last either way, the greatest first at the first click where
    `descending`; without `sort` the column sorts nothing. `hint` is the tooltip over its header.
    """

    key: str
    width: int
    cell: Callable[[Any, int], str | Cell] = lambda table, row: ""
    hint: str = ""
    most: int = 0
    right: bool = False
    rank: int = 0
    title: str = ""
    gap: int = 2
    sort: Callable[[Any, int], Any] | None = None
    descending: bool = False
    ink: str = "text"

    @property
    def heading(self) -> str:
        return (self.title or self.key).strip()


class PlacedColumn(NamedTuple):
    """A column in a row: cells `[x, x + width)`."""

    column: Column
    x: int
    width: int


def place_columns(columns: Sequence[Column], width: int) -> Sequence[PlacedColumn]:
    """The columns that fit into `width` cells, in order, with the cells left over given to those that can grow.

    A cell stays free at either end. Growing columns share the spare cells in proportion to what they could take;
    if even the columns that stay do not fit, the same ones give.

    >>> places = place_columns([Column("step", 5), Column("token", 6, most=30)], 20)
    >>> [(place.column.key, place.x, place.width) for place in places]
    [('step', 1, 5), ('token', 8, 11)]
    """
    kept = [*columns]

    def free() -> int:
        return (
            width
            - 2
            - sum(column.width + column.gap for column in kept)
            + (kept[-1].gap if kept else 0)
        )

    while free() < 0 and any(column.rank for column in kept):
        kept.remove(max(reversed(kept), key=lambda column: column.rank))
    spare = free()
    gives = [
        0
        if column.most <= column.width
        else column.most - column.width
        if spare > 0
        else column.width - _LEAST
        for column in kept
    ]
    wants, x = sum(gives), 1
    places: list[PlacedColumn] = []
    for column, give in zip(kept, gives, strict=True):
        extra = max(-give, min(give, round(spare * give / wants))) if wants else 0
        spare, wants = spare - extra, wants - give
        places.append(PlacedColumn(column, x, column.width + extra))
        x += column.width + extra + column.gap
    return places


def line(
    parts: Iterable[tuple[PlacedColumn, Cell, Style]], base: Style
) -> Iterator[Segment]:
    """One row: each cell fitted into its place, blanks over the background of `base` between them.

    Few segments draw fast, so blanks go with the text behind them where the background is the same.
    """
    x = 0
    for (column, start, width), cell, style in parts:
        text = fit(
            cell.text if isinstance(cell.text, str) else cell.text(width),
            width,
            right=column.right,
        )
        blanks = " " * (start - x)
        x = start + width
        if cell.tint is not None:
            text, style = text.rstrip(" "), style + cell.tint
            x = start + cell_len(text)
        if blanks and style.bgcolor != base.bgcolor:
            yield Segment(blanks, base)
            blanks = ""
        yield Segment(blanks + text, style)


Choices = Sequence[tuple[str, str]]  # (key, title) of each choice of a line of choices


def choice_places(
    choices: Choices, chosen: str, width: int, lead: str = " "
) -> list[tuple[int, str, str]]:
    """(cell, title, key) of each choice that a line of `width` cells begins to show.

    Where there is no room for all up to the chosen one, those before it give way.

    >>> choice_places([("", "all 300"), ("rare", "rare 7"), ("unused", "unused 2")], "unused", 24)
    [(1, 'rare 7', 'rare'), (10, 'unused 2', 'unused')]
    """
    at = next((number for number, (key, _) in enumerate(choices) if key == chosen), 0)
    first = 0
    while (
        first < at
        and len(lead) + sum(cell_len(title) + 3 for _, title in choices[first : at + 1])
        > width
    ):
        first += 1
    places, x = [], len(lead)
    for key, title in choices[first:]:
        places.append((x, title, key))
        x += cell_len(title) + 3
    return places


class Table(RowList):
    """Numbered rows; a subclass says how many there are, by its columns what stands in them, and what can be chosen.

    Rows are sorted, filtered and searched in slices, so that 200,000 of them hold up no key.
    """

    FOOTER = True
    COLUMNS: ClassVar[Sequence[Column]] = ()
    n_rows = 0  # how many rows there are, shown or not; a subclass assigns it
    LEAD: ClassVar[str] = " "  # what stands in the foot before the choices

    sort_key: var[str] = var(
        "", init=False
    )  # the column that rows are sorted by; empty: they come in their own order
    reverse: var[bool] = var(False, init=False)  # whether they come the other way round
    choice: var[str] = var("", init=False)  # the chosen one of `choices`
    search: var[str] = var(
        "", init=False
    )  # what is typed to find rows, see `Search`; others are not shown

    class Changed(Message):
        """Other rows are shown, or the cursor is on another, or there is something else to say of it."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Table.Changed)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.columns: Sequence[Column] = [
            *self.COLUMNS
        ]  # those that have something to say; see `fit_columns`
        self._orders: dict[tuple[str, bool], Sequence[int]] = {}
        self._arranging = SlicedWork[Sequence[int]](self)
        self.token_style: Callable[[int], Style | None] = lambda token: (
            None
        )  # of a token by its id, as in the editor

    # What a subclass says

    @property
    def choices(self) -> Choices:
        """What can be chosen in the foot."""
        return ()

    @property
    def note(self) -> tuple[str, str]:
        """What the foot says behind the choices, and the part of the list's style that it is drawn in."""
        return "", "muted"

    @property
    def test(self) -> Callable[[int], bool] | None:
        """Whether a row is shown; None: all are."""
        return None

    @property
    def sorting(self) -> Column | None:
        """The column that sorts; None: rows come in their own order."""
        return next(
            (
                column
                for column in self.columns
                if column.key == self.sort_key and column.sort
            ),
            None,
        )

    def match(self, row: int, search: Search) -> int:
        """How well a row fits a search, as `Search.match` does."""
        return 0

    def row_ink(self, row: int) -> str:
        """The part of the list's style that a row is drawn in; empty: each column in its own."""
        return ""

    # Which rows are shown

    def watch_cursor(self) -> None:
        super().watch_cursor()
        self.post_message(self.Changed())

    def rows_changed(self) -> None:
        """What rows are sorted by is no longer what it was."""
        self._orders.clear()

    def rearrange(self, then: Callable[[], None] = lambda: None) -> None:
        """Show the rows that are to be shown in their order, then do the rest; a later call takes its place."""

        def arranged(rows: Sequence[int]) -> None:
            self.following = self.following and self._has_tail
            self.show_rows(rows)
            then()

        self._arranging.run(self._rows(), arranged)

    def _rows(self) -> Steps[Sequence[int]]:
        rows: Sequence[int] = range(self.n_rows)[:: -1 if self.reverse else 1]
        if (column := self.sorting) and column.sort:
            key = column.key, column.descending != self.reverse
            if key not in self._orders:
                self._orders[key] = yield from rows_in_order(
                    len(rows), partial(column.sort, self), descending=key[1]
                )
            rows = self._orders[key]
        if test := self.test:
            rows = [*compress(rows, (yield from mapped(test, rows)))]
        if self.search:
            how_well = yield from mapped(
                partial(self.match, search=Search.read(self.search)), rows
            )
            rows, how_well = [*compress(rows, how_well)], [*filter(None, how_well)]
            best_first = yield from sorted_in_steps(
                range(len(rows)), how_well.__getitem__, reverse=True
            )
            rows = [rows[place] for place in best_first]
        return rows

    @property
    def _has_tail(self) -> bool:
        """Whether the newest row is the last that is shown: only where all are, in their own order."""
        return not (self.choice or self.search or self.reverse or self.sorting)

    def validate_following(self, following: bool) -> bool:
        return following and self._has_tail

    def to_top(self) -> None:
        self.rearrange(lambda: self.move_to(0))

    watch_sort_key = watch_reverse = watch_search = to_top

    def watch_choice(self) -> None:
        # The cursor stays where it is if its row is still shown.
        before = self.current
        self.rearrange(
            lambda: self.move_to(self.cursor if self.current == before else 0)
        )

    def reveal(self, row: int, *, tell: bool = False) -> None:
        """Put the cursor on a row, in sight, `tell` as in `move_to`; what hides it is taken away."""
        if row in self.order:
            self.move_to(self.order.index(row), tell=tell)
        elif (
            row < self.n_rows
        ):  # merges that have just been recovered are in the log a moment later
            self.choice = self.search = ""
            self.rearrange(lambda: self.move_to(self.order.index(row), tell=tell))

    def sort_by(self, key: str) -> None:
        """Sort by a column; by the same again: the other way round."""
        if key == self.sort_key:
            self.reverse = not self.reverse
        elif any(column.key == key and column.sort for column in self.columns):
            self.set_reactive(Table.reverse, False)
            self.sort_key = key

    def action_sort_next(self) -> None:
        keys = [
            column.key for column, _, _ in self.places if column.sort and column.heading
        ]
        if keys:
            self.sort_by(
                keys[(keys.index(self.sort_key) + 1) % len(keys)]
                if self.sort_key in keys
                else keys[0]
            )

    def action_reverse(self) -> None:
        self.reverse = not self.reverse

    def action_choice(self, by: int) -> None:
        keys = [key for key, _ in self.choices]
        if keys:
            self.choice = (
                keys[(keys.index(self.choice) + by) % len(keys)]
                if self.choice in keys
                else keys[0]
            )

    # The mouse

    def column_at(self, x: int) -> Column | None:
        """The column at cell `x`, the gap behind it included."""
        return next(
            (
                column
                for column, start, width in self.places
                if start <= x < start + width + column.gap
            ),
            None,
        )

    def header_clicked(self, x: int) -> None:
        if column := self.column_at(x):
            self.sort_by(column.key)

    def footer_clicked(self, x: int) -> None:
        if (key := self.choice_at(x)) is not None:
            self.choice = key

    def choice_at(self, x: int) -> str | None:
        """The choice at cell `x` of the foot; None between them."""
        places = choice_places(
            self.choices,
            self.choice,
            self.row_width - cell_len(self.note[0]),
            self.LEAD,
        )
        return next(
            (
                key
                for start, title, key in places
                if start <= x < start + cell_len(title)
            ),
            None,
        )

    def on_mouse_move(self, event: events.MouseMove) -> None:
        # Over the header, the tooltip says what the column means.
        offset = event.get_content_offset(self)
        column = (
            self.column_at(offset.x) if offset is not None and offset.y == 0 else None
        )
        if self.tooltip != (hint := column.hint if column else None):
            self.tooltip = hint

    # Drawing

    def fit_columns(
        self, least: Mapping[str, int], hidden: Collection[str] = (), stays: str = ""
    ) -> None:
        """Take `COLUMNS` but for those that are hidden, some of them at least so wide; `stays` gives way last."""
        columns = []
        for column in self.COLUMNS:
            width = max(column.width, least.get(column.key, 0))
            most = column.most and width + column.most - column.width
            if column.key not in hidden:
                columns.append(
                    replace(
                        column,
                        width=width,
                        most=most,
                        rank=column.rank * (column.key != stays),
                    )
                )
        if columns != self.columns:
            self.columns = columns
            self.refresh()

    @property
    def places(self) -> Sequence[PlacedColumn]:
        return place_columns(self.columns, self.row_width)

    def render_header(self, width: int) -> Iterable[Segment]:
        style = self.style_of("header")
        accent = style + self.style_of("accent")
        parts = []
        for place in self.places:
            column, title, sorts = (
                place.column,
                place.column.heading,
                place.column.key == self.sort_key,
            )
            if sorts:
                arrow = "↓" if column.descending != self.reverse else "↑"
                title = (
                    f"{arrow} {title}" if column.right else f"{title} {arrow}"
                ).strip()
            parts.append((place, Cell(title), accent if sorts else style))
        return line(parts, style)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        row_ink, parts = self.row_ink(row), []
        for place in self.places:
            cell = place.column.cell(self, row)
            cell = Cell(cell) if isinstance(cell, str) else cell
            style = self.style_of(cell.ink or row_ink or place.column.ink, base)
            parts.append((place, cell, style + _BOLD if cell.bold else style))
        return line(parts, base)

    def render_footer(self, width: int) -> Iterable[Segment]:
        (note, ink), style, accent = (
            self.note,
            self.style_of("muted"),
            self.style_of("accent"),
        )
        choices, room, x = self.choices, width - cell_len(note), 0
        for start, title, key in choice_places(choices, self.choice, room, self.LEAD):
            if (
                start + cell_len(title) > room
            ):  # an ellipsis stands for those without room
                yield Segment(fit(" · …", max(0, room - x)), style)
                x = room
                break
            yield Segment(" · " if x else self.LEAD, style)
            yield Segment(title, accent if key == self.choice else style)
            x = start + cell_len(title)
        yield Segment(
            " " * (room - x) + note if choices else fit(note, width), self.style_of(ink)
        )


class SearchField(Field):
    """Shows only those rows of a table that hold what is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False)
    ]

    def __init__(self, table: Table, *, id: str) -> None:
        super().__init__(
            placeholder="/ text, id, 0x hex", id=id, compact=True, tooltip=_SEARCH
        )
        self._table = table

    def on_mount(self) -> None:
        self.watch(self._table, "search", self.follow, init=False)

    def follow(self, search: str) -> None:
        self.value = search
        if not self.has_focus:  # an empty one may have to go
            self.post_message(self.Blurred(self, search))

    def begin(self) -> None:
        self.display = True
        self.screen.set_focus(self)

    @on(Input.Changed)
    def search(self, event: Input.Changed) -> None:
        event.stop()
        self._table.search = self.value

    @on(Input.Submitted)
    def stay(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.set_focus(self._table)
        self._table.move_to(self._table.cursor, tell=True)

    def action_leave(self) -> None:
        self.value = ""
        self.screen.set_focus(self._table)
