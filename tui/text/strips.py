"""Rows of a text as Textual strips: its grapheme clusters, their glyphs and cells, and the looks of its tokens.

The drawing, the cursor, the mouse and the wrapping all ask the same `Layout`, so they cannot disagree. Three rules keep
a terminal in step with it:

* a control character, or one that shows nothing, is drawn as one visible glyph (`bpe_core.visible.CONTROLS`);
* a cluster is as wide as rich says its glyph is, for that is what Textual crops and pads by, and at least one cell;
* a zero width joiner is drawn only inside an emoji, where it changes nothing about the width.

All that decides how a row looks is in its `RowContent`; one that looks as it did before is found in a cache.
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

TAB_SIZE: Final = 4  # cells between tab stops
_JOINER: Final = "\u200d"
_MOST_DRAWN: Final = 32  # code points of one cluster: a letter under a thousand accents must not paint over others

CLUSTER: Final = r"\X"
_JOINED_EMOJI: Final = (
    r"\p{ExtPict}\p{GCB=Extend}*+(?:\u200d\p{ExtPict}\p{GCB=Extend}*+)+"
)
_JOINING: Final = r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}]"
"""Characters that may be in one cluster with a neighbour. A text without any has one cluster a character."""
_MARK: Final = r"(?V1)[\p{M}--\p{Variation_Selector}]"

_SPACES: Final = {0x20: "·", 0xA0: "⍽"}

NEWLINE: Final = "↵"  # drawn after a line whose newline belongs to a token

_COLOR: Final = 0xFF
_CHANGED, _CURRENT, _SHARED, _STAND_IN, _SELECTED, _CURSOR, _OPEN, _ALIKE = (
    1 << bit for bit in range(8, 16)
)

Columns = tuple[
    int, int
]  # from a column up to, not including, another; the newline's column is the row's length


@cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """A pattern, compiled when a text first asks for it: one of plain characters is drawn without `regex`."""
    import regex

    return regex.compile(pattern)


class _Widths(dict[str, int]):
    """Character -> cells, for those that are always a cluster of their own; 0 for the others. Filled as asked."""

    def __missing__(self, character: str) -> int:
        joins = character == "\t" or not (
            character.isascii() or compiled(_JOINING).match(character) is None
        )
        self[character] = width = (
            0 if joins else cell_len(character.translate(CONTROLS))
        )
        return width


_WIDTHS: Final = _Widths()


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of one line, laid out in cells. Columns are code points, counted from the start of the stretch."""

    starts: Sequence[
        int
    ]  # the column where each cluster begins, and at last the stretch's length
    cells: Sequence[
        int
    ]  # the cell where each cluster begins, and at last the width of the whole
    glyphs: Sequence[
        str
    ]  # what is drawn for each cluster, exactly as wide as its cells

    @property
    def width(self) -> int:
        return self.cells[-1]

    def cluster(self, column: int) -> int:
        """The index of the cluster that holds a column; the number of clusters for the end and beyond."""
        return (
            bisect_right(self.starts, column) - 1
            if column < self.starts[-1]
            else len(self.glyphs)
        )

    def cell(self, column: int) -> int:
        """The cell where the cluster holding a column begins; the width for the end."""
        return self.cells[self.cluster(column)]

    def column(self, cell: int) -> int:
        """The column where the cluster covering a cell begins; the length when the cell lies beyond."""
        return self.starts[
            min(bisect_right(self.cells, max(cell, 0)) - 1, len(self.glyphs))
        ]


@lru_cache(maxsize=1 << 14)
def glyph(cluster: str) -> tuple[str, int]:
    r"""(what is drawn, its cells) for one grapheme cluster; never nothing, never a control character.

    >>> glyph("\x1b"), glyph("e\u0301"), glyph("\u0301") == ("◌\u0301", 1)
    (('␛', 1), ('é', 1), True)
    """
    drawn = cluster[:_MOST_DRAWN].translate(CONTROLS)
    if _JOINER in drawn and not compiled(_JOINED_EMOJI).fullmatch(drawn):
        drawn = drawn.replace(_JOINER, "")
    if width := cell_len(drawn):
        return drawn, width
    return ("◌" + drawn, 1) if compiled(_MARK).search(drawn) else ("·", 1)


@lru_cache(maxsize=4096)
def lay_out(text: str, phase: int = 0, spaces: bool = False) -> Layout:
    """Lay out a stretch of a line that begins at cell `phase`, modulo `TAB_SIZE`; `spaces` and tabs as glyphs too."""
    columns = range(len(text) + 1)
    if narrow(text):
        return Layout(columns, columns, _drawn(text, spaces))
    if 0 not in (widths := list(map(_WIDTHS.__getitem__, text))):
        return Layout(columns, [0, *accumulate(widths)], _drawn(text, spaces))
    starts, cells, glyphs = [0], [0], []
    column, cell = 0, 0
    for cluster in compiled(CLUSTER).findall(text):
        if cluster == "\t":
            width = TAB_SIZE - (phase + cell) % TAB_SIZE
            drawn = ("⇥" if spaces else " ").ljust(width)
        else:
            drawn, width = glyph(cluster)
            drawn = drawn.translate(_SPACES) if spaces else drawn
        column += len(cluster)
        cell += width
        starts.append(column)
        cells.append(cell)
        glyphs.append(drawn)
    return Layout(starts, cells, glyphs)


def _drawn(text: str, spaces: bool) -> str:
    drawn = text if text.isascii() and text.isprintable() else text.translate(CONTROLS)
    return drawn.translate(_SPACES) if spaces else drawn


def narrow(text: str) -> bool:
    """True when every character is surely a cluster of its own of one cell: columns and cells are the same."""
    return text.isascii() and "\t" not in text


def measure(text: str, phase: int = 0) -> int:
    """The cells of a stretch of a line, without keeping its layout."""
    if narrow(text):
        return len(text)
    widths = list(map(_WIDTHS.__getitem__, text))
    return sum(widths) if 0 not in widths else lay_out.__wrapped__(text, phase).width


def border(text: str, near: int) -> int:
    """A column at `near` or a little after it where the text may be cut without cutting a cluster."""
    for column in range(near, min(near + 64, len(text))):
        if _WIDTHS[text[column - 1]] and _WIDTHS[text[column]]:
            return column
    return min(near, len(text))


def widest_possible(text: str) -> int:
    """A number of cells that a text cannot exceed, found without measuring it."""
    return (
        len(text) + (TAB_SIZE - 1) * text.count("\t")
        if text.isascii()
        else TAB_SIZE * len(text)
    )


def wrap(text: str, width: int) -> list[int]:
    """The columns at which a line goes on in the next row of `width` cells.

    A row ends before a space where it can: the space mostly belongs to the token of the word after it.
    """
    breaks: list[int] = []
    if len(text) <= width and widest_possible(text) <= width:
        return breaks
    start = 0
    while (fits := _fitting(text, start, width)) < len(text):
        space = max(
            text.rfind(" ", start + 1, fits + 1), text.rfind("\t", start + 1, fits + 1)
        )
        start = space if space > start and not text[start:space].isspace() else fits
        breaks.append(start)
    return breaks


def _fitting(text: str, start: int, width: int) -> int:
    """The column up to which the text from `start` fits a row; at least one cluster."""
    size = width + 32
    while True:
        layout = lay_out.__wrapped__(text[start : start + size])
        if layout.width > width:
            return start + layout.starts[max(bisect_right(layout.cells, width) - 1, 1)]
        if start + size >= len(text):
            return len(text)
        size *= 2


class RowToken(NamedTuple):
    """A token on a row, or several that share a character; columns are code points from the row's start."""

    start: int
    end: int
    color: int
    outside: Columns = (
        0,
        0,
    )  # how many code points of it stand before the row, and how many behind it
    inside: tuple[
        int, ...
    ] = ()  # the bytes of each of several tokens that share a character
    is_alike: bool = False  # whether the first lane has a token of the same borders; not said of its own

    @property
    def borders(self) -> tuple[object, ...]:
        """What two tokens at the same characters have in common."""
        return self.start, self.end, self.outside, self.inside


OnRow = tuple[
    tuple[RowToken, ...], tuple[Columns, ...]
]  # the tokens on a row, and its characters that several share
NOTHING: Final[OnRow] = ((), ())  # a row without tokens


class RowContent(NamedTuple):
    """What one row shows. Equal rows look the same."""

    text: str  # the characters of the row, without a newline; of a long line only those about to be seen
    tokens: tuple[RowToken, ...] = ()
    ends_line: bool = True  # whether the line ends here: then the cursor can stand behind it, and a newline is drawn
    shared: tuple[Columns, ...] = ()  # the characters that are made of several tokens
    changed: tuple[Columns, ...] = ()  # the stretches touched by the last edit
    current: Columns | None = None  # the token under the cursor
    selection: Columns | None = None
    cursor: int | None = (
        None  # the cursor's column; None when it is elsewhere or not to be seen
    )
    left: int = 0  # cells to leave out at the left
    phase: int = 0  # the cell, modulo the tab size, at which the text begins
    spaces: bool = False  # draw spaces and tabs as glyphs
    gutter: str = ""  # plain text that stands before the row, such as its number
    open: Columns | None = (
        None  # the tokens that whatever comes behind the text can still change
    )


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
    glyphs = (
        [*layout.glyphs, NEWLINE if paints[-1] & _COLOR else " "]
        if row.ends_line
        else layout.glyphs
    )
    cells = [*layout.cells, layout.width + 1] if row.ends_line else layout.cells
    left, right = row.left, row.left + width - len(row.gutter)
    segments, stop = [Segment(row.gutter, palette.gutter)] * bool(row.gutter), 0
    for paint, run in groupby(paints[: len(glyphs)]):
        first, stop = stop, stop + len(list(run))
        if cells[first] >= left and cells[stop] <= right:
            text = "".join(glyphs[first:stop])
        else:  # a glyph that is cut shows blanks
            text = "".join(
                glyphs[index]
                if left <= cells[index] and cells[index + 1] <= right
                else " " * (min(cells[index + 1], right) - max(cells[index], left))
                for index in range(first, stop)
            )
        if text:
            segments.append(Segment(text, _style(palette, paint)))
    return Strip(segments).extend_cell_length(width, palette.base)


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
    marks = [(stretch, _SHARED) for stretch in row.shared] + [
        (stretch, _CHANGED) for stretch in row.changed
    ]
    for stretch, mark in (
        *marks,
        (row.current, _CURRENT),
        (row.open, _OPEN),
        (row.selection, _SELECTED),
    ):
        first, stop = _clusters(layout, *stretch) if stretch else (0, 0)
        for index in range(first, stop):
            if paints[index] or mark & _SELECTED:
                paints[index] |= mark
    if layout.glyphs != row.text:
        starts = layout.starts
        for index, glyph in enumerate(layout.glyphs):
            if (
                glyph != row.text[starts[index] : starts[index + 1]]
                and not glyph.isspace()
            ):
                paints[index] |= _STAND_IN
    if paints[-1]:
        paints[-1] |= _STAND_IN
    if row.cursor is not None:
        paints[layout.cluster(row.cursor)] |= _CURSOR
    return paints


def _clusters(layout: Layout, start: int, end: int) -> tuple[int, int]:
    """The clusters that begin in a stretch of columns, the newline counted as one behind the last."""
    length, count = layout.starts[-1], len(layout.glyphs)
    first = bisect_left(layout.starts, start, 0, count)
    return first, count + 1 if end > length else bisect_left(
        layout.starts, end, 0, count
    )


@lru_cache(maxsize=4096)
def _style(palette: Palette, paint: int) -> Style:
    style = palette.base
    if color := paint & _COLOR:
        ways = palette.tokens[(color - 1) % len(palette.tokens)]
        usual = ways.alike if paint & _ALIKE else ways.usual
        style += (
            ways.current
            if paint & _CURRENT
            else ways.changed
            if paint & _CHANGED
            else usual
        )
        if paint & _CURRENT and paint & _CHANGED:
            style += Style(bold=ways.changed.bold, italic=ways.changed.italic)
    if paint & _SHARED or (paint & _OPEN and palette.underlines):
        style += Style(underline=True)
    if paint & _STAND_IN:
        style = muted(style)
    if paint & _SELECTED:
        style = (
            selected(style, palette.selection)
            if palette.blends
            else style + palette.selection
        )
    return style + palette.cursor if paint & _CURSOR else style
