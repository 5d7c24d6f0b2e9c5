"""Numbers drawn in cells: bars, values on a line, a shape, and a training's curve with its axis. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, expm1, log1p
from typing import TYPE_CHECKING, Final, NamedTuple

from bpe_core.plurals import counted

if TYPE_CHECKING:
    from bpe_core.metrics.training_curve import CurvePoint


_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def bar(value: float, most: float, width: int) -> str:
    """A bar of `width` cells, filled as far as `value` is of `most`; what is not nothing is seen.

    >>> bar(3, 4, 4), bar(1, 1000, 4), bar(0, 4, 4)
    ('███ ', '▏   ', '    ')
    """
    eighths = min(8 * width, ceil(8 * width * value / most)) if most > 0 else 0
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


UNDER: Final = "○"
"""Marks what is of the other training."""


class StepAxis(NamedTuple):
    """Steps from 0 on, at places from 0 to 1."""

    last: int
    """The step at the end."""
    is_logarithmic: bool
    """Whether the first steps have more room than the last."""

    def step_at(self, place: float) -> int:
        """The step at a place.

        >>> StepAxis(100, False).step_at(0.5), StepAxis(100, True).step_at(0.5)
        (50, 9)
        """
        return round(expm1(place * log1p(self.last)) if self.is_logarithmic else place * self.last)

    def place_of(self, step: int) -> float:
        last = max(1, self.last)
        return log1p(step) / log1p(last) if self.is_logarithmic else step / last

    def samples(self, n: int) -> list[int]:
        """The steps under `n` equally spaced places."""
        return [min(self.last, self.step_at(place / max(1, n - 1))) for place in range(n)]

    def column(self, step: int, width: int) -> int:
        """The cell that a step is in, of `width` cells of two dots each."""
        return round(self.place_of(step) * (2 * width - 1)) // 2


class CurvePlot(NamedTuple):
    """What is drawn, cell by cell."""

    lines: list[str]
    """The curve in braille, blank where it is not."""
    under: list[str]
    """That of the other training."""
    column: int
    """That of the step in force."""
    line: int | None
    """Where the curve is at that step."""
    line_under: int | None
    """Where the other one is then; None where it has no such step."""
    crosshair: int | None
    """The column of an upright line through both curves."""

    def cells(self, y: int) -> Iterator[tuple[str, str]]:
        """The characters of a line and the ink of each."""
        for x, (own, other) in enumerate(zip(self.lines[y], self.under[y], strict=True)):
            ink = "line" if x <= self.column else "later"
            if x == self.column and y == self.line:
                yield "●", "step"
            elif x == self.column and y == self.line_under:
                yield UNDER, "under"
            elif own == other == " ":
                yield ("│" if x == self.crosshair else " "), "label"
            else:
                yield (own, ink) if own != " " else (other, "under")

    def _is_free(self, y: int, width: int) -> bool:
        """Whether nothing is drawn in the last cells of a line."""
        start = len(self.lines[y]) - width
        is_blank = all(lines[y][start:].isspace() for lines in (self.lines, self.under))
        return start > 0 and is_blank and not (self.column >= start and y in (self.line, self.line_under))

    def places_of(self, notes: Sequence[str]) -> dict[int, str]:
        """Line -> the note at its right end: all of them above the curves, or below; empty where there is no room."""
        last = len(self.lines)
        for first in (0, last - len(notes)):
            lines = dict(zip(range(first, last), notes, strict=False))
            if len(lines) == len(notes) and all(self._is_free(y, len(note)) for y, note in lines.items()):
                return lines
        return {}


_HEIGHTS: Final = " ▁▂▃▄▅▆▇█"
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


def shape(amounts: Mapping[int, int], last: int) -> str:
    """Bars for the amounts of 1 to `last`, those beyond it counted with `last`; the greatest is a whole cell.

    >>> shape({1: 4, 2: 8, 9: 1}, 4)
    '▄█ ▁'
    """
    heights = [amounts.get(place, 0) for place in range(1, last)]
    heights.append(sum(n for place, n in amounts.items() if place >= last))
    most = max(heights) or 1
    return "".join(_HEIGHTS[min(8, -(-8 * n // most))] for n in heights)


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


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number for each step of a training."""

    text: Callable[[float], str]
    """A value for a person, with its unit."""
    label: Callable[[float], str]
    """A value at the edge of the plot."""
    is_logarithmic: bool = False
    """Whether it is drawn on a logarithmic scale."""
    of_point: "Callable[[CurvePoint], float | None] | None" = None
    """The value of a point of the whole curve; None where lengths are enough."""


QUANTITIES: Final[Mapping[str, Quantity]] = {
    "tokens": Quantity(lambda n: counted(int(n), "token"), lambda n: f"{n:,.0f}"),
    "ratio": Quantity(lambda n: f"{n:.2f} bytes/token", lambda n: f"{n:.2f}"),
    "saved": Quantity(lambda n: f"{n:,.0f} saved", lambda n: f"{n:,.0f}", is_logarithmic=True),
    "use": Quantity(lambda n: f"{n:.1%} used", lambda n: f"{n:.0%}", of_point=lambda point: point.utilization),
    "efficiency": Quantity(
        lambda n: f"Rényi {n:.3f}", lambda n: f"{n:.2f}", of_point=lambda point: point.renyi_efficiency
    ),
}
"""In the order in which they take turns."""


def values(name: str, lengths: Sequence[int], n_bytes: int, points: Sequence["CurvePoint"]) -> list[float]:
    """A value for each step, that before the first merge first; empty where the quantity is not known.

    `lengths` are those of the corpus in tokens, `n_bytes` its size, 0 if that is not known.

    >>> values("saved", [11, 9, 7], 11, []), values("ratio", [11, 5], 11, [])
    ([2.0, 2.0, 2.0], [1.0, 2.2])
    """
    of_point = QUANTITIES[name].of_point
    if of_point is not None:
        known = [value for value in map(of_point, points) if value is not None]
        return known if len(known) == len(lengths) else []
    if name == "ratio":
        return [n_bytes / length for length in lengths] if n_bytes and all(lengths) else []
    if name == "saved":
        saved = [float(before - after) for before, after in pairwise(lengths)]
        return [*saved[:1], *saved]
    return list(map(float, lengths))


def depth(name: str, value: float, least: float, most: float) -> float:
    """How far down from the greatest value to the least a value stands, 0 to 1."""
    if QUANTITIES[name].is_logarithmic:
        value, least, most = (log1p(max(0.0, number)) for number in (value, least, most))
    return (most - value) / (most - least) if most > least else 0.0
