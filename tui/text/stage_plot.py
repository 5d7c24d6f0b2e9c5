"""The plot of the stage: how many tokens a text has after each merge, as an area."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import ceil, expm1, log1p
from typing import Final, NamedTuple

from rich.style import Style
from rich.text import Text

from bpe_core.visible import counted

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
"""A cell that is filled from below, by eighths."""
_MOST_TICKS: Final = 7


class Point(NamedTuple):
    """How many tokens the text has after a step."""

    step: int
    n_tokens: int


class StagePlot:
    """Draws the tokens of a text by the number of merges, on a logarithmic scale.

    On this scale the plot grows evenly while the merges are shown faster and faster.
    """

    def __init__(
        self,
        points: Sequence[Point],
        n_steps: int,
        width: int,
        height: int,
        ink: Callable[[str], Style],
    ) -> None:
        """Prepare a plot.

        Args:
            points: The steps that were shown, in their order.
            n_steps: The number of merges at the right edge.
            width: The cells of each row, with the labels.
            height: The rows of the area, without the axis.
            ink: Returns a style: of the "area", its "curve", a "label" or a "number".
        """
        self._points = points
        self._n_steps = n_steps
        self._height = height
        self._ink = ink
        self._most = max((point.n_tokens for point in points), default=0)
        self._left = len(f"{self._most:,}") + 2
        """The cells to the left of the area."""
        self._width = max(1, width - self._left)
        self._tops = self._find_tops()

    def rows(self) -> list[Text]:
        """Return the rows of the area, the axis and the ticks."""
        rows = [self._row(number) for number in range(self._height)]
        if self._tops:
            self._label_end(rows)
        axis = "0".rjust(self._left - 2) + " └" + "─" * self._width
        return [*rows, Text(axis, self._ink("label")), self._ticks()]

    def _find_tops(self) -> list[int]:
        """Return the height of each column up to the last step, in eighths of a row."""
        if not self._most or not self._n_steps:
            return []
        last = self._column(self._points[-1].step)
        scale = log1p(self._n_steps) / max(1, self._width - 1)
        shares = (
            self._tokens_at(expm1(column * scale)) / self._most
            for column in range(last + 1)
        )
        return [round(8 * self._height * share) for share in shares]

    def _column(self, step: int) -> int:
        return round(log1p(step) / log1p(self._n_steps) * (self._width - 1))

    def _tokens_at(self, step: float) -> float:
        """Return the tokens of the text after `step` merges, also between two steps that were shown."""
        after = bisect_right(self._points, step, key=lambda point: point.step)
        left = self._points[max(0, after - 1)]
        right = self._points[min(after, len(self._points) - 1)]
        n_between = right.step - left.step
        if not n_between:
            return left.n_tokens
        share = (step - left.step) / n_between
        return left.n_tokens + share * (right.n_tokens - left.n_tokens)

    def _row(self, number: int) -> Text:
        label = f"{self._most:,}" if self._most and not number else ""
        row = Text(f"{label:>{self._left - 2}} │", self._ink("label"))
        below = 8 * (self._height - 1 - number)
        # The tokens only become fewer, so the filled cells of a row come first.
        n_filled = sum(top > below + 8 for top in self._tops)
        edge = [_EIGHTHS[top - below] for top in self._tops[n_filled:] if top > below]
        row.append(" " * n_filled, self._ink("area"))
        row.append("".join(edge), self._ink("curve"))
        return row.append(" " * (self._width - n_filled - len(edge)))

    def _label_end(self, rows: list[Text]) -> None:
        """Write the number of tokens next to the end of the curve, or above it at the right edge."""
        text = f" {counted(self._points[-1].n_tokens, 'token')}"
        column = min(len(self._tops), self._width - len(text))
        highest = max(self._tops[column:], default=0)
        n_rows_below = ceil(highest / 8) if highest else self._tops[-1] // 8
        number = max(0, min(self._height - 1 - n_rows_below, self._height - 1))
        row = rows[number]
        before = row[: self._left + column]
        after = row[self._left + column + len(text) :]
        rows[number] = before.append(text, self._ink("number")).append(after)

    def _ticks(self) -> Text:
        """Write 0, the powers of ten and the number of merges below the axis."""
        if not self._n_steps:
            return Text()
        end = f"{counted(self._n_steps, 'merge')}"
        line = "0"
        for power in range(_MOST_TICKS):
            tick = f"{10**power:,}"
            column = self._column(10**power)
            if column + len(tick) + len(end) >= self._width:
                break
            if column > len(line):
                line = f"{line:<{column}}{tick}"
        line = f"{line:<{self._width - len(end)}}{end}"
        return Text(" " * self._left + line, self._ink("label"))
