"""Curve: how long the sequence is after each merge, drawn in braille, eight dots to a cell.

However many steps there are, a drawing looks at two of them per cell of its width, so growing costs nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget

from bpe_core.plurals import counted
from bpe_core.visible import shortened
from tui.commands import bindings
from tui.drawing.plots import QUANTITIES, UNDER, CurvePlot, StepAxis, blocks, braille, depth, values
from tui.state import requests
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from bpe_core.metrics.training_curve import CurvePoint
    from tui.state import RunCurve


class Curve(Widget, can_focus=True):
    """Sequence length against steps; the steps in force in the accent color, later ones faint."""

    DEFAULT_CSS = """
    Curve {
        height: 8;
        background: $surface;
        &> .curve--line { color: $text-accent; }
        &> .curve--later { color: $text-disabled; }
        &> .curve--label { color: $text-muted; }
        &> .curve--under { color: $text-warning; }
        &> .curve--step { color: $text; text-style: bold; }
        &> .curve--blank { color: $text; }
    }
    Curve:ansi > .curve--later { text-style: dim; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"curve--{ink}" for ink in ["line", "later", "under", "label", "step", "blank"]
    }
    BINDINGS: ClassVar[list[BindingType]] = bindings("Curve")

    hint: var[str] = var("The corpus after each merge; ● is the step in force, c shows another quantity.", init=False)
    """What it shows, or the numbers at the step in force."""
    step: reactive[int] = reactive(0)
    """How many merges are in force."""
    logarithmic: reactive[bool] = reactive(False)
    """Whether the step axis is logarithmic."""

    pointed: reactive[int | None] = reactive(None)
    """The step under the mouse, of which the numbers are shown while it is there; None where it is elsewhere."""

    quantity: var[str] = var("tokens", init=False)
    """What is drawn: a name of `QUANTITIES`."""
    under: var[RunCurve | None] = var(None, init=False)
    """Another training, whose curve is drawn under this one; None for none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lengths = [0]
        self._n_bytes = 0
        self._drawn: Sequence[float] = self._lengths
        """The values of the quantity, by step."""
        self._drawn_under: Sequence[float] = ()
        """Those of the other training; empty if there is none, or if they are not known."""
        self._least = self._most = 0.0
        self.points: Callable[[], Sequence[CurvePoint]] = tuple
        """The whole curve of the training, where there is one; it may take a moment."""
        self._key: tuple[object, ...] = ()
        self._cached: tuple[list[str], ...] = ([], [])

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens in the corpus before the first merge, and after each."""
        return self._lengths

    def clear(self, n_tokens: int = 0, n_bytes: int = 0) -> None:
        """Only the length before the first merge; `n_bytes` is the size of the corpus, 0 where that is not known."""
        self._lengths = [n_tokens]
        self._n_bytes = n_bytes
        self._draw("tokens", self._lengths)

    def append(self, lengths: Iterable[int]) -> None:
        """The lengths after further merges. Merges only make a text shorter, but any numbers can be drawn."""
        start = len(self._lengths)
        self._lengths.extend(lengths)
        if self.quantity == "tokens":
            for length in self._lengths[start:]:
                self._least, self._most = min(self._least, length), max(self._most, length)
        else:
            drawn = values(self.quantity, self._lengths, self._n_bytes, ())
            self._draw(*((self.quantity, drawn) if drawn else ("tokens", self._lengths)))
        self.refresh()

    def _draw(self, quantity: str, drawn: Sequence[float]) -> None:
        self.quantity = quantity
        self._drawn = drawn
        other = self.under
        lengths = [point.n_tokens for point in other.points] if other else []
        self._drawn_under = values(quantity, lengths, other.n_bytes, other.points) if other else ()
        self._least, self._most = min(chain(drawn, self._drawn_under)), max(chain(drawn, self._drawn_under))
        self._key = ()
        self._tell()
        self.refresh()

    def watch_step(self) -> None:
        self._tell()

    watch_pointed = watch_step

    def _tell(self) -> None:
        if self._last:
            other = f", {UNDER} {self._value_under} {self.under.name}" if self.under and self._drawn_under else ""
            mark = "│" if self.pointed is not None else "●"
            self.hint = f"{mark} {self._numbers}{other}; c shows another quantity, r the trainings."

    def watch_under(self, other: RunCurve | None) -> None:
        # Draw it; where it is of other texts, what can be compared with it is the compression, and not the length.
        ratios = values("ratio", self._lengths, self._n_bytes, ())
        if other and ratios and self.quantity == "tokens" and other.n_bytes != self._n_bytes:
            self._draw("ratio", ratios)
        else:
            self._draw(self.quantity, self._drawn)

    async def action_show_next(self) -> None:
        """Draw the next quantity that is known; of what is used, only once a training has ended."""
        names = list(QUANTITIES)
        here = names.index(self.quantity)
        for name in (*names[here + 1 :], *names[: here + 1]):
            lengths = self._lengths
            points = await in_thread(self.points) if QUANTITIES[name].of_point else ()
            if lengths is self._lengths and (drawn := values(name, lengths, self._n_bytes, points)):
                self._draw(name, lengths if name == "tokens" else drawn)
                return

    def action_toggle_logarithmic(self) -> None:
        """Change between a linear and a logarithmic axis of steps."""
        self.logarithmic = not self.logarithmic

    def action_travel(self, by: int) -> None:
        """Choose the step under the next dot of the curve, or under the one before."""
        here, dots, axis = self._shown_step, 2 * max(1, self._track[1]), self._axis
        there = (axis.step_at(round(axis.place_of(here) * dots + by) / dots), here + by)
        self._choose(max(there) if by > 0 else min(there))

    def action_travel_to_end(self, end: int) -> None:
        """Choose the first step (0) or the last (1)."""
        self._choose(self._last * end)

    def _choose(self, step: int) -> None:
        requests(self).go_to(max(0, min(step, self._last)))

    # Steps and places

    @property
    def _last(self) -> int:
        return len(self._lengths) - 1

    @property
    def _axis(self) -> StepAxis:
        """To the last step, or to that of the other training where it has more."""
        return StepAxis(max(self._last, 0 if self._small else len(self._drawn_under) - 1), self.logarithmic)

    @property
    def _shown_step(self) -> int:
        """The step in force, as far as its length is known."""
        return max(0, min(self.step, self._last))

    @property
    def _numbers_step(self) -> int:
        """The step whose numbers are shown: that under the mouse, or else the one in force."""
        return self._shown_step if self.pointed is None else min(self.pointed, self._last)

    def _depths(self, steps: Iterable[int], drawn: Sequence[float]) -> list[float]:
        """How far down from the greatest value to the least each step has come, 0 to 1, of those that there are."""
        known = (drawn[step] for step in steps if step < len(drawn))
        return [depth(self.quantity, value, self._least, self._most) for value in known]

    def on_click(self, event: events.Click) -> None:
        if (step := self._step_under(event)) is not None:
            self._choose(step)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        step = self._step_under(event)
        if event.button and step is not None:
            self._choose(step)
            step = None
        self.pointed = step

    def on_leave(self) -> None:
        self.pointed = None

    def _step_under(self, event: events.MouseEvent) -> int | None:
        """The step at a place of the mouse; None where no plot is."""
        offset = event.get_content_offset(self)
        left, width = self._track
        if offset is None or not self._last or not left <= offset.x < left + width:
            return None
        return min(self._last, self._axis.step_at((offset.x - left) / max(1, width - 1)))

    # Drawing

    @property
    def _small(self) -> bool:
        """No room for a plot."""
        return self.size.height < 3 or self.size.width < max(20, self._left + 10)

    @property
    def _narrow(self) -> bool:
        """The labels stand above and below the plot, not beside it."""
        return self.size.width < 40 and self.size.height >= 6

    @property
    def _left(self) -> int:
        """Cells left of the plot: the longer of both its labels between blanks."""
        return 1 if self._narrow else max(map(len, self._edges)) + 2

    @property
    def _edges(self) -> tuple[str, str]:
        """The greatest value and the least, as they stand at the edge."""
        label = QUANTITIES[self.quantity].label
        return label(self._most), label(self._least)

    @property
    def _track(self) -> tuple[int, int]:
        """First cell of the plot, or of the small one, and its cells."""
        if self._small:
            first, _, room = self._spark_labels
            return 1 + len(first), room
        return self._left, self.size.width - self._left - 1

    @property
    def _spark_labels(self) -> tuple[str, str, int]:
        """What stands before and behind the bars of a small plot, and the cells between."""
        label = QUANTITIES[self.quantity].label
        first, last = f"{label(self._drawn[0])} ", f" {label(self._drawn[-1])}"
        room = self.size.width - 2 - len(first) - len(last)
        return (first, last, room) if room >= 4 else ("", "", max(0, self.size.width - 2))

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        segments: Iterable[Segment] = ()
        if not self._last:
            hint = wrap("How fast the text shrinks, merge by merge, is drawn here.", max(1, width - 2))
            at = y - max(0, (height - len(hint)) // 2)
            segments = self._label(hint[at]) if 0 <= at < len(hint) else ()
        elif self._small:
            segments = self._sparkline() if y == 0 else ()
        elif y == height - 1:
            end = counted(self._axis.last, "step") + (", log" if self._narrow else ", log scale") * self.logarithmic
            room = width - self._left - 2
            end = end if len(end) < room else f"{self._axis.last:,}"
            segments = self._label(" " * (self._left - 1) + "0" + f"{end:>{room}}")
        elif self._narrow and y == 0:
            segments = self._label(QUANTITIES[self.quantity].text(self._most))
        elif self._narrow and y == height - 2:
            segments = self._label(f"{self._note:>{width - 2}}")
        else:
            segments = self._plot_line(y - self._narrow)
        return Strip(segments).adjust_cell_length(width, self._ink("blank"))

    @property
    def _numbers(self) -> str:
        """The numbers of that step."""
        step = self._numbers_step
        return f"{QUANTITIES[self.quantity].text(self._drawn[step])} at step {step:,}"

    @property
    def _note(self) -> str:
        """The same, as there is room for it in the plot."""
        step = self._numbers_step
        value, quantity = self._drawn[step], QUANTITIES[self.quantity]
        if self._narrow:
            both = f"{quantity.label(value)} at {step:,}"
            other = f"{both} {UNDER} {self._value_under}" if self._drawn_under else both
            return next((note for note in (other, both) if len(note) <= self.size.width - 2), quantity.label(value))
        return f"  {self._numbers}"

    @property
    def _value_under(self) -> str:
        """What the other training had come to at the same step."""
        drawn, step = self._drawn_under, self._numbers_step
        return QUANTITIES[self.quantity].label(drawn[step]) if step < len(drawn) else f"ends at {len(drawn) - 1:,}"

    @property
    def _note_under(self) -> str:
        if self.under is None or not self._drawn_under:
            return ""
        return f"  {UNDER} {self._value_under} {shortened(self.under.name, max(8, self._track[1] // 3))}"

    def _label(self, text: str) -> list[Segment]:
        return [Segment(" " + text, self._ink("label"))]

    def _ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"curve--{name}")

    def _sparkline(self) -> list[Segment]:
        first, last, room = self._spark_labels
        steps = self._axis.samples(room)
        bars = blocks(self._depths(steps, self._drawn))
        done = bisect_right(steps, self._shown_step)
        label = self._ink("label")
        return [
            Segment(" " + first, label),
            Segment(bars[:done], self._ink("line")),
            Segment(bars[done:], self._ink("later")),
            Segment(last, label),
        ]

    def _plot(self) -> CurvePlot:
        """What is drawn; the curves anew only if they have changed, not for another step of them."""
        width, height = self._track[1], self.size.height - (3 if self._narrow else 1)
        curves, step = (self._drawn, self._drawn_under), self._shown_step
        key = (width, height, self._most, self._least, len(self._drawn), self.logarithmic)
        if key != self._key:
            samples = self._axis.samples(2 * width)
            self._key = key
            self._cached = tuple(braille(self._depths(samples, curve), width, height) for curve in curves)
        line, line_under = (
            next((round(down * (4 * height - 1)) // 4 for down in self._depths([step], curve)), None)
            for curve in curves
        )
        own, under = self._cached
        has_crosshair = self.pointed is not None or bool(self._drawn_under)
        crosshair = self._axis.column(self._numbers_step, width) if has_crosshair else None
        return CurvePlot(own, under, self._axis.column(step, width), line, line_under, crosshair)

    def _plot_line(self, y: int) -> Iterator[Segment]:
        """A line of the plot; beside it the greatest value and the least, and in free corners the present ones."""
        plot = self._plot()
        cells = [(" ", "line"), *plot.cells(y)]
        if not self._narrow:
            most, least = self._edges
            label = {0: most, len(plot.lines) - 1: least}.get(y, "")
            yield Segment(f"{label:>{self._left - 1}}", self._ink("label"))
        notes = [note for note in (self._note, self._note_under) if note]
        note = "" if self._narrow else plot.places_of(notes).get(y, "")
        for ink, some in groupby(cells[: len(cells) - len(note)], key=itemgetter(1)):
            yield Segment("".join(char for char, _ in some), self._ink(ink))
        yield Segment(note, self._ink("label"))
