"""Runs: the list of past trainings, to compare them or to use one of their tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList, Static

from bpe_core.runs import RunDifference, run_options
from bpe_core.visible import shortened, visible
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog, PagedOptionList

if TYPE_CHECKING:
    from bpe_core.runs import TrainingRun


class ChosenRun(NamedTuple):
    """A run, and what to do with it."""

    run: TrainingRun
    as_curve: bool
    """Draw or remove its curve, rather than use its tokenizer."""


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
        with Vertical(classes="dialog runs"):
            yield Label("Past trainings, the newest first", classes="dialog--question")
            yield Label(
                f"   {'name':26}  {'vocabulary':>10}  {'tie rule':9}  {'bytes/token':>11}",
                classes="dialog--hint",
                markup=False,
            )
            rows = map(self._row, range(len(self._runs)))
            yield PagedOptionList(*rows, compact=True)
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
        lines = await in_thread(
            _difference, self._runs[self._marked], self._runs[number]
        )
        # The dialog may have been closed meanwhile.
        for shown in self.query("#difference").results(Static):
            shown.update(Content("\n".join(map(visible, lines))))

    @on(OptionList.OptionSelected)
    def use(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(ChosenRun(self._runs[event.option_index], as_curve=False))

    def action_draw_curve(self) -> None:
        number = self.query_one(OptionList).highlighted or 0
        self.dismiss(ChosenRun(self._runs[number], as_curve=True))


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
