"""Runs: the trainings that are kept, with what came of them; and where two of them part."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList, Static

from bpe_core.metrics.run_difference import RunDifference
from bpe_core.visible import shortened, visible
from tui.terminal.guards import Dialog, PagedOptionList

if TYPE_CHECKING:
    from bpe_core.cli.runs import Run


class Runs(Dialog[Path | None]):
    """A row a run. Space marks one, and the run under the cursor is compared with it; Enter puts one in force."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("space", "mark", "Mark"),
    ]

    def __init__(self, runs: Sequence[Run]) -> None:
        super().__init__()
        self._runs = runs
        self._marked = 0

    def compose(self) -> ComposeResult:
        """The list, the difference, and how to use both."""
        with Vertical(classes="dialog runs"):
            yield Label("Trainings that are kept, the newest first", classes="dialog--question")
            yield Label(_HEAD, classes="dialog--hint runs--head", markup=False)
            yield PagedOptionList(*self._rows(), compact=True)
            yield Static(id="difference", markup=False)
            yield Label("Space: compare with this one. Enter: put it in force. Escape: close.", classes="dialog--hint")

    def on_mount(self) -> None:
        """Begin at the newest."""
        self.query_one(OptionList).highlighted = 0

    def _rows(self) -> list[Content]:
        return [Content(row_of(run, marked=number == self._marked)) for number, run in enumerate(self._runs)]

    def action_mark(self) -> None:
        """Compare others with the run under the cursor."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            before, self._marked = self._marked, options.highlighted
            for number in {before, self._marked}:
                row = row_of(self._runs[number], marked=number == self._marked)
                options.replace_option_prompt_at_index(number, Content(row))
            self._compare(options.highlighted)

    @on(OptionList.OptionHighlighted)
    def compare(self, event: OptionList.OptionHighlighted) -> None:
        """Tell where this run and the marked one part."""
        event.stop()
        self._compare(event.option_index)

    def _compare(self, number: int) -> None:
        first, second = self._runs[self._marked], self._runs[number]
        told = "" if first is second else difference(first, second)
        self.query_one("#difference", Static).update(Content("\n".join(map(visible, told.split("\n")))))

    @on(OptionList.OptionSelected)
    def use(self, event: OptionList.OptionSelected) -> None:
        """Put this run's tokenizer in force."""
        event.stop()
        self.dismiss(self._runs[event.option_index].path)


_HEAD = f"  {'':24}  {'tokens':>8}  {'ties':9}  {'b/token':>7}  ended"


def row_of(run: Run, *, marked: bool) -> str:
    """A run in a line: name, tokens, tie rule, bytes per token, how it ended."""
    told = run.described()
    name = shortened(visible(run.path.stem), 24)
    ratio = f"{told['bytes_per_token']:.3f}"
    ended = shortened(visible(str(told["ended"])), 24)
    return f"{'●' if marked else ' '} {name:24}  {told['vocab_size']:>8,}  {told['ties']:9}  {ratio:>7}  {ended}"


def difference(first: Run, second: Run) -> str:
    """Where two runs part, and what followed, in sentences."""
    told = RunDifference.of(first.tokenizer, second.tokenizer)
    return "\n".join(told.sentences(first.path.stem, second.path.stem))
