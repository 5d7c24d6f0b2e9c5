"""A fact as a line of its column: lead, left and right, cut to the column's cells."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from tui.drawing.columns import fit
from tui.drawing.info_lines import Fact


def fact_strip(fact: Fact, width: int, ink: Callable[[str], Style], console: Console) -> Strip:
    """The fact in `width` cells, one of them free at either end; `ink` gives the column's styles by name."""
    text = ink("text")
    room = max(0, width - 2 - cell_len(fact.lead) - (cell_len(fact.right) + 1 if fact.right else 0))
    segments = [Segment(" ", text), Segment(fact.lead, ink("lines" if fact.ink == "text" else fact.ink))]
    if isinstance(fact.left, Text):
        left = fact.left.copy()
        left.truncate(room, overflow="ellipsis", pad=True)
        segments += Segment.apply_style(left.render(console), ink(fact.ink))
    else:
        segments.append(Segment(fit(fact.left, room), ink(fact.ink)))
    segments.append(Segment(" " + fact.right if fact.right else "", ink("muted")))
    return Strip(segments).adjust_cell_length(width, text)
