"""Results: what was learned, saved for other programs and for print; and the runs there were, two of them compared."""

from functools import partial
from pathlib import Path

from bpe_core.formats import WRITABLE, save
from bpe_core.metrics.training_curve import TrainingCurve
from bpe_core.runs import TrainingRun, exported, found
from bpe_core.visible import visible
from tui.dialogs.lists import Runs
from tui.dialogs.questions import Ask, one_of
from tui.disk import config
from tui.features.feature import Feature, StateScreen
from tui.features.texts import Texts
from tui.features.tokenizers import Tokenizers
from tui.state import RunCurve, name_of
from tui.terminal.background import in_thread

_NAMES = {
    "merges": ("the merges", "merges.tsv"),
    "curve": ("the curve", "curve.csv"),
    "record": ("the training record", "training.json"),
}
"""What can be exported -> what the question calls it, and the name that is proposed."""


class Results(Feature):
    """Replaces the screen's `curve_under`; exports the tokenizer on the screen, lists the runs."""

    def __init__(self, screen: StateScreen, texts: Texts, tokenizers: Tokenizers) -> None:
        super().__init__(screen)
        self._texts, self._tokenizers = texts, tokenizers

    async def export(self, what: str) -> None:
        """Make the merges, the curve or the record, and let it be saved where the user says."""
        screen, tokenizer = self.screen, self.screen.tokenizer
        if tokenizer is None or not tokenizer.vocabulary.knows_merges:
            screen.say("There are no merges to export yet.", "warning")
            return
        name = name_of(Path(screen.path)) if screen.path else "training"
        text = await in_thread(lambda: "".join(exported(what, [tokenizer], [name])))
        await self._texts.save(text, *_NAMES[what])

    async def convert(self) -> None:
        """Save the tokenizer on the screen for another library."""
        screen, tokenizer = self.screen, self.screen.in_force
        if tokenizer is None:
            screen.say("There is no tokenizer yet: train one (F6), or open one.", "warning")
            return
        question = "For which library should this tokenizer be saved, as it is in force?"
        hint = f"{', '.join(WRITABLE)}. Tab completes."
        form = await screen.ask(Ask(question, partial(one_of, WRITABLE), hint=hint, suggest=WRITABLE))
        if form is None:
            return
        if path := await self._texts.place("In which file?"):
            await in_thread(save, tokenizer, path, format=form)
            screen.say(f"Saved as {path}.")

    async def show_runs(self) -> None:
        """The trainings whose tokenizers are kept, newest first; two of them compared."""
        runs = await in_thread(_found)
        if not runs:
            self.screen.say("No training is kept yet: F6 begins one.")
            return
        under = self.screen.curve_under
        chosen = await self.screen.ask(Runs(runs, under.path if under else ""))
        if chosen is None:
            return
        run, is_curve = chosen
        if not is_curve:
            self._tokenizers.use(run.path)
        elif under and under.path == str(run.path):
            self.screen.curve_under = None
        else:
            self.screen.curve_under = await in_thread(_curve, run)


def _curve(run: TrainingRun) -> RunCurve:
    record, points = run.tokenizer.record, TrainingCurve.of(run.tokenizer).points
    return RunCurve(str(run.path), visible(run.path.stem), record.n_bytes if record else 0, points)


def _found() -> list[TrainingRun]:
    runs = [run for run in found([config.tokenizers_folder()]) if run.tokenizer.record]
    return sorted(runs, key=lambda run: str(run.described()["created"]), reverse=True)
