"""Curve: the length of the corpus after each merge, or another quantity, as a line.

At most two steps are drawn per cell of the width, so a longer training costs no more to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
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
from tui.widgets.curve_values import QUANTITIES, braille, values

if TYPE_CHECKING:
    from bpe_core.metrics import CurvePoint
    from tui.state import RunCurve

_OTHER: Final = "○"
"""Marks the values of the other training."""


class _Plot(NamedTuple):
    """The drawn lines of both trainings, and the sizes and values that they were drawn for."""

    key: tuple[object, ...] = ()
    own: Sequence[str] = ()
    other: Sequence[str] = ()


class Curve(HasCommands, Widget, can_focus=True):
    """A quantity against steps: the steps shown in the accent color, later ones faint.

    With little room it is narrow, with labels above and below the plot.
    """

    COMPONENT_CLASSES = INK_CLASSES
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Curve")

    hint: var[str] = var(
        "The corpus after each merge; ● is the step shown, m shows another quantity.",
        init=False,
    )
    step: reactive[int] = reactive(0)
    """How many merges are applied."""
    logarithmic: reactive[bool] = reactive(False)
    """Whether the step axis is logarithmic."""
    quantity: var[str] = var("tokens", init=False)
    """The quantity drawn: a key of `QUANTITIES`."""
    under: var[RunCurve | None] = var(None, init=False)
    """Another training, whose curve is drawn below this one."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lengths = [0.0]
        """Tokens in the corpus before the first merge, and after each."""
        self._n_bytes = 0.0
        self._drawn: Sequence[float] = self._lengths
        """The values of the quantity, by step."""
        self._drawn_under: Sequence[float] = ()
        """The known values of the other training."""
        self._least = 0.0
        self._most = 0.0
        self.points: Callable[[], Sequence[CurvePoint]] = tuple
        """Computes the whole curve of the training, which takes a moment."""
        self._plot = _Plot()

    def clear(self, n_tokens: Count = 0, n_bytes: Count = 0) -> None:
        """Show only the length before the first merge. `n_bytes` is the size of the corpus, 0 if not known."""
        self._lengths = [float(n_tokens)]
        self._n_bytes = float(n_bytes)
        self._draw("tokens", self._lengths)

    def append(self, lengths: Iterable[Count]) -> None:
        """Add the lengths after further merges. They usually shrink, but any numbers can be drawn."""
        start = len(self._lengths)
        self._lengths.extend(map(float, lengths))
        if self.quantity == "tokens":
            new = self._lengths[start:]
            self._least = min([self._least, *new])
            self._most = max([self._most, *new])
        else:
            drawn = values(self.quantity, self._lengths, self._n_bytes, ())
            if drawn:
                self._draw(self.quantity, drawn)
            else:
                self._draw("tokens", self._lengths)
        self.refresh()

    def _draw(self, quantity: str, drawn: Sequence[float]) -> None:
        self.quantity = quantity
        self._drawn = drawn
        self._drawn_under = ()
        other = self.under
        if other is not None:
            lengths = [float(point.n_tokens) for point in other.points]
            self._drawn_under = values(quantity, lengths, other.n_bytes, other.points)
        self._least = min(chain(drawn, self._drawn_under))
        self._most = max(chain(drawn, self._drawn_under))
        self._plot = _Plot()
        self.watch_step()
        self.refresh()

    def watch_step(self) -> None:
        if not self._last:
            return
        numbers = self._numbers
        if self.under and self._drawn_under:
            numbers += f", {_OTHER} {self._value_under} {self.under.name}"
        self.hint = f"● {numbers}; m shows another quantity."

    def watch_under(self, other: RunCurve | None) -> None:
        # The lengths of different corpora cannot be compared, but their compression can.
        has_other_corpus = other is not None and other.n_bytes != self._n_bytes
        if has_other_corpus and self.quantity == "tokens":
            ratios = values("ratio", self._lengths, self._n_bytes, ())
            if ratios:
                self._draw("ratio", ratios)
                return
        self._draw(self.quantity, self._drawn)

    async def action_show_next(self) -> None:
        """Show the next quantity that is known."""
        names = list(QUANTITIES)
        following = names.index(self.quantity) + 1
        lengths = self._lengths
        for name in names[following:] + names[:following]:
            points: Sequence[CurvePoint] = ()
            if QUANTITIES[name].of_point:
                points = await in_thread(self.points)
            if lengths is not self._lengths:
                continue  # another training began
            drawn = values(name, lengths, self._n_bytes, points)
            if name == "tokens":
                self._draw(name, lengths)
                return
            if drawn:
                self._draw(name, drawn)
                return

    def action_change_scale(self) -> None:
        self.logarithmic = not self.logarithmic

    def action_travel(self, by: int) -> None:
        """Go one dot of the drawing to the left or right, and at least one step."""
        step = self._shown_step
        dots = 2 * max(1, self._track[1])
        dot = round(self._place_of(step) * dots)
        step_of_dot = self._step_at((dot + by) / dots)
        if by > 0:
            self._choose(max(step_of_dot, step + by))
        else:
            self._choose(min(step_of_dot, step + by))

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
        """The step at the end of the axis: the last of the longer training."""
        return max(1, self._last, len(self._drawn_under) - 1)

    def _step_at(self, place: float) -> int:
        """Return the step at a place of the axis, 0 to 1."""
        step = place * self._end
        if self.logarithmic:
            step = expm1(place * log1p(self._end))
        return min(self._end, round(step))

    def _place_of(self, step: int) -> float:
        if self.logarithmic:
            return log1p(step) / log1p(self._end)
        return step / self._end

    @property
    def _shown_step(self) -> int:
        """The step shown, or the last whose length is known."""
        return max(0, min(self.step, self._last))

    @property
    def _edges(self) -> tuple[str, str]:
        """The labels of the greatest value and the least."""
        label = QUANTITIES[self.quantity].label
        return label(self._most), label(self._least)

    @property
    def _narrow(self) -> bool:
        width, height = self.size
        if height >= 6:
            return width < 40
        return width < max(20, max(map(len, self._edges)) + 12)

    @property
    def _track(self) -> tuple[int, int]:
        """The first cell of the plot and its width. The labels are on its left, unless it is narrow."""
        left = 1
        if not self._narrow:
            left = max(map(len, self._edges)) + 2
        return left, max(1, self.size.width - left - 1)

    # Values in words

    @property
    def _numbers(self) -> str:
        step = self._shown_step
        return f"{QUANTITIES[self.quantity].text(self._drawn[step])} at step {step:,}"

    @property
    def _value_under(self) -> str:
        """The value of the other training at the same step."""
        step = self._shown_step
        if step < len(self._drawn_under):
            return QUANTITIES[self.quantity].label(self._drawn_under[step])
        return f"ends at {len(self._drawn_under) - 1:,}"

    @property
    def _notes(self) -> list[str]:
        """The present values, as short as the room needs."""
        if self._narrow:
            return [self._narrow_note]
        notes = [f"  {self._numbers}"]
        if self.under is not None and self._drawn_under:
            name = shortened(self.under.name, max(8, self._track[1] // 3))
            notes.append(f"  {_OTHER} {self._value_under} {name}")
        return notes

    @property
    def _narrow_note(self) -> str:
        value = QUANTITIES[self.quantity].label(self._drawn[self._shown_step])
        with_step = f"{value} at {self._shown_step:,}"
        with_other = with_step
        if self._drawn_under:
            with_other = f"{with_step} {_OTHER} {self._value_under}"
        for note in (with_other, with_step):
            if len(note) <= self.size.width - 2:
                return note
        return value

    # Drawing

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        text = ink_of(self, "text")
        if not self._last:
            label = self._line_of_remark(y)
        elif y == height - 1:
            label = self._axis
        elif self._narrow and y == 0:
            label = QUANTITIES[self.quantity].text(self._most)
        elif self._narrow and y == height - 2:
            label = self._narrow_note.rjust(width - 2)
        else:
            row = y - 1 if self._narrow else y
            return Strip(self._plot_line(row)).adjust_cell_length(width, text)
        segment = Segment(f" {label}", ink_of(self, "muted"))
        return Strip([segment]).adjust_cell_length(width, text)

    def _line_of_remark(self, y: int) -> str:
        """Return a line of the sentence shown before the first merge, in the middle."""
        width, height = self.size
        remark = "This curve shows the text shrinking, merge by merge."
        lines = wrap(remark, max(1, width - 2))
        row = y - max(0, (height - len(lines)) // 2)
        return lines[row] if 0 <= row < len(lines) else ""

    @property
    def _axis(self) -> str:
        """The line below the plot, from step 0 to the last."""
        left = self._track[0]
        room = self.size.width - left - 2
        end = counted(self._end, "step")
        if self.logarithmic:
            end += ", log" if self._narrow else ", log scale"
        if len(end) >= room:
            end = f"{self._end:,}"
        return " " * (left - 1) + "0" + end.rjust(room)

    def _scaled(self, value: float) -> float:
        """Return the place of a value on the vertical axis, which is logarithmic for the tokens saved."""
        return log1p(max(0.0, value)) if self.quantity == "saved" else value

    def _depth(self, value: float) -> float:
        """Return how far down a value is drawn: 0 for the greatest, 1 for the least."""
        least = self._scaled(self._least)
        most = self._scaled(self._most)
        if most <= least:
            return 0.0
        return (most - self._scaled(value)) / (most - least)

    def _drawn_plot(self, width: int, height: int) -> _Plot:
        """Return the lines of both curves; draw them again only if the curves or the size have changed."""
        key = (
            width,
            height,
            self._most,
            self._least,
            len(self._drawn),
            self.logarithmic,
        )
        if key != self._plot.key:
            last_dot = max(1, 2 * width - 1)
            steps = [self._step_at(dot / last_dot) for dot in range(2 * width)]
            rows = []
            for drawn in (self._drawn, self._drawn_under):
                depths = [
                    self._depth(drawn[step]) for step in steps if step < len(drawn)
                ]
                rows.append(braille(depths, width, height))
            self._plot = _Plot(key, own=rows[0], other=rows[1])
        return self._plot

    def _row_of_step(self, drawn: Sequence[float], height: int) -> int | None:
        """Return the row of the plot in which a curve passes the step shown."""
        if self._shown_step >= len(drawn):
            return None
        depth = self._depth(drawn[self._shown_step])
        return round(depth * (4 * height - 1)) // 4

    def _plot_line(self, y: int) -> Iterator[Segment]:
        """Yield a row of the plot, with the label on its left and a note in a free corner."""
        left, width = self._track
        height = self.size.height - (3 if self._narrow else 1)
        plot = self._drawn_plot(width, height)
        column = round(self._place_of(self._shown_step) * (2 * width - 1)) // 2
        own_row = self._row_of_step(self._drawn, height)
        other_row = self._row_of_step(self._drawn_under, height)

        def cell(x: int) -> tuple[str, str]:
            """Return the character and the ink of a cell."""
            if x == column and y == own_row:
                return "●", "token"
            if x == column and y == other_row:
                return _OTHER, "warning"
            if plot.own[y][x] != " ":
                return plot.own[y][x], "accent" if x <= column else "faint"
            if plot.other[y][x] != " ":
                return plot.other[y][x], "warning"
            if x == column and self._drawn_under:
                return "│", "muted"
            return " ", "muted"

        def is_free(row: int, note: str) -> bool:
            """Whether the right end of a row has room for a note."""
            start = width - len(note)
            if start <= 0 or (column >= start and row in (own_row, other_row)):
                return False
            return plot.own[row][start:].isspace() and plot.other[row][start:].isspace()

        note = ""
        if not self._narrow:
            most, least = self._edges
            label = {0: most, height - 1: least}.get(y, "")
            yield Segment(label.rjust(left - 1), ink_of(self, "muted"))
            note = _note_of_row(self._notes, y, height, is_free)
        cells = [(" ", "accent")]
        cells += [cell(x) for x in range(width - len(note))]
        for ink, group in groupby(cells, key=itemgetter(1)):
            yield Segment("".join(char for char, _ in group), ink_of(self, ink))
        yield Segment(note, ink_of(self, "muted"))


def _note_of_row(
    notes: Sequence[str], y: int, height: int, is_free: Callable[[int, str], bool]
) -> str:
    """Return the note at the end of row `y`. All notes are at the top or, if a curve is there, at the bottom."""
    if len(notes) > height:
        return ""
    for first in (0, height - len(notes)):
        by_row = dict(enumerate(notes, first))
        if all(is_free(row, note) for row, note in by_row.items()):
            return by_row.get(y, "")
    return ""
