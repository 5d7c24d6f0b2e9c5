"""Columns of a drawn row: which of them fit a width, where they stand, and text cut to their cells.

Cells, not characters: a CJK character or an emoji takes two, a combining mark none. Pure; knows no widget.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from bpe_core.visible import visible

_LEAST: Final = 4
"""Cells that a growing column keeps in a row that is too narrow for all of them."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column asks for."""

    key: str
    """Name in the code and, unless `title` is given, in the header."""
    width: int
    """Fewest cells it is of use with."""
    most: int = 0
    """Cells it grows to when there is room; 0: it stays at `width`."""
    right: bool = False
    """Numbers stand at the right edge."""
    rank: int = 0
    """When the columns do not all fit, the highest rank goes first; rank 0 stays."""
    title: str = ""
    gap: int = 2
    """Cells kept free behind it."""
    hint: str = ""
    """What the column means, for the tooltip over its header."""

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

    >>> places = place_columns([Column("step", 5), Column("token", 6, 30)], 20)
    >>> [(place.column.key, place.x, place.width) for place in places]
    [('step', 1, 5), ('token', 8, 11)]
    """
    room = width - 2
    kept = list(columns)
    while _needed(kept) > room and max(column.rank for column in kept):
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
    return sum(column.width + column.gap for column in columns) - columns[-1].gap


def place_at(places: Sequence[PlacedColumn], x: int) -> PlacedColumn | None:
    """The column at cell `x`, the gap behind it included."""
    return next((place for place in places if place.x <= x < place.x + place.width + place.column.gap), None)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """`text`, safe to show, in exactly `width` cells: padded, or cut with an ellipsis.

    A combining mark that begins a text gets the dotted circle to stand on, as in a table of characters.

    >>> fit("merge", 7), fit("merge", 7, right=True), fit("日本語", 5)
    ('merge  ', '  merge', '日本…')
    """
    if not text.isprintable():
        text = visible(text)
    if text and cell_len(text[0]) == 0:
        text = "◌" + text
    used = cell_len(text)
    if used > width:
        text = set_cell_size(text, max(0, width - 1)).rstrip(" ") + "…" if width > 0 else ""
        used = cell_len(text)
    padding = " " * (width - used)
    return padding + text if right else text + padding


def line(parts: Iterable[tuple[PlacedColumn, str, Style]], base: Style) -> Iterator[Segment]:
    """One row: each text fitted into its place, blanks over the background of `base` between them.

    Few segments draw fast, so blanks go with the text behind them where the background is the same.
    """
    x = 0
    for place, text, style in parts:
        blanks = " " * (place.x - x)
        if blanks and style.bgcolor != base.bgcolor:
            yield Segment(blanks, base)
            blanks = ""
        yield Segment(blanks + fit(text, place.width, right=place.column.right), style)
        x = place.x + place.width


def tinted(place: PlacedColumn, text: str, style: Style, tint: Style | None) -> tuple[PlacedColumn, str, Style]:
    """A part of a `line` whose tint ends with the text, not with the column."""
    if tint is None:
        return place, text, style
    text = fit(text, place.width).rstrip(" ")
    return replace(place, width=cell_len(text)), text, style + tint
