"""A line of a narrow column: something at the left, a number or a name at the right edge."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from tui.drawing.cells import fit

STYLES: Final = ("token", "text", "muted", "lines", "accent", "warning")
"""The styles that a column has."""


@dataclass(frozen=True, slots=True)
class InfoLine:
    """A line of such a column."""

    left: str | Text = ""
    """Text with styles of its own is drawn in these."""
    right: str = ""
    ink: str = "text"
    """Which of the column's styles `left` has."""
    lead: str = ""
    """Drawn before `left`: a box line, a mark, an indent."""


def info_strip(line: InfoLine, width: int, ink: Callable[[str], Style], console: Console) -> Strip:
    """A line in `width` cells, one of them free at either end; `ink` gives the column's styles by name."""
    text = ink("text")
    room = max(0, width - 2 - cell_len(line.lead) - (cell_len(line.right) + 1 if line.right else 0))
    segments = [Segment(" ", text), Segment(line.lead, ink("lines" if line.ink == "text" else line.ink))]
    if isinstance(line.left, Text):
        left = line.left.copy()
        left.truncate(room, overflow="ellipsis", pad=True)
        segments += Segment.apply_style(left.render(console), ink(line.ink))
    else:
        segments.append(Segment(fit(line.left, room), ink(line.ink)))
    segments.append(Segment(" " + line.right if line.right else "", ink("muted")))
    return Strip(segments).adjust_cell_length(width, text)
