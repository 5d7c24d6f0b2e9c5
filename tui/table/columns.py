"""Columns as data: what each says of a row and sorts by, which of them fit a width, and where they stand. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tui.drawing.cells import fit

_LEAST: Final = 4  # cells that a growing column keeps in a row that is too narrow for all of them


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
    ink: str = "row"

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
        return width - 2 - sum(column.width + column.gap for column in kept) + (kept[-1].gap if kept else 0)

    while free() < 0 and any(column.rank for column in kept):
        kept.remove(max(reversed(kept), key=lambda column: column.rank))
    spare = free()
    gives = [
        0 if column.most <= column.width else column.most - column.width if spare > 0 else column.width - _LEAST
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


def line(parts: Iterable[tuple[PlacedColumn, Cell, Style]], base: Style) -> Iterator[Segment]:
    """One row: each cell fitted into its place, blanks over the background of `base` between them.

    Few segments draw fast, so blanks go with the text behind them where the background is the same.
    """
    x = 0
    for (column, start, width), cell, style in parts:
        text = fit(cell.text if isinstance(cell.text, str) else cell.text(width), width, right=column.right)
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


def choice_places(choices: Choices, chosen: str, width: int, lead: str = " ") -> list[tuple[int, str, str]]:
    """(cell, title, key) of each choice that a line of `width` cells begins to show.

    Where there is no room for all up to the chosen one, those before it give way.

    >>> choice_places([("", "all 300"), ("rare", "rare 7"), ("unused", "unused 2")], "unused", 24)
    [(1, 'rare 7', 'rare'), (10, 'unused 2', 'unused')]
    """
    at = next((number for number, (key, _) in enumerate(choices) if key == chosen), 0)
    first = 0
    while first < at and len(lead) + sum(cell_len(title) + 3 for _, title in choices[first : at + 1]) > width:
        first += 1
    places, x = [], len(lead)
    for key, title in choices[first:]:
        places.append((x, title, key))
        x += cell_len(title) + 3
    return places
