"""A line of choices, one of them chosen: where each stands, and the line as it is drawn. Pure.

Where there is no room for all up to the chosen one, those before it give way; those behind it are cut by an ellipsis.
"""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from tui.drawing.columns import fit

Titles = Sequence[tuple[str, str]]
"""(key, title) of each choice."""


def choice_places(titles: Titles, chosen: str, width: int) -> Iterator[tuple[int, str, str]]:
    """(cell, text, key) of each choice that a line of `width` cells begins to show.

    >>> list(choice_places([("", "all 300"), ("rare", "rare 7"), ("unused", "unused 2")], "unused", 24))
    [(1, 'rare 7', 'rare'), (10, 'unused 2', 'unused')]
    """
    at_chosen = next((place for place, (key, _) in enumerate(titles) if key == chosen), 0)
    first = 0
    while first < at_chosen and 1 + sum(cell_len(text) + 3 for _, text in titles[first : at_chosen + 1]) > width:
        first += 1
    x = 1
    for key, text in titles[first:]:
        yield x, text, key
        x += cell_len(text) + 3


def choice_at(titles: Titles, chosen: str, width: int, x: int) -> str | None:
    """The key of the choice at cell `x` of such a line; None between them."""
    places = choice_places(titles, chosen, width)
    return next((key for start, text, key in places if start <= x < start + cell_len(text)), None)


def choice_line(titles: Titles, chosen: str, width: int, style: Style, accent: Style) -> Iterator[Segment]:
    """The line in exactly `width` cells, the chosen one in `accent`."""
    x = 0
    for start, text, key in choice_places(titles, chosen, width):
        if start + cell_len(text) > width:
            yield Segment(fit(" · …", max(0, width - x)), style)
            return
        yield Segment(" " if x == 0 else " · ", style)
        yield Segment(text, accent if key == chosen else style)
        x = start + cell_len(text)
    yield Segment(fit("", max(0, width - x)), style)
