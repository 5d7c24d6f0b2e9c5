"""Runs: the trainings that are kept, with what came of them; and where two of them part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList, Static

from bpe_core.metrics.run_options import run_options
from bpe_core.metrics.vocabularies import RunDifference
from bpe_core.visible import shortened, visible
from tui.terminal.guards import Dialog, PagedOptionList

if TYPE_CHECKING:
    from bpe_core.runs import TrainingRun


class RunChosen(NamedTuple):
    """What is to be done with a run."""

    run: TrainingRun
    under: bool
    """Lay its curve under that on the screen, or take it away again, instead of putting its tokenizer in force."""


class Runs(Dialog[RunChosen | None]):
    """A row a run. Space marks one, and the run under the cursor is compared with it; Enter puts one in force."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("space", "mark", "Mark"),
        Binding("u", "lay_under", "Under"),
    ]

    def __init__(self, runs: Sequence[TrainingRun], under: str = "") -> None:
        """`under` is the file of the run whose curve lies under that on the screen."""
        super().__init__()
        self._runs = runs
        self._under = under
        self._marked = 0

    def compose(self) -> ComposeResult:
        """The list, the difference, and how to use both."""
        with Vertical(classes="dialog runs"):
            yield Label("Trainings that are kept, the newest first", classes="dialog--question")
            yield Label(_HEAD, classes="dialog--hint", markup=False)
            yield PagedOptionList(*self._rows(), compact=True)
            yield Static(id="difference", markup=False)
            yield Label(_HINT, classes="dialog--hint")

    def on_mount(self) -> None:
        """Begin at the newest."""
        self.query_one(OptionList).highlighted = 0

    def _rows(self) -> list[Content]:
        return [self._row(number) for number in range(len(self._runs))]

    def _row(self, number: int) -> Content:
        run = self._runs[number]
        return Content(row_of(run, marked=number == self._marked, under=str(run.path) == self._under))

    def action_mark(self) -> None:
        """Compare others with the run under the cursor."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            before, self._marked = self._marked, options.highlighted
            for number in {before, self._marked}:
                options.replace_option_prompt_at_index(number, self._row(number))
            self._compare(options.highlighted)

    @on(OptionList.OptionHighlighted)
    def compare(self, event: OptionList.OptionHighlighted) -> None:
        """Tell where this run and the marked one part."""
        event.stop()
        self._compare(event.option_index)

    def _compare(self, number: int) -> None:
        first, second = self._runs[self._marked], self._runs[number]
        told = about(first) if first is second else difference(first, second)
        self.query_one("#difference", Static).update(Content("\n".join(map(visible, told.split("\n")))))

    @on(OptionList.OptionSelected)
    def use(self, event: OptionList.OptionSelected) -> None:
        """Put this run's tokenizer in force."""
        event.stop()
        self.dismiss(RunChosen(self._runs[event.option_index], under=False))

    def action_lay_under(self) -> None:
        """Lay the curve of the run under the cursor under that on the screen, or take it away."""
        number = self.query_one(OptionList).highlighted
        if number is not None:
            self.dismiss(RunChosen(self._runs[number], under=True))


_HINT = "Space: compare others with this (●). u: its curve under that on the screen (○). Enter: put it in force."
_HEAD = f"   {'':26}  {'tokens':>8}  {'ties':9}  {'b/token':>7}"


def row_of(run: TrainingRun, *, marked: bool = False, under: bool = False) -> str:
    """A run in a line: name, tokens, tie rule, bytes per token; ○: its curve lies under another."""
    told = run.described()
    name = shortened(visible(run.path.stem), 26)
    ratio = f"{told['bytes_per_token']:.3f}"
    signs = f"{'●' if marked else ' '}{'○' if under else ' '}"
    return f"{signs} {name:26}  {told['vocab_size']:>8,}  {told['options']['ties']:9}  {ratio:>7}"


def about(run: TrainingRun) -> str:
    """What a run was asked for, of which texts it was learned, when, and how it ended, in sentences."""
    told, texts = run.described(), run_options(run.tokenizer)["texts"]
    when = told["created"][:16].replace("T", " ")
    return f"{run.path.stem}\nAsked for: {run.options}.\nLearned from {texts}.\nEnded {when} UTC: {told['ended']}."


def difference(first: TrainingRun, second: TrainingRun) -> str:
    """Where the marked run and that under the cursor part, and what followed, in sentences."""
    told = RunDifference.of(first.tokenizer, second.tokenizer)
    return "\n".join(told.sentences("●", "this one"))
