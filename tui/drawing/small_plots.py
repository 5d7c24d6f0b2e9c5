"""Small drawings of numbers in the cells of a row: where some values lie on one line, and the shape of a distribution.

Pure; knows no widget.
"""

from collections.abc import Mapping, Sequence
from typing import Final

_BARS: Final = " ▁▂▃▄▅▆▇█"
LETTERS: Final = "ABCD"
"""What the tokenizers that are compared are called, in their order."""


def placed(values: Sequence[float], most: float, width: int) -> str:
    """The letters of some values, each as far to the right in `width` cells as its value is large, of `most`.

    Where several fall on one cell, it is ●.

    >>> placed([1.0, 3.0, 4.0], 4.0, 9), placed([4.0, 4.0], 4.0, 5)
    ('··A···B·C', '····●')
    """
    if width < 1:
        return ""
    cells = [" "] * width
    last = 0
    for letter, value in zip(LETTERS, values, strict=False):
        place = min(width - 1, max(0, round(value / most * (width - 1)))) if most > 0 else 0
        cells[place] = letter if cells[place] == " " else "●"
        last = max(last, place)
    return "".join("·" if cell == " " else cell for cell in cells[: last + 1])


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
    places = [min(1.0, max(-1.0, (ratio - 1) / most)) * middle if most > 0 else 0.0 for ratio in ratios]
    for letter, place in zip(LETTERS[1:], places, strict=False):
        cell = min(width - 1, middle + round(place))
        cells[cell] = letter if cells[cell] == " " else "●"
        for between in range(min(cell, middle), max(cell, middle)):
            cells[between] = "·" if cells[between] == " " else cells[between]
    cells[middle] = "│"
    return "".join(cells).rstrip()


def shape(amounts: Mapping[int, int], first: int, last: int) -> str:
    """Bars for the amounts of `first` to `last`, those beyond it counted with `last`; the greatest is a whole cell.

    >>> shape({1: 4, 2: 8, 9: 1}, 1, 4)
    '▄█ ▁'
    """
    heights = [amounts.get(place, 0) for place in range(first, last)]
    heights.append(sum(n for place, n in amounts.items() if place >= last))
    most = max(heights) or 1
    return "".join(_BARS[min(8, -(-8 * n // most))] for n in heights)
