"""What one sees of a text and how wide it is: grapheme clusters, their glyphs and their cells.

A row is measured here and nowhere else: the drawing, the cursor, the mouse and the wrapping all ask the same
`Layout`, so they cannot disagree. Three rules keep a terminal in step with it:

* a control character, or one that shows nothing, is drawn as one visible glyph (`bpe_core.visible.CONTROLS`);
* a cluster is as wide as rich says its glyph is, for that is what Textual crops and pads by, and at least one cell;
* a zero width joiner is drawn only inside an emoji, where it changes nothing about the width.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from bpe_core.visible import CONTROLS

if TYPE_CHECKING:
    import regex

TAB_SIZE: Final = 4  # cells between tab stops
_JOINER: Final = "\u200d"
_MOST_DRAWN: Final = 32  # code points of one cluster: a letter under a thousand accents must not paint over others

CLUSTER: Final = r"\X"
_JOINED_EMOJI: Final = r"\p{ExtPict}\p{GCB=Extend}*+(?:\u200d\p{ExtPict}\p{GCB=Extend}*+)+"
_JOINING: Final = r"[\p{GCB=Extend}\p{GCB=ZWJ}\p{GCB=SpacingMark}\p{GCB=Prepend}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}]"
"""Characters that may be in one cluster with a neighbour. A text without any has one cluster a character."""
_MARK: Final = r"(?V1)[\p{M}--\p{Variation_Selector}]"

_SPACES: Final = {0x20: "·", 0xA0: "⍽"}


@cache
def compiled(pattern: str) -> "regex.Pattern[str]":
    """A pattern, compiled when a text first asks for it: one of plain characters is drawn without `regex`."""
    import regex

    return regex.compile(pattern)


class _Widths(dict[str, int]):
    """Character -> cells, for those that are always a cluster of their own; 0 for the others. Filled as asked."""

    def __missing__(self, character: str) -> int:
        joins = character == "\t" or not (character.isascii() or compiled(_JOINING).match(character) is None)
        self[character] = width = 0 if joins else cell_len(character.translate(CONTROLS))
        return width


_WIDTHS: Final = _Widths()


@dataclass(frozen=True, slots=True)
class Layout:
    """A stretch of one line, laid out in cells. Columns are code points, counted from the start of the stretch."""

    starts: Sequence[int]  # the column where each cluster begins, and at last the stretch's length
    cells: Sequence[int]  # the cell where each cluster begins, and at last the width of the whole
    glyphs: Sequence[str]  # what is drawn for each cluster, exactly as wide as its cells

    @property
    def width(self) -> int:
        """Cells of the whole stretch."""
        return self.cells[-1]

    def cluster(self, column: int) -> int:
        """The index of the cluster that holds a column; the number of clusters for the end and beyond."""
        if isinstance(self.starts, range):
            return min(column, len(self.glyphs))
        return bisect_right(self.starts, column) - 1 if column < self.starts[-1] else len(self.glyphs)

    def first_from(self, column: int) -> int:
        """The index of the first cluster that begins at a column or after it."""
        return bisect_left(self.starts, column, 0, len(self.glyphs))

    def cell(self, column: int) -> int:
        """The cell where the cluster holding a column begins; the width for the end."""
        return self.cells[self.cluster(column)]

    def column(self, cell: int) -> int:
        """The column where the cluster covering a cell begins; the length when the cell lies beyond."""
        return self.starts[min(bisect_right(self.cells, max(cell, 0)) - 1, len(self.glyphs))]


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
    """Lay out a stretch of a line without line breaks.

    Args:
        phase: the cell, modulo `TAB_SIZE`, at which the stretch begins.
        spaces: draw spaces and tabs as glyphs too.
    """
    return _lay_out(text, phase, spaces)


def _lay_out(text: str, phase: int = 0, spaces: bool = False) -> Layout:
    columns = range(len(text) + 1)
    if narrow(text):
        return Layout(columns, columns, _drawn(text, spaces))
    widths = list(map(_WIDTHS.__getitem__, text))
    if 0 not in widths:
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
    return sum(widths) if 0 not in widths else _lay_out(text, phase).width


def border(text: str, near: int) -> int:
    """A column at `near` or a little after it where the text may be cut without cutting a cluster."""
    for column in range(near, min(near + 64, len(text))):
        if _WIDTHS[text[column - 1]] and _WIDTHS[text[column]]:
            return column
    return min(near, len(text))


def wrap(text: str, width: int) -> tuple[int, ...]:
    """The columns at which a line goes on in the next row of `width` cells.

    A row ends before a space where it can: the space mostly belongs to the token of the word after it.
    """
    breaks: list[int] = []
    start = 0
    while (fits := _fitting(text, start, width)) < len(text):
        space = max(text.rfind(" ", start + 1, fits + 1), text.rfind("\t", start + 1, fits + 1))
        start = space if space > start and not text[start:space].isspace() else fits
        breaks.append(start)
    return tuple(breaks)


def _fitting(text: str, start: int, width: int) -> int:
    """The column up to which the text from `start` fits a row; at least one cluster."""
    size = width + 32
    while True:
        part = text[start : start + size]
        if narrow(part):
            return start + min(len(part), max(width, 1))
        widths = list(map(_WIDTHS.__getitem__, part))
        starts: Sequence[int] = range(len(part) + 1)
        cells: Sequence[int] = () if 0 in widths else [*accumulate(widths, initial=0)]
        if not cells:  # some are in one cluster with a neighbor
            layout = _lay_out(part)
            starts, cells = layout.starts, layout.cells
        if cells[-1] > width:
            return start + starts[max(bisect_right(cells, width) - 1, 1)]
        if start + size >= len(text):
            return len(text)
        size *= 2
