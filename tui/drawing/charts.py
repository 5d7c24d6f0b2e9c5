"""Charts in one line of text: bars, values on a scale, and histograms."""

from collections.abc import Mapping, Sequence
from math import ceil

from bpe_core.weighted import Measure
from tui.state import LETTERS


def bar(value: Measure, most: Measure, width: int) -> str:
    """Draw a bar of `width` cells for a value from 0 to `most`; a value above 0 is always visible.

    >>> bar(3, 4, 4), bar(1, 1000, 4), bar(0, 4, 4)
    ('███ ', '▏   ', '    ')
    """
    eighths = 0
    if most > 0:
        eighths = min(8 * width, ceil(8 * width * value / most))
    whole, rest = divmod(eighths, 8)
    cells = "█" * whole
    if rest:
        cells += "▏▎▍▌▋▊▉"[rest - 1]
    return cells.ljust(width)


def placed(values: Sequence[float], least: float, most: float, width: int) -> str:
    """Place a letter for each value on a line of `width` cells from `least` to `most`.

    ● marks a cell with several letters.

    >>> placed([1.0, 3.0, 4.0], 0.0, 4.0, 9), placed([1.0, 1.0], 1.0, 1.0, 5)
    ('··A···B·C', '··●')
    """
    if width < 1:
        return ""
    cells = [" "] * width
    for letter, value in zip(LETTERS, values, strict=False):
        share = (value - least) / (most - least) if most > least else 0.5
        cell = round(min(1.0, max(0.0, share)) * (width - 1))
        cells[cell] = letter if cells[cell] == " " else "●"
    return "".join(cells).rstrip().replace(" ", "·")


def histogram(amounts: Mapping[int, int], last: int) -> str:
    """Draw a histogram of the amounts for 1 to `last`; larger keys count as `last`.

    >>> histogram({1: 4, 2: 8, 9: 1}, 4)
    '▄█ ▁'
    """
    heights = [0] * last
    for key, amount in amounts.items():
        heights[min(key, last) - 1] += amount
    return columns(heights, 1)[0]


def columns(amounts: Sequence[Measure], height: int, empty: str = " ") -> list[str]:
    """Draw a column for each amount, in `height` rows. An amount above 0 is always visible.

    The cell at the foot of an empty column is `empty`.

    >>> columns([4, 8, 0, 1], 1), columns([1, 3, 0], 2, "·")
    (['▄█ ▁'], [' █ ', '▆█·'])
    >>> columns([4, 8, 0, 1], 0)
    []
    """
    if height < 1:
        return []
    highest = max(amounts, default=0) or 1
    eighths = [ceil(8 * height * amount / highest) for amount in amounts]
    rows = []
    for row in reversed(range(height)):
        cells = [min(max(amount - 8 * row, 0), 8) for amount in eighths]
        rows.append("".join(" ▁▂▃▄▅▆▇█"[cell] for cell in cells))
    feet = zip(rows[-1], eighths, strict=True)
    rows[-1] = "".join(cell if amount else empty for cell, amount in feet)
    return rows
