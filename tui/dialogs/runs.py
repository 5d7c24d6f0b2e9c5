"""Runs: the list of past trainings, to compare them or to use one of their tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Label, OptionList, Static

from bpe_core.runs import RunDifference, run_options
from bpe_core.visible import counted, shortened, visible
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog, PagedOptionList
from tui.widgets.curve_values import braille, values

if TYPE_CHECKING:
    from bpe_core.runs import TrainingRun

_LABEL: Final = 6
"""Cells left of a curve, for the values at its edges."""


class ChosenRun(NamedTuple):
    """A run, and what to do with it."""

    run: TrainingRun
    as_curve: bool
    """Draw or remove its curve, rather than use its tokenizer."""


class _Curve(NamedTuple):
    name: str
    style: str
    ratios: list[float]
    """The bytes per token for each step from 0."""


class _RunCurves(Widget):
    """The bytes per token after each merge, drawn in braille; the first curve is drawn over the second."""

    curves: reactive[list[_Curve]] = reactive(list[_Curve])

    def render(self) -> Content:
        height = self.content_size.height - 2
        width = self.content_size.width - _LABEL
        if not self.curves or height < 1 or width < 2:
            return Content()
        most = max(max(curve.ratios) for curve in self.curves)
        least = min(min(curve.ratios) for curve in self.curves)
        last_step = max(len(curve.ratios) for curve in self.curves) - 1
        plots = []
        for curve in self.curves:
            depths = []
            for dot in range(2 * width):
                step = round(dot * last_step / (2 * width - 1))
                if step < len(curve.ratios):
                    depth = (most - curve.ratios[step]) / ((most - least) or 1)
                    depths.append(depth)
            plots.append(braille(depths, width, height))
        labels = {0: f"{most:.2f}", height - 1: f"{least:.2f}"}
        parts = [("bytes/token", "dim")]
        if len(self.curves) > 1:
            parts += [(f"   {curve.name}", curve.style) for curve in self.curves]
        for y in range(height):
            parts.append((f"\n{labels.get(y, ''):>{_LABEL - 1}} ", "dim"))
            for x in range(width):
                first = 0
                if plots[0][y][x] == " ":
                    first = len(plots) - 1
                parts.append((plots[first][y][x], self.curves[first].style))
        steps = counted(last_step, "step")
        axis = f"\n{'0':>{_LABEL + 1}}{steps:>{width - 1}}"
        return Content.assemble(*parts, (axis, "dim"))


class Runs(Dialog[ChosenRun | None]):
    """A list of runs. Space marks one, and the run under the cursor is compared with it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark"),
        Binding("u", "draw_curve", "Curve"),
    ]

    def __init__(self, runs: Sequence[TrainingRun], curve_path: str = "") -> None:
        """`curve_path` is the file of the run that is drawn as the second curve, if any."""
        super().__init__()
        self._runs = runs
        self._curve_path = curve_path
        self._marked = 0

    def compose(self) -> ComposeResult:
        several = "-several" if len(self._runs) > 1 else ""
        with Vertical(classes=f"dialog runs {several}"):
            yield Label("Past trainings, the newest first", classes="dialog--question")
            yield Label(
                f"   {'name':26}  {'vocabulary':>10}  {'tie rule':9}  {'bytes/token':>11}",
                classes="dialog--hint",
                markup=False,
            )
            rows = map(self._row, range(len(self._runs)))
            yield PagedOptionList(*rows, compact=True)
            yield _RunCurves()
            yield Static(id="difference", markup=False)
            yield Label(
                "Enter: use this tokenizer. Space: compare others with it (●). "
                "u: draw or remove it as a second curve (○).",
                classes="dialog--hint",
            )

    def _row(self, number: int) -> Content:
        run = self._runs[number]
        described = run.described()
        marked = "●" if number == self._marked else " "
        drawn = "○" if str(run.path) == self._curve_path else " "
        return Content(
            f"{marked}{drawn} {shortened(visible(run.path.stem), 26):26}"
            f"  {described['vocab_size']:>10,}"
            f"  {described['options']['ties']:9}"
            f"  {described['bytes_per_token']:>11.3f}"
        )

    def action_mark(self) -> None:
        options = self.query_one(OptionList)
        previous = self._marked
        self._marked = options.highlighted or 0
        for number in (previous, self._marked):
            options.replace_option_prompt_at_index(number, self._row(number))
        self._compare(self._marked)

    @on(OptionList.OptionHighlighted)
    def compare(self, event: OptionList.OptionHighlighted) -> None:
        self._compare(event.option_index)

    @work(exclusive=True)
    async def _compare(self, number: int) -> None:
        marked = self._runs[self._marked]
        run = self._runs[number]
        lines = await in_thread(_difference, marked, run)
        # The dialog may have been closed meanwhile.
        for shown in self.query("#difference").results(Static):
            shown.update(Content("\n".join(map(visible, lines))))
        curves = await in_thread(_curves, marked, run)
        for plot in self.query(_RunCurves):
            plot.curves = curves

    @on(OptionList.OptionSelected)
    def use(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(ChosenRun(self._runs[event.option_index], as_curve=False))

    def action_draw_curve(self) -> None:
        number = self.query_one(OptionList).highlighted or 0
        self.dismiss(ChosenRun(self._runs[number], as_curve=True))


def _curves(marked: TrainingRun, run: TrainingRun) -> list[_Curve]:
    """Return the curve of a run, and of the marked run, if they are known."""
    curves = [_Curve("this one", "$text-accent", _ratios(run))]
    if run is not marked:
        curves.append(_Curve("●", "$text", _ratios(marked)))
    return [curve for curve in curves if curve.ratios]


def _ratios(run: TrainingRun) -> list[float]:
    """Return the bytes per token for each step from 0; empty if they are not known."""
    record = run.tokenizer.record
    assert record
    steps = record.steps[: run.tokenizer.step]
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in steps)]
    return values("ratio", [float(n) for n in lengths], float(record.n_bytes), ())


def _difference(marked: TrainingRun, run: TrainingRun) -> list[str]:
    """Compare a run with the marked one in sentences; describe the marked one alone."""
    if run is not marked:
        difference = RunDifference.of(marked.tokenizer, run.tokenizer)
        return list(difference.sentences("●", "this one"))
    described = run.described()
    ended_at = described["created"][:16].replace("T", " ")
    return [
        run.path.stem,
        f"Options: {run.options}.",
        f"Learned from {run_options(run.tokenizer)['texts']}.",
        f"Ended {ended_at} UTC: {described['ended']}.",
    ]
