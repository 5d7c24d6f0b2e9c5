"""Curve: how long the sequence is after each merge, drawn in braille, eight dots to a cell.

However many steps there are, a drawing looks at two of them per cell of its width, so growing costs nothing.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from math import expm1, log1p
from textwrap import wrap
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.braille import blocks, braille


class Curve(Widget, can_focus=True):
    """Sequence length against steps; the steps in force in the accent color, later ones faint."""

    DEFAULT_CSS = """
    Curve {
        height: 8;
        background: $surface;
        &> .curve--line { color: $text-accent; }
        &> .curve--later { color: $text-disabled; }
        &> .curve--label { color: $text-muted; }
        &> .curve--step { color: $text; text-style: bold; }
        &> .curve--blank { color: $text; }
    }
    Curve:ansi > .curve--later { text-style: dim; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "curve--line",
        "curve--later",
        "curve--label",
        "curve--step",
        "curve--blank",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "toggle_logarithmic", "Log scale", tooltip="Give the first merges, which matter most, more room")
    ]

    hint = "How many tokens the corpus has after each merge; ● is the step in force."
    step: reactive[int] = reactive(0)
    """How many merges are in force."""
    n_steps: reactive[int] = reactive(0)
    """Steps along the whole axis, where more are to come; 0: as many as there are."""
    logarithmic: reactive[bool] = reactive(False)
    """Whether the step axis is logarithmic."""

    class StepChosen(Message):
        """The user pointed at a step."""

        def __init__(self, curve: "Curve", step: int) -> None:
            super().__init__()
            self.curve = curve
            self.step = step

        @property
        def control(self) -> "Curve":
            return self.curve

        def can_replace(self, message: Message) -> bool:
            """Only the newest choice counts."""
            return isinstance(message, Curve.StepChosen) and message.curve is self.curve

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lengths = array("Q", [0])
        self._key: tuple[int, ...] = ()
        self._cached: tuple[list[str], int, int] = ([], 0, 0)

    @property
    def lengths(self) -> Sequence[int]:
        """Tokens in the corpus before the first merge, and after each."""
        return self._lengths

    def clear(self, n_tokens: int = 0, *, n_steps: int = 0) -> None:
        """Only the length before the first merge; the axis is `n_steps` long if it is known how many are wanted."""
        self._lengths = array("Q", [n_tokens])
        self.n_steps = n_steps
        self.refresh()

    def append(self, lengths: Iterable[int]) -> None:
        """The lengths after further merges."""
        self._lengths.extend(lengths)
        self.refresh()

    def action_toggle_logarithmic(self) -> None:
        """Change between a linear and a logarithmic axis of steps."""
        self.logarithmic = not self.logarithmic

    # Steps and places

    @property
    def _last(self) -> int:
        return len(self._lengths) - 1

    @property
    def _end(self) -> int:
        return max(self.n_steps, self._last, 1)

    def _step_at(self, place: float) -> int:
        """The step at a place along the axis, 0 to 1."""
        return round(expm1(place * log1p(self._end)) if self.logarithmic else place * self._end)

    def _place_of(self, step: int) -> float:
        return log1p(step) / log1p(self._end) if self.logarithmic else step / self._end

    def _samples(self, n: int) -> list[int]:
        """The steps under `n` equally spaced places, as far as there are values."""
        steps = (self._step_at(place / max(1, n - 1)) for place in range(n))
        return [step for step in steps if step <= self._last]

    def _depths(self, steps: Sequence[int]) -> list[float]:
        """How far down from the first length to the last each step has come, 0 to 1."""
        top = self._lengths[0]
        drop = max(1, top - self._lengths[-1])
        return [(top - self._lengths[step]) / drop for step in steps]

    def on_click(self, event: events.Click) -> None:
        """A click on the plot chooses the step there."""
        offset = event.get_content_offset(self)
        if offset is not None and self._last and not self._small:
            place = (offset.x - self._left) / max(1, self.size.width - self._left - 2)
            if place >= 0:
                self.post_message(self.StepChosen(self, min(self._last, self._step_at(min(1.0, place)))))

    # Drawing

    @property
    def _small(self) -> bool:
        """No room for a plot."""
        return self.size.height < 3 or self.size.width < 20

    @property
    def _narrow(self) -> bool:
        """The labels stand above and below the plot, not beside it."""
        return self.size.width < 40 and self.size.height >= 6

    @property
    def _left(self) -> int:
        """Cells left of the plot: the longer of both lengths between blanks."""
        return 1 if self._narrow else len(f"{self._lengths[0]:,}") + 2

    def render_line(self, y: int) -> Strip:
        """A line of the plot, or the whole of a small one."""
        width, height = self.size
        segments: Iterable[Segment] = ()
        if not self._last:
            hint = wrap("How fast the text shrinks, merge by merge, is drawn here.", max(1, width - 2))
            at = y - max(0, (height - len(hint)) // 2)
            segments = self._label(hint[at]) if 0 <= at < len(hint) else ()
        elif self._small:
            segments = self._sparkline(width) if y == 0 else ()
        elif y == height - 1:
            end = f"{self._end:,} steps" + (", log" if self._narrow else ", log scale") * self.logarithmic
            room = width - self._left - 2
            end = end if len(end) < room else f"{self._end:,}"
            segments = self._label(" " * (self._left - 1) + "0" + f"{end:>{room}}")
        elif self._narrow and y == 0:
            segments = self._label(f"{self._lengths[0]:,} tokens")
        elif self._narrow and y == height - 2:
            segments = self._label(f"{self._note:>{width - 2}}")
        else:
            segments = self._plot_line(y - self._narrow)
        return Strip(segments).adjust_cell_length(width, self._ink("blank"))

    @property
    def _note(self) -> str:
        """Where the step in force has come to."""
        now = f"{self._lengths[min(self.step, self._last)]:,}"
        if self._narrow:
            both = f"{now} at {self.step:,}"
            return both if len(both) <= self.size.width - 2 else now
        return f"  {now} tokens at step {self.step:,}"

    def _label(self, text: str) -> list[Segment]:
        return [Segment(" " + text, self._ink("label"))]

    def _ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"curve--{name}")

    def _sparkline(self, width: int) -> list[Segment]:
        first, last = f"{self._lengths[0]:,} ", f" {self._lengths[-1]:,}"
        room = width - 2 - len(first) - len(last)
        if room < 4:
            first, last, room = "", "", width - 2
        steps = self._samples(room)
        bars = blocks(self._depths(steps))
        done = bisect_right(steps, self.step)
        label = self._ink("label")
        return [
            Segment(" " + first, label),
            Segment(bars[:done], self._ink("line")),
            Segment(bars[done:], self._ink("later")),
            Segment(last, label),
        ]

    def _plot(self) -> tuple[list[str], int, int]:
        """The lines of the plot, and the column and line of the step in force; drawn anew only if they have changed."""
        width, height = self.size.width - self._left - 1, self.size.height - (3 if self._narrow else 1)
        key = (width, height, self._lengths[0], len(self._lengths), self._end, self.step, self.logarithmic)
        if key != self._key:
            lines = braille(self._depths(self._samples(2 * width)), width, height)
            step = min(self.step, self._last)
            column = round(self._place_of(step) * (2 * width - 1)) // 2
            line = round(self._depths([step])[0] * (4 * height - 1)) // 4
            self._key, self._cached = key, (lines, column, line)
        return self._cached

    def _plot_line(self, y: int) -> Iterator[Segment]:
        """A line of the plot; beside it the first and the last length, and in a free corner the present one."""
        lines, column, line = self._plot()
        text, note = lines[y], ""
        if not self._narrow:
            label = {0: f"{self._lengths[0]:,}", len(lines) - 1: f"{self._lengths[-1]:,}"}.get(y, "")
            yield Segment(f"{label:>{self._left - 1}}", self._ink("label"))
            note = self._note if y == 0 else ""
        if y == line:
            text = text[:column] + "●" + text[column + 1 :]
        if note and not text[-len(note) :].isspace():
            note = ""
        text = text[: len(text) - len(note)]
        yield Segment(" " + text[:column], self._ink("line"))
        yield Segment(text[column : column + 1], self._ink("step" if y == line else "line"))
        yield Segment(text[column + 1 :], self._ink("later"))
        yield Segment(note, self._ink("label"))
