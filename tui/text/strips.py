"""Rows of a text as Textual strips: everything that decides how a row looks goes in, the strip comes out.

Nothing here knows a widget, a document or an app, so a row can be tested by itself, and a row that looks as it did
before is found in a cache instead of being drawn again.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.drawing.palette import Palette, muted, selected
from tui.text.glyphs import Layout, lay_out

NEWLINE: Final = "↵"  # drawn after a line whose newline belongs to a token

_COLOR: Final = 0xFF
_CHANGED, _CURRENT, _SHARED, _STAND_IN, _SELECTED, _CURSOR, _OPEN, _ALIKE = (1 << bit for bit in range(8, 16))

Columns = tuple[int, int]
"""A stretch of a row: from a column up to, not including, another. The newline's column is the row's length."""


class RowToken(NamedTuple):
    """A token on a row, or several that share a character; columns are code points from the row's start."""

    start: int
    end: int
    color: int
    outside: Columns = (0, 0)  # how many code points of it stand before the row, and how many behind it
    inside: tuple[int, ...] = ()  # the bytes of each of several tokens that share a character
    is_alike: bool = False
    """Whether the first lane has a token of the same borders; in the first lane, it is not said of any."""

    @property
    def borders(self) -> tuple[object, ...]:
        """What two tokens at the same characters have in common."""
        return self.start, self.end, self.outside, self.inside


OnRow = tuple[tuple[RowToken, ...], tuple[Columns, ...]]
"""The tokens on a row, and its characters that several tokens share."""
NOTHING: Final[OnRow] = ((), ())  # a row without tokens


class RowContent(NamedTuple):
    """What one row shows. Equal rows look the same."""

    text: str  # the characters of the row, without a newline; of a long line only those about to be seen
    tokens: tuple[RowToken, ...] = ()
    ends_line: bool = True
    """True when the line ends here, so that the cursor can stand behind the text and a newline can be drawn."""
    shared: tuple[Columns, ...] = ()  # the characters that are made of several tokens
    changed: tuple[Columns, ...] = ()  # the stretches touched by the last edit
    current: Columns | None = None  # the token under the cursor
    selection: Columns | None = None
    cursor: int | None = None  # the cursor's column; None when it is elsewhere or not to be seen
    left: int = 0  # cells to leave out at the left
    phase: int = 0  # the cell, modulo the tab size, at which the text begins
    spaces: bool = False  # draw spaces and tabs as glyphs
    gutter: str = ""  # plain text that stands before the row, such as its number
    open: Columns | None = None  # the tokens that whatever comes behind the text can still change


def clip(stretch: Columns, start: int, length: int) -> Columns | None:
    """A stretch of the text as columns of a row that begins at `start`; None when they do not meet."""
    first, last = max(stretch[0] - start, 0), min(stretch[1] - start, length)
    return (first, last) if first < last else None


@lru_cache(maxsize=1024)
def draw(row: RowContent, width: int, palette: Palette) -> Strip:
    """A row as a strip of exactly `width` cells.

    Colors follow grapheme clusters: a cluster belongs to the token that holds its first character, and is underlined
    when other tokens have a part in it. The newline of a token is drawn in its color in the cell behind the text.
    """
    layout = lay_out(row.text, row.phase, row.spaces)
    paints = _paints(row, layout)
    glyphs = [*layout.glyphs, NEWLINE if paints[-1] & _COLOR else " "] if row.ends_line else layout.glyphs
    cells = [*layout.cells, layout.width + 1] if row.ends_line else layout.cells
    room = width - len(row.gutter)
    segments, end = _segments(glyphs, cells, paints, row.left, row.left + room, palette)
    if row.gutter:
        segments.insert(0, Segment(row.gutter, palette.gutter))
    if end < room:
        segments.append(Segment(" " * (room - end), palette.base))
    return Strip(segments, width)


def _paints(row: RowContent, layout: Layout) -> list[int]:
    """For each cluster, and at last for the newline, its color number + 1 (0: no token) and how it is marked."""
    paints = [0] * (len(layout.glyphs) + 1)
    for start, end, color, _, _, is_alike in row.tokens:
        first, stop = _clusters(layout, start, end)
        paint = color + 1 | (_ALIKE if is_alike else 0)
        for index in range(first, stop):
            paints[index] = paint
        if 0 < start < len(row.text) and layout.starts[first] != start:
            paints[first - 1] |= _SHARED
    marks = [(stretch, _SHARED) for stretch in row.shared] + [(stretch, _CHANGED) for stretch in row.changed]
    for stretch, mark in (*marks, (row.current, _CURRENT), (row.open, _OPEN), (row.selection, _SELECTED)):
        first, stop = _clusters(layout, *stretch) if stretch else (0, 0)
        for index in range(first, stop):
            if paints[index] or mark & _SELECTED:
                paints[index] |= mark
    if layout.glyphs != row.text:
        starts = layout.starts
        for index, glyph in enumerate(layout.glyphs):
            if glyph != row.text[starts[index] : starts[index + 1]] and not glyph.isspace():
                paints[index] |= _STAND_IN
    if paints[-1]:
        paints[-1] |= _STAND_IN
    if row.cursor is not None:
        paints[layout.cluster(row.cursor)] |= _CURSOR
    return paints


def _clusters(layout: Layout, start: int, end: int) -> tuple[int, int]:
    """The clusters that begin in a stretch of columns, the newline counted as one behind the last."""
    length, count = layout.starts[-1], len(layout.glyphs)
    first = count if start >= length else layout.first_from(max(start, 0))
    stop = count + 1 if end > length else layout.first_from(max(end, 0))
    return first, stop


def _segments(
    glyphs: Sequence[str], cells: Sequence[int], paints: list[int], left: int, right: int, palette: Palette
) -> tuple[list[Segment], int]:
    """The segments between two cells, and how many cells they fill; a glyph that is cut shows blanks."""
    segments: list[Segment] = []
    filled, stop = 0, 0
    for paint, run in groupby(paints[: len(glyphs)]):
        first, stop = stop, stop + len(list(run))
        if cells[first] >= left and cells[stop] <= right:
            text = "".join(glyphs[first:stop])
        else:
            text = "".join(
                glyphs[index]
                if left <= cells[index] and cells[index + 1] <= right
                else " " * (min(cells[index + 1], right) - max(cells[index], left))
                for index in range(first, stop)
            )
        if text:
            segments.append(Segment(text, _style(palette, paint)))
            filled = min(cells[stop], right) - left
    return segments, filled


@lru_cache(maxsize=4096)
def _style(palette: Palette, paint: int) -> Style:
    style = palette.base
    if color := paint & _COLOR:
        ways = palette.tokens[(color - 1) % len(palette.tokens)]
        usual = ways.alike if paint & _ALIKE else ways.usual
        style += ways.current if paint & _CURRENT else ways.changed if paint & _CHANGED else usual
        if paint & _CURRENT and paint & _CHANGED:
            style += Style(bold=ways.changed.bold, italic=ways.changed.italic)
    if paint & _SHARED or (paint & _OPEN and palette.underlines):
        style += Style(underline=True)
    if paint & _STAND_IN:
        style = muted(style)
    if paint & _SELECTED:
        style = selected(style, palette.selection) if palette.blends else style + palette.selection
    return style + palette.cursor if paint & _CURSOR else style
