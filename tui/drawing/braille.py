"""A curve in braille characters, two dots wide and four high each, and a one-line form of it in blocks. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a character, by row and column, above U+2800."""
_BLOCKS: Final = "▁▂▃▄▅▆▇█"


def braille(depths: Sequence[float], width: int, height: int) -> list[str]:
    """`height` lines of `width` cells with a line through `depths`: 0 is the top, 1 the bottom, one depth a dot column.

    Fewer than `2 * width` depths leave the right of the lines blank. Empty cells are spaces.

    >>> braille([0, 0.3, 0.6, 1], 3, 1)
    ['⠑⢄ ']
    """
    cells = [[0] * width for _ in range(height)]
    levels = [round(depth * (4 * height - 1)) for depth in depths[: 2 * width]]
    for column, (before, level) in enumerate(pairwise([*levels[:1], *levels])):
        # Steeper than one dot a column, the line is drawn on upright, so that it does not break into points.
        first, last = sorted((level, before + (level > before) - (level < before)))
        for dot in range(first, last + 1):
            cells[dot // 4][column // 2] |= _DOTS[dot % 4][column % 2]
    return ["".join([chr(0x2800 + bits) if bits else " " for bits in line]) for line in cells]


def blocks(depths: Sequence[float]) -> str:
    """One block for each depth: the highest for 0, the lowest for 1.

    >>> blocks([0, 0.5, 1])
    '█▅▁'
    """
    return "".join([_BLOCKS[round((1 - depth) * (len(_BLOCKS) - 1))] for depth in depths])
