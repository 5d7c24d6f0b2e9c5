"""Rows of a text as Textual strips, with the styles of tokens.

A `RowContent` decides completely how a row looks, so drawn rows are cached by it.
"""

from bisect import bisect_left
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.drawing.palette import Palette, muted, selected
from tui.text.clusters import Layout, lay_out

NEWLINE: Final = "↵"
"""Drawn after a line whose newline belongs to a token."""

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
"""The start and the end of a stretch, as columns; the newline is at the length of the row."""


class RowToken(NamedTuple):
    """A token on a row, or several that share a character; columns are code points from the start of the row."""

    start: int
    end: int
    color: int
    outside: Columns = (0, 0)
    """Its code points before the row, and its code points after the row."""
    inside: tuple[int, ...] = ()
    """The bytes of each token, if several share a character."""
    is_alike: bool = False
    """In a further lane: whether the first lane has a token with the same borders."""

    @property
    def borders(self) -> tuple[object, ...]:
        """The place of the token: equal for two tokens of the same characters."""
        return self.start, self.end, self.outside, self.inside


OnRow = tuple[tuple[RowToken, ...], tuple[Columns, ...]]
"""The tokens on a row, and the characters that several tokens share."""
NOTHING: Final[OnRow] = ((), ())
"""A row without tokens."""


class RowContent(NamedTuple):
    """Everything that decides how a row looks. Equal rows look the same."""

    text: str
    """The characters of the row, without a newline; of a long line only the visible ones."""
    tokens: tuple[RowToken, ...] = ()
    ends_line: bool = True
    """Whether the line ends here: then there is a place for the cursor and a newline after the text."""
    shared: tuple[Columns, ...] = ()
    """The characters that consist of several tokens."""
    changed: tuple[Columns, ...] = ()
    """The stretches that the last edit changed."""
    current: Columns | None = None
    """The token under the cursor."""
    flashing: tuple[Columns, ...] = ()
    """Tokens to show strongly for a moment."""
    selection: Columns | None = None
    cursor: int | None = None
    """The column of the cursor; None if it is elsewhere or hidden."""
    left: int = 0
    """Cells to leave out on the left."""
    phase: int = 0
    """The cell where the text starts, modulo the tab size."""
    spaces: bool = False
    """Whether spaces and tabs are drawn as glyphs."""
    gutter: str = ""
    """Plain text before the row, such as its number."""
    open: Columns | None = None
    """The tokens that can change if text is added at the end."""


def clip(stretch: Columns, start: int, length: int) -> Columns | None:
    """Convert a stretch of the text to columns of a row that starts at `start`; None if they do not meet."""
    first, last = max(stretch[0] - start, 0), min(stretch[1] - start, length)
    return (first, last) if first < last else None


@lru_cache(maxsize=1024)
def draw(row: RowContent, width: int, palette: Palette) -> Strip:
    """Draw a row as a strip of exactly `width` cells.

    A cluster has the color of the token with its first character, and is underlined if other tokens have a part of it.
    The newline of a token is drawn in its color in the cell after the text.
    """
    layout = lay_out(row.text, row.phase, row.spaces)
    paints = _paints(row, layout)
    glyphs = list(layout.glyphs)
    cells = list(layout.cells)
    if row.ends_line:
        glyphs.append(NEWLINE if paints[-1] & _COLOR else " ")
        cells.append(layout.width + 1)
    left = row.left
    right = row.left + width - len(row.gutter)
    segments: list[Segment] = []
    if row.gutter:
        segments.append(Segment(row.gutter, palette.gutter))
    stop = 0
    for paint, run in groupby(paints[: len(glyphs)]):
        first = stop
        stop += len(list(run))
        if cells[first] >= left and cells[stop] <= right:
            text = "".join(glyphs[first:stop])
        else:
            text = ""
            for index in range(first, stop):
                start = max(cells[index], left)
                end = min(cells[index + 1], right)
                if end - start == cells[index + 1] - cells[index]:
                    text += glyphs[index]
                else:
                    # A glyph that is cut is drawn as blanks.
                    text += " " * (end - start)
        if text:
            segments.append(Segment(text, _style(palette, paint)))
    return Strip(segments).extend_cell_length(width, palette.base)


def _paints(row: RowContent, layout: Layout) -> list[int]:
    """Return the paint of each cluster, and of the newline: its color number + 1 (0: no token), with marks."""
    paints = [0] * (len(layout.glyphs) + 1)
    for token in row.tokens:
        first, stop = _clusters(layout, token.start, token.end)
        paint = token.color + 1
        if token.is_alike:
            paint |= _ALIKE
        paints[first:stop] = [paint] * (stop - first)
        if 0 < token.start < len(row.text) and layout.starts[first] != token.start:
            paints[first - 1] |= _SHARED
    for columns in row.shared:
        _mark(paints, layout, columns, _SHARED)
    for columns in row.changed:
        _mark(paints, layout, columns, _CHANGED)
    _mark(paints, layout, row.current, _CURRENT)
    for columns in row.flashing:
        _mark(paints, layout, columns, _CURRENT)
    _mark(paints, layout, row.open, _OPEN)
    _mark(paints, layout, row.selection, _SELECTED)
    if layout.glyphs != row.text:
        starts = layout.starts
        for index, drawn in enumerate(layout.glyphs):
            cluster = row.text[starts[index] : starts[index + 1]]
            if drawn != cluster and not drawn.isspace():
                paints[index] |= _STAND_IN
    if paints[-1]:
        paints[-1] |= _STAND_IN
    if row.cursor is not None:
        paints[layout.cluster(row.cursor)] |= _CURSOR
    return paints


def _mark(
    paints: list[int], layout: Layout, columns: Columns | None, mark: int
) -> None:
    """Add a mark to the clusters in a stretch; only a selection also marks text without tokens."""
    if columns is None:
        return
    first, stop = _clusters(layout, *columns)
    for index in range(first, stop):
        if paints[index] or mark == _SELECTED:
            paints[index] |= mark


def _clusters(layout: Layout, start: int, end: int) -> tuple[int, int]:
    """Return the clusters that start in a stretch of columns; the newline is one after the last."""
    length = layout.starts[-1]
    n_clusters = len(layout.glyphs)
    first = bisect_left(layout.starts, start, 0, n_clusters)
    if end > length:
        return first, n_clusters + 1
    return first, bisect_left(layout.starts, end, 0, n_clusters)


@lru_cache(maxsize=4096)
def _style(palette: Palette, paint: int) -> Style:
    style = palette.base
    color = paint & _COLOR
    if color:
        ways = palette.tokens[(color - 1) % len(palette.tokens)]
        if paint & _CURRENT:
            style += ways.current
        elif paint & _CHANGED:
            style += ways.changed
        elif paint & _ALIKE:
            style += ways.alike
        else:
            style += ways.usual
        if paint & _CURRENT and paint & _CHANGED:
            style += Style(bold=ways.changed.bold, italic=ways.changed.italic)
    if paint & _SHARED or (paint & _OPEN and palette.underlines):
        style += Style(underline=True)
    if paint & _STAND_IN:
        style = muted(style)
    if paint & _SELECTED:
        if palette.blends:
            style = selected(style, palette.selection)
        else:
            style += palette.selection
    if paint & _CURSOR:
        style += palette.cursor
    return style
