"""Rows of a text as Textual strips: grapheme clusters, their glyphs and cells, and the styles of tokens.

Drawing, cursor, mouse and wrapping all use the same `Layout`, so they cannot disagree. Three rules keep a terminal in
step with it:

* a control character, or an invisible one, is drawn as one visible glyph (`bpe_core.visible.CONTROLS`);
* a cluster is as wide as rich measures its glyph, because Textual crops and pads by that, and at least one cell;
* a zero width joiner is drawn only inside an emoji, where it does not change the width.

A `RowContent` decides completely how a row looks, so drawn rows are cached by it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from bpe_core.visible import CONTROLS
from tui.drawing.palette import Palette, muted, selected

if TYPE_CHECKING:
    import regex

TAB_SIZE: Final = 4
"""Cells between tab stops."""
_JOINER: Final = "\u200d"
_MOST_DRAWN: Final = 32
"""Code points of a cluster that are drawn: a letter under a thousand accents must not cover other rows."""

CLUSTER: Final = r"\X"
_JOINED_EMOJI: Final = (
    r"\p{ExtPict}\p{GCB=Extend}*+(?:\u200d\p{ExtPict}\p{GCB=Extend}*+)+"
)
_JOINING: Final = (
    r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=RI}"
    r"\p{GCB=L}\p{GCB=V}\p{GCB=T}]"
)
"""Characters that can form a cluster with a neighbor. In a text without them each character is a cluster."""
_MARK: Final = r"(?V1)[\p{M}--\p{Variation_Selector}]"

_SPACES: Final = {0x20: "·", 0xA0: "⍽"}

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
"""The first column of a stretch and the one after its last; the newline is at the length of the row."""


@cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """Compile a pattern when it is first needed: a plain text is drawn without importing `regex`."""
    import regex

    return regex.compile(pattern)


class _Widths(dict[str, int]):
    """The cells of characters that are always a cluster of their own; 0 for the others. It fills itself."""

    def __missing__(self, character: str) -> int:
        width = 0
        is_joining = not character.isascii() and compiled(_JOINING).match(character)
        if character != "\t" and not is_joining:
            width = cell_len(character.translate(CONTROLS))
        self[character] = width
        return width


_WIDTHS: Final = _Widths()


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of one line, laid out in cells. Columns are code points, counted from the start of the stretch."""

    starts: Sequence[int]
    """The column where each cluster starts, and the length of the stretch."""
    cells: Sequence[int]
    """The cell where each cluster starts, and the width of the stretch."""
    glyphs: Sequence[str]
    """The drawing of each cluster, exactly as wide as its cells."""

    @property
    def width(self) -> int:
        return self.cells[-1]

    def cluster(self, column: int) -> int:
        """Return the index of the cluster at a column; the number of clusters for the end and beyond."""
        if column >= self.starts[-1]:
            return len(self.glyphs)
        return bisect_right(self.starts, column) - 1

    def cell(self, column: int) -> int:
        """Return the cell where the cluster at a column starts; the width for the end."""
        return self.cells[self.cluster(column)]

    def column(self, cell: int) -> int:
        """Return the column where the cluster at a cell starts; the length for a cell beyond the end."""
        index = bisect_right(self.cells, max(cell, 0)) - 1
        return self.starts[min(index, len(self.glyphs))]


@lru_cache(maxsize=1 << 14)
def glyph(cluster: str) -> tuple[str, int]:
    r"""Return the drawing of a grapheme cluster and its cells, never empty and never a control character.

    >>> glyph("\x1b"), glyph("e\u0301"), glyph("\u0301") == ("◌\u0301", 1)
    (('␛', 1), ('é', 1), True)
    """
    drawn = cluster[:_MOST_DRAWN].translate(CONTROLS)
    if _JOINER in drawn and not compiled(_JOINED_EMOJI).fullmatch(drawn):
        drawn = drawn.replace(_JOINER, "")
    width = cell_len(drawn)
    if width:
        return drawn, width
    if compiled(_MARK).search(drawn):
        return f"◌{drawn}", 1
    return "·", 1


@lru_cache(maxsize=4096)
def lay_out(text: str, phase: int = 0, spaces: bool = False) -> Layout:
    """Lay out a stretch of a line that starts at cell `phase` (modulo `TAB_SIZE`); `spaces` draws spaces and tabs."""
    columns = range(len(text) + 1)
    if narrow(text):
        return Layout(columns, columns, _drawn(text, spaces))
    widths = list(map(_WIDTHS.__getitem__, text))
    if 0 not in widths:
        return Layout(columns, [0, *accumulate(widths)], _drawn(text, spaces))
    starts = [0]
    cells = [0]
    glyphs = []
    column = 0
    cell = 0
    for cluster in compiled(CLUSTER).findall(text):
        if cluster == "\t":
            width = TAB_SIZE - (phase + cell) % TAB_SIZE
            drawn = ("⇥" if spaces else " ").ljust(width)
        else:
            drawn, width = glyph(cluster)
            if spaces:
                drawn = drawn.translate(_SPACES)
        column += len(cluster)
        cell += width
        starts.append(column)
        cells.append(cell)
        glyphs.append(drawn)
    return Layout(starts, cells, glyphs)


def _drawn(text: str, spaces: bool) -> str:
    if not text.isascii() or not text.isprintable():
        text = text.translate(CONTROLS)
    if spaces:
        text = text.translate(_SPACES)
    return text


def narrow(text: str) -> bool:
    """Whether columns and cells are surely the same: each character is a cluster of one cell."""
    return text.isascii() and "\t" not in text


def measure(text: str, phase: int = 0) -> int:
    """Return the cells of a stretch of a line, without caching its layout."""
    if narrow(text):
        return len(text)
    widths = list(map(_WIDTHS.__getitem__, text))
    if 0 in widths:
        return lay_out.__wrapped__(text, phase).width
    return sum(widths)


def border(text: str, near: int) -> int:
    """Return a column at `near` or a little later where the text can be cut between clusters."""
    for column in range(near, min(near + 64, len(text))):
        if _WIDTHS[text[column - 1]] and _WIDTHS[text[column]]:
            return column
    return min(near, len(text))


def widest_possible(text: str) -> int:
    """Return an upper limit for the cells of a text, without measuring it."""
    if text.isascii():
        return len(text) + (TAB_SIZE - 1) * text.count("\t")
    return TAB_SIZE * len(text)


def wrap(text: str, width: int) -> list[int]:
    """Return the columns where a line continues on the next row of `width` cells.

    A row ends before a space if possible, because the space mostly belongs to the token of the word after it.
    """
    breaks: list[int] = []
    if len(text) <= width and widest_possible(text) <= width:
        return breaks
    start = 0
    end = _row_end(text, start, width)
    while end < len(text):
        last_space = text.rfind(" ", start + 1, end + 1)
        last_tab = text.rfind("\t", start + 1, end + 1)
        space = max(last_space, last_tab)
        if space > start and not text[start:space].isspace():
            end = space
        breaks.append(end)
        start = end
        end = _row_end(text, start, width)
    return breaks


def _row_end(text: str, start: int, width: int) -> int:
    """Return the column up to which the text from `start` fits a row; at least one cluster."""
    size = width + 32
    while True:
        layout = lay_out.__wrapped__(text[start : start + size])
        if layout.width > width:
            return start + layout.starts[max(bisect_right(layout.cells, width) - 1, 1)]
        if start + size >= len(text):
            return len(text)
        size *= 2


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
