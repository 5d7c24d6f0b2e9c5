"""Resuming: trainings that were: listed, compared, extended, forked at the step in force, resumed."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import load
from bpe_core.metrics import training_curve
from bpe_core.runs import TrainingRun, found
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import LARGEST_VOCABULARY, STOPPED
from bpe_core.trainer.conditions import condition
from bpe_core.visible import counted, visible
from tui.dialogs.lists import Runs
from tui.dialogs.questions import Ask, Confirm, whole_number
from tui.disk import config
from tui.disk.locked import Note, left_behind, remove_abandoned_folders
from tui.features.corpus import CorpusChoice
from tui.features.course import TrainingTask
from tui.features.feature import (
    BUSY,
    NO_TEXT,
    NO_TOKENIZER,
    Feature,
    StateScreen,
    sentence_of,
)
from tui.features.tokenizers import Tokenizers
from tui.features.training import TrainingFeature
from tui.state import RunCurve, name_of
from tui.terminal.background import in_thread


class Resuming(Feature):
    """Replaces the screen's `curve_under`; asks what is needed and starts such trainings."""

    def __init__(
        self,
        screen: StateScreen,
        tokenizers: Tokenizers,
        training: TrainingFeature,
        corpus: CorpusChoice,
    ) -> None:
        super().__init__(screen)
        self._tokenizers, self._training, self._corpus = tokenizers, training, corpus

    async def show_runs(self) -> None:
        runs = await in_thread(_found)
        if not runs:
            return self.screen.say("No training is kept yet: F6 begins one.")
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

    # From a vocabulary

    async def train_on(self, forks: bool) -> None:
        """Extend the tokenizer on the screen, or fork it at the step in force; for how many tokens is asked."""
        screen, options = self.screen, self._corpus.chosen_options()
        if options is None or (old := self._usable()) is None:
            return
        begin, begin_path, title, texts = (
            old,
            screen.path,
            name_of(Path(screen.path)),
            screen.corpus,
        )
        if forks:
            begin, title = (
                old.at(screen.step),
                f"{title} fork {screen.step} {options.ties}",
            )
            question = (
                f"Fork at step {screen.step:,}: the merges after it are learned anew, with pattern {options.pattern} "
                f"and ties {options.ties} (F3), from {texts.title}. How many tokens in all?"
            )
        else:
            options, title = replace(options, pattern=old.pattern), f"{title} extended"
            question = (
                f"Extend: its {counted(old.step, 'merge')} stay, and more are learned from {texts.title}, with "
                f"its own pattern and ties {options.ties} (F3). How many tokens in all? It has {old.n_tokens:,}."
            )
        least, usual = begin.n_tokens + 1, old.n_tokens if forks else 2 * old.n_tokens
        number = partial(whole_number, least, LARGEST_VOCABULARY)
        if size := await screen.ask(
            Ask(question, number, str(max(least, usual)), example="a number")
        ):
            options = replace(options, vocab_size=size, special_tokens=())
            task = TrainingTask(
                title, options, texts.paths, begin=begin, begin_path=begin_path
            )
            _ = task.rules  # refuses options that make no sense together
            self._training.start(task)

    def _usable(self) -> Tokenizer | None:
        """The tokenizer on the screen, if a training can begin with it; else a sentence says why not."""
        screen, tokenizer = self.screen, self.screen.tokenizer
        problem = "Its merges are still being recovered from the ranks; try again when they are."
        if screen.run.busy:
            problem = BUSY
        elif tokenizer is None or not screen.path:
            problem = NO_TOKENIZER
        elif not screen.corpus.paths:
            problem = NO_TEXT
        elif tokenizer.vocabulary.knows_merges:
            return tokenizer
        screen.say(problem, "warning")
        return None

    # After an end of the app

    def notes(self) -> list[Note]:
        """Find what killed copies of the app have left, and remove what is of no use."""
        remove_abandoned_folders()
        try:
            return left_behind(config.tokenizers_folder())
        except OSError:
            return []

    async def offer(self, notes: Sequence[Note]) -> None:
        """Ask whether to resume one of these trainings; where not, what had been learned is kept."""
        try:
            for note in notes:
                if await self._offer(note):
                    return
        finally:
            for note in notes:
                note.leave()

    async def _offer(self, note: Note) -> bool:
        (left, unfinished), output = (
            await in_thread(lambda: (note.left, note.read())),
            note.output,
        )
        if left is None and unfinished is None:
            note.end()
            return False
        try:
            if unfinished is None:
                raise FormatError(f"What is noted of it beside {left} cannot be read.")
            known = await in_thread(load, left) if left else None
            begin = (
                (await in_thread(load, unfinished.begin)).at(unfinished.begin_step)
                if unfinished.begin
                else None
            )
            goal = condition(unfinished.goal) if unfinished.goal else None
        except (BpeError, OSError) as error:
            self.screen.say(
                f"This unfinished training cannot be resumed. {sentence_of(error)}",
                "warning",
            )
        else:
            if (
                known
                and left == output
                and not (known.record and known.record.stop_reason == STOPPED)
            ):
                note.end()  # it came to its end after the app's
                return False
            ending, answers = (
                "was ended before anything of it was kept. Begin it again?",
                ("Begin", "Leave it"),
            )
            if known:
                ending = f"did not end: {counted(known.step, 'merge')} learned so far. Go on where it stopped?"
                answers = "Go on", "Keep what it has"
            if await self.screen.ask(
                Confirm(
                    f"The training of {visible(unfinished.title)} {ending}",
                    *answers,
                    harmless=True,
                )
            ):
                (note.leave if known else note.end)()  # the training takes it
                what = (
                    unfinished.title,
                    unfinished.options,
                    unfinished.paths,
                    unfinished.preset,
                )
                task = TrainingTask(
                    *what,
                    goal,
                    begin=begin,
                    begin_path=unfinished.begin,
                    resume=str(left or ""),
                )
                self._training.start(task)
                return True
        if left and left != output:
            await self._training.keep(output)
        note.end()
        return False


def _curve(run: TrainingRun) -> RunCurve:
    record, points = run.tokenizer.record, training_curve(run.tokenizer)
    return RunCurve(
        str(run.path),
        visible(run.path.stem),
        float(record.n_bytes) if record else 0,
        points,
    )


def _found() -> list[TrainingRun]:
    runs = [run for run in found([config.tokenizers_folder()]) if run.tokenizer.record]
    return sorted(runs, key=lambda run: str(run.described()["created"]), reverse=True)
