"""Resuming: list earlier trainings, extend or fork a tokenizer, and resume what was interrupted."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import load
from bpe_core.metrics import training_curve
from bpe_core.runs import TrainingRun, found
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import LARGEST_VOCABULARY, STOPPED
from bpe_core.trainer.conditions import condition
from bpe_core.visible import counted, visible
from tui.dialogs.answers import whole_number
from tui.dialogs.ask import Ask
from tui.dialogs.confirm import Confirm
from tui.dialogs.runs import Runs
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
from tui.features.results import Results
from tui.features.tokenizers import Tokenizers
from tui.features.training import TrainingFeature
from tui.state import Corpus, RunCurve, TrainingOptions, UnfinishedTraining, name_of
from tui.terminal.background import in_thread


class Resuming(Feature):
    """Replaces the screen's `curve_under`, and starts trainings that begin with earlier merges."""

    def __init__(
        self,
        screen: StateScreen,
        tokenizers: Tokenizers,
        training: TrainingFeature,
        corpus: CorpusChoice,
        results: Results,
    ) -> None:
        super().__init__(screen)
        self._tokenizers = tokenizers
        self._training = training
        self._corpus = corpus
        self._results = results

    async def show_runs(self) -> None:
        """Show the list of trainings, to use one of their tokenizers or draw its curve under the current one."""
        runs = await in_thread(_recorded_runs)
        if not runs:
            self.screen.say("There is no saved training yet. Press F6 to start one.")
            return
        path_under = ""
        if self.screen.curve_under is not None:
            path_under = self.screen.curve_under.path
        chosen = await self.screen.ask(Runs(runs, path_under))
        if chosen is None:
            return
        run = chosen.run
        if not chosen.as_curve:
            self._tokenizers.use(run.path)
        elif path_under == str(run.path):
            self.screen.curve_under = None
        else:
            self.screen.curve_under = await in_thread(_curve, run)

    # Extend and fork

    async def train_on(self, forks: bool) -> None:
        """Extend the tokenizer on the screen, or fork it at the current step; ask for the vocabulary size."""
        screen = self.screen
        options = self._corpus.chosen_options()
        if options is None:
            return
        if not screen.run.busy:
            # The tokenizer of a training that has just ended may not be saved yet.
            await self._training.finish()
        tokenizer = self._usable()
        if tokenizer is None:
            return
        if forks:
            plan = _fork(tokenizer.at(screen.step), options, screen.corpus)
            usual_size = tokenizer.n_tokens
        else:
            plan = _extension(tokenizer, options, screen.corpus)
            usual_size = 2 * tokenizer.n_tokens
        smallest = plan.begin.n_tokens + 1
        number = partial(whole_number, smallest, LARGEST_VOCABULARY)
        start = str(max(smallest, usual_size))
        path = screen.path
        texts = screen.corpus
        size = await screen.ask(Ask(plan.question, number, start, example="a number"))
        if size:
            options = replace(plan.options, vocab_size=size, special_tokens=())
            task = TrainingTask(
                f"{name_of(Path(path))} {plan.title}",
                options,
                texts.paths,
                begin=plan.begin,
                begin_path=path,
            )
            task.check()
            self._training.start(task)

    def _usable(self) -> Tokenizer | None:
        """Return the tokenizer on the screen, if a training can begin with it. Otherwise say why not."""
        screen = self.screen
        tokenizer = screen.tokenizer
        problem = ""
        if screen.run.busy:
            problem = BUSY
        elif tokenizer is None or not screen.path:
            problem = NO_TOKENIZER
        elif not screen.corpus.paths:
            problem = NO_TEXT
        elif not tokenizer.vocabulary.knows_merges:
            problem = (
                "Its merges are still being recovered from the ranks. Try again soon."
            )
        if problem:
            screen.say(problem, "warning")
            return None
        return tokenizer

    # Interrupted trainings

    def notes(self) -> list[Note]:
        """Find the notes of interrupted trainings, and remove folders that nobody uses."""
        remove_abandoned_folders()
        try:
            return left_behind(config.tokenizers_folder())
        except OSError:
            return []

    async def offer(self, notes: Sequence[Note]) -> None:
        """Ask for each of these trainings whether to resume it, until the user does so."""
        try:
            for note in notes:
                if await self._offer(note):
                    return
        finally:
            for note in notes:
                note.leave()

    async def _offer(self, note: Note) -> bool:
        """Return whether a training is resumed. If not, keep its merges as a tokenizer."""
        checkpoint = await in_thread(note.find_merges)
        unfinished = await in_thread(note.read)
        if checkpoint is None and unfinished is None:
            note.end()
            return False
        try:
            if unfinished is None:
                raise FormatError(f"The note next to {checkpoint} cannot be read.")
            learned = None
            if checkpoint is not None:
                learned = await in_thread(load, checkpoint)
            task = await _task_of(unfinished, checkpoint)
        except (BpeError, OSError) as error:
            self.screen.say(
                f"An unfinished training cannot be resumed. {sentence_of(error)}",
                "warning",
            )
        else:
            if learned and checkpoint == note.output and not _was_stopped(learned):
                # The training ended, although the app had been killed.
                note.end()
                return False
            if await self.screen.ask(_resume_question(task.title, learned)):
                # The training claims the note of its checkpoint, and otherwise writes its own.
                if learned:
                    note.leave()
                else:
                    note.end()
                self._training.start(task)
                return True
        if checkpoint and checkpoint != note.output:
            await self._results.keep(note.output)
        note.end()
        return False


class _Plan(NamedTuple):
    """A training that begins with earlier merges, before its size is known."""

    begin: Tokenizer
    options: TrainingOptions
    title: str
    question: str


def _fork(begin: Tokenizer, options: TrainingOptions, texts: Corpus) -> _Plan:
    """Plan to learn other merges after a step than those that were learned there."""
    question = (
        f"Fork at step {begin.step:,}: learn other merges after it from {texts.title}, with pattern "
        f"{options.pattern} and ties {options.ties} (F3). How many tokens in all?"
    )
    return _Plan(begin, options, f"fork {begin.step} {options.ties}", question)


def _extension(begin: Tokenizer, options: TrainingOptions, texts: Corpus) -> _Plan:
    """Plan to learn more merges with the tokenizer's own pattern."""
    question = (
        f"Extend: keep the {counted(begin.step, 'merge')} and learn more from {texts.title}, with the same "
        f"pattern and ties {options.ties} (F3). How many tokens in all? Now {begin.n_tokens:,}."
    )
    options = replace(options, pattern=begin.pattern)
    return _Plan(begin, options, "extended", question)


async def _task_of(
    unfinished: UnfinishedTraining, checkpoint: Path | None
) -> TrainingTask:
    """Return the task that resumes a training. Raises BpeError or OSError."""
    begin = None
    if unfinished.begin:
        tokenizer = await in_thread(load, unfinished.begin)
        begin = tokenizer.at(unfinished.begin_step)
    goal = None
    if unfinished.goal:
        goal = condition(unfinished.goal)
    return TrainingTask(
        unfinished.title,
        unfinished.options,
        unfinished.paths,
        unfinished.preset,
        goal,
        begin=begin,
        begin_path=unfinished.begin,
        resume=str(checkpoint or ""),
    )


def _was_stopped(tokenizer: Tokenizer) -> bool:
    return tokenizer.record is not None and tokenizer.record.stop_reason == STOPPED


def _resume_question(title: str, learned: Tokenizer | None) -> Confirm:
    training = f"The training of {visible(title)}"
    if learned is None:
        question = f"{training} was interrupted before its first merge was saved. Start it again?"
        return Confirm(question, "Start", "Leave it", harmless=True)
    n_merges = counted(learned.step, "merge")
    question = f"{training} was interrupted after {n_merges}. Resume it?"
    return Confirm(question, "Resume", "Keep these merges", harmless=True)


def _curve(run: TrainingRun) -> RunCurve:
    record = run.tokenizer.record
    assert record is not None
    return RunCurve(
        str(run.path),
        visible(run.path.stem),
        float(record.n_bytes),
        training_curve(run.tokenizer),
    )


def _recorded_runs() -> list[TrainingRun]:
    """Return the trainings with a record, the newest first."""
    runs = found([config.tokenizers_folder()])
    recorded = [run for run in runs if run.tokenizer.record]
    return sorted(recorded, key=_time_of, reverse=True)


def _time_of(run: TrainingRun) -> str:
    return str(run.described()["created"])
