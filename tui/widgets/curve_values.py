"""The quantities that the curve can show, and lines drawn in braille, 2 × 4 dots per cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.visible import counted

if TYPE_CHECKING:
    from bpe_core.metrics import CurvePoint

_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of the dots of a braille cell, by row and column, added to U+2800."""


class Quantity(NamedTuple):
    """A number for each step."""

    text: Callable[[float], str]
    """Writes a value with its unit."""
    label: Callable[[float], str]
    """Writes a value at the edge of the plot."""
    of_point: Callable[[CurvePoint], float | None] | None = None
    """Takes the value from a point of the training; None if the lengths are enough."""


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "tokens": Quantity(lambda n: counted(int(n), "token"), "{:,.0f}".format),
    "ratio": Quantity("{:.2f} bytes/token".format, "{:.2f}".format),
    "saved": Quantity("{:,.0f} saved".format, "{:,.0f}".format),
    "use": Quantity(
        "{:.1%} used".format, "{:.0%}".format, lambda point: point.utilization
    ),
    "efficiency": Quantity(
        "Rényi {:.3f}".format, "{:.2f}".format, lambda point: point.renyi_efficiency
    ),
}
"""The quantities, in the order in which the user goes through them."""


def values(
    name: str, lengths: Sequence[float], n_bytes: float, points: Sequence[CurvePoint]
) -> list[float]:
    """Return the quantity `name` for each step from 0; empty if it is not known.

    `lengths` are in tokens; `n_bytes` is the size of the corpus, 0 if not known.

    >>> values("saved", [11, 9, 7], 11, []), values("ratio", [11, 5], 11, [])
    ([2.0, 2.0, 2.0], [1.0, 2.2])
    """
    of_point = QUANTITIES[name].of_point
    if of_point is not None:
        measured = (of_point(point) for point in points)
        known = [value for value in measured if value is not None]
        return known if len(known) == len(lengths) else []
    if name == "ratio":
        if not n_bytes or not all(lengths):
            return []
        return [n_bytes / length for length in lengths]
    if name == "saved":
        saved = [float(before - after) for before, after in pairwise(lengths)]
        return [*saved[:1], *saved]
    return [float(length) for length in lengths]


def braille(depths: Sequence[float], width: int, height: int) -> list[str]:
    """Draw a line through `depths` in `height` rows of `width` cells.

    Each depth is for one column of dots: 0 is the top, 1 the bottom. Fewer than `2 * width` depths leave the right
    blank. Empty cells are spaces.

    >>> braille([0, 0.3, 0.6, 1], 3, 1)
    ['⠑⢄ ']
    """
    cells = [[0] * width for _ in range(height)]
    lowest = 4 * height - 1
    before: int | None = None
    for column, depth in enumerate(depths[: 2 * width]):
        level = round(depth * lowest)
        first = last = level
        # Fill the dots between two columns, so that a steep line does not break into points.
        if before is not None and before < level:
            first = before + 1
        elif before is not None and before > level:
            last = before - 1
        for dot in range(first, last + 1):
            cells[dot // 4][column // 2] |= _DOTS[dot % 4][column % 2]
        before = level
    return [
        "".join(chr(0x2800 + bits) if bits else " " for bits in row) for row in cells
    ]
