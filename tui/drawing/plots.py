"""Numbers drawn in cells: bars, values on a line, and a shape. Pure."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HEIGHTS: Final = " ▁▂▃▄▅▆▇█"
LETTERS: Final = "ABCD"  # what the tokenizers that are compared are called, in their order


def bar(value: float, most: float, width: int) -> str:
    """A bar of `width` cells, filled as far as `value` is of `most`; what is not nothing is seen.

    >>> bar(3, 4, 4), bar(1, 1000, 4), bar(0, 4, 4)
    ('███ ', '▏   ', '    ')
    """
    whole, rest = divmod(min(8 * width, ceil(8 * width * value / most)) if most > 0 else 0, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


def placed(values: Sequence[float], most: float, width: int) -> str:
    """The letters of some values, each as far to the right in `width` cells as its value is large, of `most`.

    Where several fall on one cell, it is ●.

    >>> placed([1.0, 3.0, 4.0], 4.0, 9), placed([4.0, 4.0], 4.0, 5)
    ('··A···B·C', '····●')
    """
    cells = [" "] * width
    for letter, value in zip(LETTERS, values if width > 0 else (), strict=False):
        place = min(width - 1, max(0, round(value / most * (width - 1)))) if most > 0 else 0
        cells[place] = letter if cells[place] == " " else "●"
    return "".join(cells).rstrip().replace(" ", "·")


def beside(ratios: Sequence[float], most: float, width: int) -> str:
    """The letters from B on, each as far to the right or left of a line in the middle, which is A, as its ratio to A is
    above or below 1; the ends of the `width` cells stand for 1 + `most` and 1 - `most`.

    >>> beside([1.5, 0.75], 0.5, 9), beside([1.0], 0.0, 5)
    ('  C·│···B', '  │')
    """
    if width < 1:
        return ""
    middle = width // 2
    cells = [" "] * width
    for letter, ratio in zip(LETTERS[1:], ratios, strict=False):
        place = min(1.0, max(-1.0, (ratio - 1) / most)) * middle if most > 0 else 0.0
        cell = min(width - 1, middle + round(place))
        cells[cell] = letter if cells[cell] == " " else "●"
        for between in range(min(cell, middle), max(cell, middle)):
            cells[between] = "·" if cells[between] == " " else cells[between]
    cells[middle] = "│"
    return "".join(cells).rstrip()


def shape(amounts: Mapping[int, int], last: int) -> str:
    """Bars for the amounts of 1 to `last`, those beyond it counted with `last`; the greatest is a whole cell.

    >>> shape({1: 4, 2: 8, 9: 1}, 4)
    '▄█ ▁'
    """
    heights = [amounts.get(place, 0) for place in range(1, last)]
    heights.append(sum(n for place, n in amounts.items() if place >= last))
    most = max(heights) or 1
    return "".join(_HEIGHTS[min(8, -(-8 * n // most))] for n in heights)
