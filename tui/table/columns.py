"""The columns of a table: their cells, their places in a row, and the line of choices below."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tui.drawing.lines import fit

_LEAST_WIDTH: Final = 4
"""Cells that a column keeps if even the columns that must stay do not fit."""
_BETWEEN_CHOICES: Final = " · "


class Cell(NamedTuple):
    """The content of a column in one row."""

    text: str | Callable[[int], str]
    """The text, or a function that draws it for a given number of cells."""
    ink: str = ""
    """The part of the list's style for the text; "" for the column's own."""
    bold: bool = False
    tint: Style | None = None
    """A style for the text only, not for the blanks after it."""


def _no_text(table: Any, row: int) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Column:
    """The content and the sorting of one column."""

    key: str
    width: int
    """The least number of cells."""
    cell: Callable[[Any, int], str | Cell] = _no_text
    """Take the table and the number of a row, and return the content."""
    hint: str = ""
    """The tooltip over the heading."""
    most: int = 0
    """The largest number of cells, if there is room; 0 if the width is fixed."""
    right: bool = False
    """Whether text is aligned to the right."""
    rank: int = 0
    """If the columns do not fit, the highest rank is left out first; rank 0 stays."""
    title: str = ""
    gap: int = 2
    """Blank cells after the column."""
    sort: Callable[[Any, int], Any] | None = None
    """Take the table and the number of a row, and return the key to sort by; rows with None come last."""
    descending: bool = False
    """Whether the first click sorts the greatest first."""
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
    """Place the columns that fit into `width` cells; columns with `most` share the spare cells.

    One cell stays blank at each end. Growing columns share in proportion to their limits. If
    even the columns that stay do not fit, the same columns shrink.

    >>> places = place_columns([Column("step", 5), Column("token", 6, most=30)], 20)
    >>> [(place.column.key, place.x, place.width) for place in places]
    [('step', 1, 5), ('token', 8, 11)]
    """
    kept = list(columns)
    while _spare_cells(kept, width) < 0 and any(column.rank for column in kept):
        # Of equal ranks, the last column is left out first.
        kept.remove(max(reversed(kept), key=attrgetter("rank")))
    spare = _spare_cells(kept, width)
    limits = [_limit_of_change(column, grows=spare > 0) for column in kept]
    limits_left = sum(limits)
    x = 1
    places: list[PlacedColumn] = []
    for column, limit in zip(kept, limits, strict=True):
        change = 0
        if limits_left:
            share = round(spare * limit / limits_left)
            change = max(-limit, min(limit, share))
        spare -= change
        limits_left -= limit
        places.append(PlacedColumn(column, x, column.width + change))
        x += column.width + change + column.gap
    return places


def _spare_cells(columns: Sequence[Column], width: int) -> int:
    """Return how many cells are left over; a negative number if the columns do not fit."""
    used = sum(column.width + column.gap for column in columns)
    if columns:
        used -= columns[-1].gap
    return width - 2 - used


def _limit_of_change(column: Column, *, grows: bool) -> int:
    """Return by how many cells a column can grow, or else shrink."""
    if column.most <= column.width:
        return 0
    if grows:
        return column.most - column.width
    return column.width - _LEAST_WIDTH


class StyledCell(NamedTuple):
    """A cell to be drawn in its place."""

    place: PlacedColumn
    cell: Cell
    style: Style


def line(cells: Iterable[StyledCell], base: Style) -> Iterator[Segment]:
    """Yield the segments of one row: the cells, and blanks of the style `base` between them.

    Fewer segments are drawn faster, so blanks join the text after them if the background is the same.
    """
    x = 0
    for place, cell, style in cells:
        content = cell.text
        if not isinstance(content, str):
            content = content(place.width)
        text = fit(content, place.width, right=place.column.right)
        blanks = " " * (place.x - x)
        x = place.x + place.width
        if cell.tint is not None:
            text = text.rstrip(" ")
            style = style + cell.tint
            x = place.x + cell_len(text)
        if blanks and style.bgcolor != base.bgcolor:
            yield Segment(blanks, base)
            blanks = ""
        yield Segment(blanks + text, style)


Choices = Sequence[tuple[str, str]]
"""The key and the title of each choice."""


class PlacedChoice(NamedTuple):
    """A choice that begins at cell `x`."""

    x: int
    title: str
    key: str

    @property
    def end(self) -> int:
        return self.x + cell_len(self.title)


def choice_places(
    choices: Choices, chosen: str, width: int, lead: str = " "
) -> list[PlacedChoice]:
    """Place choices on a line of `width` cells; leave out the first ones if the chosen one does not fit.

    The last choices may lie beyond the end of the line.

    >>> choices = [("", "all 300"), ("rare", "rare 7"), ("unused", "unused 2")]
    >>> [(place.x, place.title) for place in choice_places(choices, "unused", 24)]
    [(1, 'rare 7'), (10, 'unused 2')]
    """
    keys = [key for key, _ in choices]
    chosen_index = keys.index(chosen) if chosen in keys else 0
    widths = [cell_len(title) + len(_BETWEEN_CHOICES) for _, title in choices]
    first = 0
    while (
        first < chosen_index
        and len(lead) + sum(widths[first : chosen_index + 1]) > width
    ):
        first += 1
    places = []
    x = len(lead)
    for index in range(first, len(choices)):
        key, title = choices[index]
        places.append(PlacedChoice(x, title, key))
        x += widths[index]
    return places
