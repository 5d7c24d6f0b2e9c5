"""Bars of a line of text, exact to an eighth of a cell."""

from math import ceil
from typing import Final

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def bar(value: float, most: float, width: int) -> str:
    """A bar of `width` cells, filled as far as `value` is of `most`; what is not nothing is seen.

    >>> bar(3, 4, 4), bar(1, 1000, 4), bar(0, 4, 4)
    ('███ ', '▏   ', '    ')
    """
    eighths = min(8 * width, ceil(8 * width * value / most)) if most > 0 else 0
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)
