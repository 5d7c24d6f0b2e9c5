"""Results: what was learned, saved for other programs and for print; and the runs there were, two of them compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.cli.export import exported
from bpe_core.cli.runs import found
from bpe_core.errors import BpeError
from bpe_core.formats import save
from bpe_core.metrics.training_curve import TrainingCurve
from bpe_core.visible import visible
from tui.dialogs.questions import AskFormat
from tui.dialogs.runs import Runs
from tui.disk import config
from tui.owners.owner import sentence_of
from tui.state.tokenizers import name_of
from tui.state.training import RunCurve
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from bpe_core.cli.runs import Run
    from bpe_core.tokenizer import Tokenizer
    from tui.screen.main import MainScreen

_NAMES = {
    "merges": ("the merges", "merges.tsv"),
    "curve": ("the curve", "curve.csv"),
    "record": ("the training record", "training.json"),
}
"""What can be exported -> what the question calls it, and the name that is proposed."""


class Results:
    """Exports of the tokenizer on the screen, and the list of runs."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    async def export(self, what: str) -> None:
        """Make it, and let it be saved where the user says."""
        screen, tokenizer = self._screen, self._screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            screen.say("There are no merges to export yet.", "warning")
            return
        try:
            text = await in_thread(_made, what, tokenizer, name_of(Path(screen.path)) if screen.path else "training")
        except (BpeError, OSError) as error:
            screen.say(sentence_of(error), "warning")
            return
        screen.session.files.save(text, *_NAMES[what])

    async def convert(self) -> None:
        """Save the tokenizer on the screen for another library."""
        screen, tokenizer = self._screen, self._screen.in_force
        if tokenizer is None:
            screen.say("There is no tokenizer yet: train one (F6), or open one.", "warning")
            return
        form = await screen.ask(AskFormat("For which library should this tokenizer be saved, as it is in force?"))
        if form is None:
            return
        path = await screen.session.files.place("In which file?")
        if path is None:
            return
        try:
            await in_thread(save, tokenizer, path, format=form)
            screen.say(f"Saved as {path}.")
        except (BpeError, OSError) as error:
            screen.say(sentence_of(error), "error")

    async def show_runs(self) -> None:
        """The trainings whose tokenizers are kept, newest first; two of them compared."""
        try:
            runs = await in_thread(_found, config.tokenizers_folder())
        except (BpeError, OSError) as error:
            self._screen.say(sentence_of(error), "error")
            return
        if not runs:
            self._screen.say("No training is kept yet: F6 begins one.")
            return
        under = self._screen.curve_under
        chosen = await self._screen.ask(Runs(runs, under.path if under else ""))
        if chosen is None:
            return
        if not chosen.under:
            self._screen.session.tokenizers.use(chosen.run.path)
        elif under and under.path == str(chosen.run.path):
            self._screen.curve_under = None
        else:
            self._screen.curve_under = await in_thread(_curve, chosen.run)


def _made(what: str, tokenizer: Tokenizer, name: str) -> str:
    return "".join(exported(what, [tokenizer], [name]))


def _curve(run: Run) -> RunCurve:
    record = run.tokenizer.record
    name = visible(run.path.stem)
    return RunCurve(str(run.path), name, record.n_bytes if record else 0, TrainingCurve.of(run.tokenizer).points)


def _found(folder: Path) -> list[Run]:
    runs = [run for run in found([folder]) if run.tokenizer.record]
    return sorted(runs, key=lambda run: str(run.described()["created"]), reverse=True)
