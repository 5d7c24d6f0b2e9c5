"""A curve in a plot of cells: which step is where on its axis, which characters are drawn, where numbers have room."""

from collections.abc import Iterator, Sequence
from math import expm1, log1p
from typing import Final, NamedTuple

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
        """Where a step is."""
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
