"""Columns as data: what each says of a row and sorts by, which of them fit a width, and where they stand. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tui.drawing.cells import fit

_LEAST: Final = 4
"""Cells that a growing column keeps in a row that is too narrow for all of them."""


class Cell(NamedTuple):
    """What stands in a column of one row."""

    text: str | Callable[[int], str]
    """A function draws it for as many cells as there are."""
    ink: str = ""
    """The part of the list's style that it is drawn in; empty: the column's."""
    bold: bool = False
    tint: Style | None = None
    """Over the text, not over the blanks behind it."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column asks for, says and sorts by; its functions take the table and the number of a row."""

    key: str
    """Name in the code and, unless `title` is given, in the header."""
    width: int
    """Fewest cells it is of use with."""
    cell: Callable[[Any, int], str | Cell] = lambda table, row: ""
    hint: str = ""
    """What the column means, for the tooltip over its header."""
    most: int = 0
    """Cells it grows to when there is room; 0: it stays at `width`."""
    right: bool = False
    """Numbers stand at the right edge."""
    rank: int = 0
    """When the columns do not all fit, the highest rank goes first; rank 0 stays."""
    title: str = ""
    gap: int = 2
    """Cells kept free behind it."""
    sort: Callable[[Any, int], Any] | None = None
    """What rows are sorted by; those with None come last either way. Without it the column sorts nothing."""
    descending: bool = False
    """Whether the greatest comes first at the first click."""
    ink: str = "row"

    @property
    def heading(self) -> str:
        """The text of the header."""
        return self.title or self.key


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column in a row: cells `[x, x + width)`."""

    column: Column
    x: int
    width: int


def place_columns(columns: Sequence[Column], width: int) -> tuple[PlacedColumn, ...]:
    """The columns that fit into `width` cells, in order, with the cells left over given to those that can grow.

    A cell stays free at either end. Growing columns share the spare cells in proportion to what they could take;
    if even the columns that stay do not fit, the same ones give.

    >>> places = place_columns([Column("step", 5), Column("token", 6, most=30)], 20)
    >>> [(place.column.key, place.x, place.width) for place in places]
    [('step', 1, 5), ('token', 8, 11)]
    """
    room = width - 2
    kept = list(columns)
    while _needed(kept) > room and any(column.rank for column in kept):
        kept.remove(max(reversed(kept), key=lambda column: column.rank))
    spare = room - _needed(kept)
    places: list[PlacedColumn] = []
    x = 1
    for index, column in enumerate(kept):
        wants = sum(_give(other, spare) for other in kept[index:])
        extra = (
            max(-_give(column, -1), min(_give(column, 1), round(spare * _give(column, spare) / wants))) if wants else 0
        )
        spare -= extra
        places.append(PlacedColumn(column, x, column.width + extra))
        x += column.width + extra + column.gap
    return tuple(places)


def _give(column: Column, spare: int) -> int:
    """Cells by which a growing column may get wider, or, where cells are missing, narrower."""
    if column.most <= column.width:
        return 0
    return column.most - column.width if spare > 0 else column.width - _LEAST


def _needed(columns: Sequence[Column]) -> int:
    return sum(column.width + column.gap for column in columns) - columns[-1].gap if columns else 0


def place_at(places: Sequence[PlacedColumn], x: int) -> PlacedColumn | None:
    """The column at cell `x`, the gap behind it included."""
    return next((place for place in places if place.x <= x < place.x + place.width + place.column.gap), None)


def line(parts: Iterable[tuple[PlacedColumn, Cell, Style]], base: Style) -> Iterator[Segment]:
    """One row: each cell fitted into its place, blanks over the background of `base` between them.

    Few segments draw fast, so blanks go with the text behind them where the background is the same.
    """
    x = 0
    for place, cell, style in parts:
        text = cell.text if isinstance(cell.text, str) else cell.text(place.width)
        text = fit(text, place.width, right=place.column.right)
        blanks = " " * (place.x - x)
        x = place.x + place.width
        if cell.tint is not None:
            text, style = text.rstrip(" "), style + cell.tint
            x = place.x + cell_len(text)
        if blanks and style.bgcolor != base.bgcolor:
            yield Segment(blanks, base)
            blanks = ""
        yield Segment(blanks + text, style)


Titles = Sequence[tuple[str, str]]
"""(key, title) of each choice of a line of choices."""


def choice_places(titles: Titles, chosen: str, width: int, lead: str = " ") -> Iterator[tuple[int, str, str]]:
    """(cell, text, key) of each choice that a line of `width` cells begins to show.

    Where there is no room for all up to the chosen one, those before it give way.

    >>> list(choice_places([("", "all 300"), ("rare", "rare 7"), ("unused", "unused 2")], "unused", 24))
    [(1, 'rare 7', 'rare'), (10, 'unused 2', 'unused')]
    """
    at_chosen = next((place for place, (key, _) in enumerate(titles) if key == chosen), 0)
    first = 0
    while (
        first < at_chosen and len(lead) + sum(cell_len(text) + 3 for _, text in titles[first : at_chosen + 1]) > width
    ):
        first += 1
    x = len(lead)
    for key, text in titles[first:]:
        yield x, text, key
        x += cell_len(text) + 3


def choice_line(
    titles: Titles, chosen: str, width: int, style: Style, accent: Style, lead: str = " "
) -> Iterator[Segment]:
    """The choices in exactly `width` cells, the chosen one in `accent`; an ellipsis stands for those without room."""
    x = 0
    for start, text, key in choice_places(titles, chosen, width, lead):
        if start + cell_len(text) > width:
            yield Segment(fit(" · …", max(0, width - x)), style)
            return
        yield Segment(" · " if x else lead, style)
        yield Segment(text, accent if key == chosen else style)
        x = start + cell_len(text)
    yield Segment(fit("", max(0, width - x)), style)
