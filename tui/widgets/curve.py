"""Curve: how long the sequence is after each merge, drawn in braille, eight dots to a cell.

However many steps there are, a drawing looks at two of them per cell of its width, so growing costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from math import expm1, log1p
from operator import itemgetter
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.visible import counted, shortened
from bpe_core.weighted import Count
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import INK_CLASSES, ink_of
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from bpe_core.metrics import CurvePoint
    from tui.state import RunCurve

_UNDER: Final = "○"  # marks what is of the other training
_DOTS: Final = (
    (0x01, 0x08),
    (0x02, 0x10),
    (0x04, 0x20),
    (0x40, 0x80),
)  # bits by row and column, above U+2800


class Quantity(NamedTuple):
    """A number for each step: how it is written for a person, and at the edge of the plot.

    `of_point` takes it from a point of the whole curve; None where lengths are enough.
    """

    text: Callable[[float], str]
    label: Callable[[float], str]
    of_point: Callable[[CurvePoint], float | None] | None = None


QUANTITIES: Final[Mapping[str, Quantity]] = {  # in the order in which they take turns
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


def values(
    name: str, lengths: Sequence[float], n_bytes: float, points: Sequence[CurvePoint]
) -> list[float]:
    """A value for each step, that before the first merge first; empty where the quantity is not known.

    `lengths` are those of the corpus in tokens, `n_bytes` its size, 0 if that is not known.

    >>> values("saved", [11, 9, 7], 11, []), values("ratio", [11, 5], 11, [])
    ([2.0, 2.0, 2.0], [1.0, 2.2])
    """
    if of_point := QUANTITIES[name].of_point:
        known = [value for value in map(of_point, points) if value is not None]
        return known if len(known) == len(lengths) else []
    if name == "ratio":
        return (
            [n_bytes / length for length in lengths] if n_bytes and all(lengths) else []
        )
    if name == "saved":
        saved = [float(before - after) for before, after in pairwise(lengths)]
        return [*saved[:1], *saved]
    return list(map(float, lengths))


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
    return [
        "".join([chr(0x2800 + bits) if bits else " " for bits in line])
        for line in cells
    ]


class Curve(HasCommands, Widget, can_focus=True):
    """Sequence length against steps; the steps in force in the accent color, later ones faint.

    Where there is little room it is `_narrow`, labels above and below the plot.
    """

    COMPONENT_CLASSES = INK_CLASSES
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Curve")

    hint: var[str] = var(
        "The corpus after each merge; ● is the step in force, m shows another quantity.",
        init=False,
    )
    step: reactive[int] = reactive(0)  # how many merges are in force
    logarithmic: reactive[bool] = reactive(
        False
    )  # whether the step axis is logarithmic
    quantity: var[str] = var(
        "tokens", init=False
    )  # what is drawn: a name of `QUANTITIES`
    under: var[RunCurve | None] = var(
        None, init=False
    )  # another training, whose curve is drawn under this one

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        # Tokens in the corpus before the first merge, and after each.
        self._lengths = [0.0]
        self._n_bytes = 0.0
        self._drawn: Sequence[float] = (
            self._lengths
        )  # the values of the quantity, by step
        self._drawn_under: Sequence[
            float
        ] = ()  # those of the other training, as far as they are known
        self._least = self._most = 0.0
        self.points: Callable[[], Sequence[CurvePoint]] = (
            tuple  # the whole curve of the training; takes a moment
        )
        self._cached: tuple[tuple[object, ...], list[list[str]]] = (
            (),
            [],
        )  # what was drawn last, and of what

    def clear(self, n_tokens: Count = 0, n_bytes: Count = 0) -> None:
        """Only the length before the first merge; `n_bytes` is the size of the corpus, 0 where that is not known."""
        self._lengths = [float(n_tokens)]
        self._n_bytes = float(n_bytes)
        self._draw("tokens", self._lengths)

    def append(self, lengths: Iterable[Count]) -> None:
        """The lengths after further merges. Merges only make a text shorter, but any numbers can be drawn."""
        start = len(self._lengths)
        self._lengths.extend(map(float, lengths))
        if self.quantity == "tokens":
            new = [self._least, self._most, *self._lengths[start:]]
            self._least, self._most = min(new), max(new)
        else:
            drawn = values(self.quantity, self._lengths, self._n_bytes, ())
            self._draw(
                *((self.quantity, drawn) if drawn else ("tokens", self._lengths))
            )
        self.refresh()

    def _draw(self, quantity: str, drawn: Sequence[float]) -> None:
        self.quantity = quantity
        self._drawn = drawn
        other = self.under
        lengths = [float(point.n_tokens) for point in other.points] if other else []
        self._drawn_under = (
            values(quantity, lengths, other.n_bytes, other.points) if other else ()
        )
        self._least, self._most = (
            min(chain(drawn, self._drawn_under)),
            max(chain(drawn, self._drawn_under)),
        )
        self._cached = (), []
        self.watch_step()
        self.refresh()

    def watch_step(self) -> None:
        if self._last:
            other = (
                f", {_UNDER} {self._value_under} {self.under.name}"
                if self.under and self._drawn_under
                else ""
            )
            self.hint = f"● {self._numbers}{other}; m shows another quantity."

    def watch_under(self, other: RunCurve | None) -> None:
        # Draw it; where it is of other texts, what can be compared with it is the compression, and not the length.
        ratios = values("ratio", self._lengths, self._n_bytes, ())
        if (
            other
            and ratios
            and self.quantity == "tokens"
            and other.n_bytes != self._n_bytes
        ):
            self._draw("ratio", ratios)
        else:
            self._draw(self.quantity, self._drawn)

    async def action_show_next(self) -> None:
        names = [*QUANTITIES, *QUANTITIES]
        here, lengths = names.index(self.quantity) + 1, self._lengths
        for name in names[here : here + len(QUANTITIES)]:
            points = await in_thread(self.points) if QUANTITIES[name].of_point else ()
            if lengths is self._lengths and (
                drawn := values(name, lengths, self._n_bytes, points)
            ):
                self._draw(name, lengths if name == "tokens" else drawn)
                return

    def action_change_scale(self) -> None:
        self.logarithmic = not self.logarithmic

    def action_travel(self, by: int) -> None:
        here, dots = self._shown_step, 2 * max(1, self._track[1])
        there = (
            self._step_at(round(self._place_of(here) * dots + by) / dots),
            here + by,
        )
        self._choose(max(there) if by > 0 else min(there))

    def _choose(self, step: int) -> None:
        step = max(0, min(step, self._last))
        in_background(self, features_of(self).shown.travel_to(step))

    def on_click(self, event: events.MouseEvent) -> None:
        offset = event.get_content_offset(self)
        left, width = self._track
        if offset is not None and self._last and left <= offset.x < left + width:
            self._choose(self._step_at((offset.x - left) / max(1, width - 1)))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button:
            self.on_click(event)

    # Steps and places

    @property
    def _last(self) -> int:
        return len(self._lengths) - 1

    @property
    def _end(self) -> int:
        """Where the axis ends: at the last step, or at that of the other training where it has more."""
        return max(1, self._last, len(self._drawn_under) - 1)

    def _step_at(self, place: float) -> int:
        """The step at a place of the axis, 0 to 1; where it is logarithmic, the first have more room."""
        return min(
            self._end,
            round(
                expm1(place * log1p(self._end))
                if self.logarithmic
                else place * self._end
            ),
        )

    def _place_of(self, step: int) -> float:
        return log1p(step) / log1p(self._end) if self.logarithmic else step / self._end

    @property
    def _shown_step(self) -> int:
        """The step in force, as far as its length is known."""
        return max(0, min(self.step, self._last))

    @property
    def _edges(self) -> tuple[str, str]:
        label = QUANTITIES[self.quantity].label
        return label(self._most), label(self._least)

    @property
    def _narrow(self) -> bool:
        width, height = self.size
        return width < (40 if height >= 6 else max(20, max(map(len, self._edges)) + 12))

    @property
    def _track(self) -> tuple[int, int]:
        """First cell of the plot, behind the longer of both its labels between blanks, and its cells."""
        left = 1 if self._narrow else max(map(len, self._edges)) + 2
        return left, max(1, self.size.width - left - 1)

    # What is said

    @property
    def _numbers(self) -> str:
        step = self._shown_step
        return f"{QUANTITIES[self.quantity].text(self._drawn[step])} at step {step:,}"

    @property
    def _value_under(self) -> str:
        """What the other training had come to at the same step."""
        drawn, step = self._drawn_under, self._shown_step
        return (
            QUANTITIES[self.quantity].label(drawn[step])
            if step < len(drawn)
            else f"ends at {len(drawn) - 1:,}"
        )

    @property
    def _notes(self) -> list[str]:
        """The same, as there is room for it beside the curve, or below where it is narrow."""
        if self._narrow:
            value = QUANTITIES[self.quantity].label(self._drawn[self._shown_step])
            both = f"{value} at {self._shown_step:,}"
            other = (
                f"{both} {_UNDER} {self._value_under}" if self._drawn_under else both
            )
            return [
                next(
                    (
                        note
                        for note in (other, both)
                        if len(note) <= self.size.width - 2
                    ),
                    value,
                )
            ]
        if self.under is None or not self._drawn_under:
            return [f"  {self._numbers}"]
        name = shortened(self.under.name, max(8, self._track[1] // 3))
        return [f"  {self._numbers}", f"  {_UNDER} {self._value_under} {name}"]

    # Drawing

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        label = ""
        if not self._last:
            hint = wrap(
                "How fast the text shrinks, merge by merge, is drawn here.",
                max(1, width - 2),
            )
            at = y - max(0, (height - len(hint)) // 2)
            label = hint[at] if 0 <= at < len(hint) else ""
        elif y == height - 1:
            end = (
                counted(self._end, "step")
                + (", log" if self._narrow else ", log scale") * self.logarithmic
            )
            left = self._track[0]
            room = width - left - 2
            end = end if len(end) < room else f"{self._end:,}"
            label = " " * (left - 1) + "0" + end.rjust(room)
        elif self._narrow and y == 0:
            label = QUANTITIES[self.quantity].text(self._most)
        elif self._narrow and y == height - 2:
            label = self._notes[0].rjust(width - 2)
        else:
            return Strip(self._plot_line(y - self._narrow)).adjust_cell_length(
                width, ink_of(self, "text")
            )
        return Strip([Segment(f" {label}", ink_of(self, "muted"))]).adjust_cell_length(
            width, ink_of(self, "text")
        )

    def _depths(self, steps: Iterable[int], drawn: Sequence[float]) -> list[float]:
        """How far down from the greatest value to the least each step has come, 0 to 1, of those that there are.

        What was saved is on a logarithmic scale.
        """

        def scale(value: float) -> float:
            return log1p(max(0.0, value)) if self.quantity == "saved" else value

        least, most = scale(self._least), scale(self._most)
        known = (scale(drawn[step]) for step in steps if step < len(drawn))
        return [
            (most - value) / (most - least) if most > least else 0.0 for value in known
        ]

    def _plot_line(self, y: int) -> Iterator[Segment]:
        """A line of the plot; beside it the greatest value and the least, and in free corners the present ones."""
        (left, width), height = (
            self._track,
            self.size.height - (3 if self._narrow else 1),
        )
        step, curves = self._shown_step, (self._drawn, self._drawn_under)
        key = (
            width,
            height,
            self._most,
            self._least,
            len(self._drawn),
            self.logarithmic,
        )
        if key != self._cached[0]:  # not for another step of the same curves
            samples = [
                self._step_at(dot / max(1, 2 * width - 1)) for dot in range(2 * width)
            ]
            self._cached = (
                key,
                [
                    braille(self._depths(samples, curve), width, height)
                    for curve in curves
                ],
            )
        own, under = self._cached[1]
        here, depths = (
            round(self._place_of(step) * (2 * width - 1)) // 2,
            [self._depths([step], one) for one in curves],
        )
        line, line_under = (
            next((round(down * (4 * height - 1)) // 4 for down in known), None)
            for known in depths
        )

        def cell(x: int) -> tuple[str, str]:
            if x == here and y == line:
                return "●", "token"
            if x == here and y == line_under:
                return _UNDER, "warning"
            if own[y][x] != " ":
                return own[y][x], "accent" if x <= here else "faint"
            if under[y][x] != " ":
                return under[y][x], "warning"
            return "│" if x == here and self._drawn_under else " ", "muted"

        def is_free(y: int, n: int) -> bool:
            start = width - n
            blank = (
                start > 0 and own[y][start:].isspace() and under[y][start:].isspace()
            )
            return blank and not (here >= start and y in (line, line_under))

        notes, note = [] if self._narrow else self._notes, ""
        for first in (
            0,
            height - len(notes),
        ):  # all of them above the curves, or else below
            if len(notes) <= height and all(
                is_free(first + at, len(one)) for at, one in enumerate(notes)
            ):
                note = dict(enumerate(notes, first)).get(y, "")
                break
        if not self._narrow:
            most, least = self._edges
            label = {0: most, height - 1: least}.get(y, "")
            yield Segment(label.rjust(left - 1), ink_of(self, "muted"))
        cells = [(" ", "accent"), *map(cell, range(width - len(note)))]
        for ink, some in groupby(cells, key=itemgetter(1)):
            yield Segment("".join(char for char, _ in some), ink_of(self, ink))
        yield Segment(note, ink_of(self, "muted"))
