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
from tui.text.glyphs import TAB_SIZE, Layout, lay_out

NEWLINE: Final = "↵"  # drawn after a line whose newline belongs to a token

_COLOR: Final = 0xFF
_CHANGED: Final = 1 << 8
_CURRENT: Final = 1 << 9
_SHARED: Final = 1 << 10
_STAND_IN: Final = 1 << 11
_SELECTED: Final = 1 << 12
_CURSOR: Final = 1 << 13
_OPEN: Final = 1 << 14
_ALIKE: Final = 1 << 15


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
    tab_size: int = TAB_SIZE
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
    layout = lay_out(row.text, row.tab_size, row.phase, row.spaces)
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
    for stretch, mark in _marks(row):
        first, stop = _clusters(layout, *stretch)
        for index in range(first, stop):
            if paints[index] or mark & _SELECTED:
                paints[index] |= mark
    if layout.glyphs != row.text:
        _mark_stand_ins(row.text, layout, paints)
    if paints[-1]:
        paints[-1] |= _STAND_IN
    if row.cursor is not None:
        paints[layout.cluster(row.cursor)] |= _CURSOR
    return paints


def _marks(row: RowContent) -> Sequence[tuple[Columns, int]]:
    marks = [(stretch, _SHARED) for stretch in row.shared]
    marks += [(stretch, _CHANGED) for stretch in row.changed]
    if row.current is not None:
        marks.append((row.current, _CURRENT))
    if row.open is not None:
        marks.append((row.open, _OPEN))
    if row.selection is not None:
        marks.append((row.selection, _SELECTED))
    return marks


def _clusters(layout: Layout, start: int, end: int) -> tuple[int, int]:
    """The clusters that begin in a stretch of columns, the newline counted as one behind the last."""
    length, count = layout.starts[-1], len(layout.glyphs)
    first = count if start >= length else layout.first_from(max(start, 0))
    stop = count + 1 if end > length else layout.first_from(max(end, 0))
    return first, stop


def _mark_stand_ins(text: str, layout: Layout, paints: list[int]) -> None:
    starts = layout.starts
    for index, glyph in enumerate(layout.glyphs):
        if glyph != text[starts[index] : starts[index + 1]] and not glyph.isspace():
            paints[index] |= _STAND_IN


def _segments(
    glyphs: Sequence[str], cells: Sequence[int], paints: list[int], left: int, right: int, palette: Palette
) -> tuple[list[Segment], int]:
    """The segments between two cells, and how many cells they fill; a glyph that is cut shows blanks."""
    segments: list[Segment] = []
    filled = 0
    index = 0
    for paint, run in groupby(paints[: len(glyphs)]):
        stop = index + len(list(run))
        text = _cut("".join(glyphs[index:stop]), glyphs, cells, (index, stop), (left, right))
        if text:
            segments.append(Segment(text, _style(palette, paint)))
            filled = min(cells[stop], right) - left
        index = stop
    return segments, filled


def _cut(text: str, glyphs: Sequence[str], cells: Sequence[int], run: tuple[int, int], view: tuple[int, int]) -> str:
    first, stop = run
    left, right = view
    if cells[first] >= left and cells[stop] <= right:
        return text
    if cells[stop] <= left or cells[first] >= right:
        return ""
    shown = []
    for index in range(first, stop):
        if left <= cells[index] and cells[index + 1] <= right:
            shown.append(glyphs[index])
        else:
            shown.append(" " * (min(cells[index + 1], right) - max(cells[index], left)))
    return "".join(shown)


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
