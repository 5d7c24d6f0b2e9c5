"""Grapheme clusters: how they are drawn, how many cells they take, and where a line of them is wrapped.

Drawing, cursor, mouse and wrapping all use the same `Layout`, so they cannot disagree. Three rules keep a terminal in
step with it:

* a control character, or an invisible one, is drawn as one visible glyph (`bpe_core.visible.CONTROLS`);
* a cluster is as wide as rich measures its glyph, because Textual crops and pads by that, and at least one cell;
* a zero width joiner is drawn only inside an emoji, where it does not change the width.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from bpe_core.visible import CONTROLS

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
