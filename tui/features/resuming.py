"""Resuming: a training that begins where another one is or ended: extended, forked at the step in force, resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import load
from bpe_core.tokenizer.training_record import LARGEST_VOCABULARY, STOPPED
from bpe_core.trainer.conditions import condition
from bpe_core.visible import counted, visible
from bpe_core.worker.messages import JobCommand
from tui.dialogs.questions import Ask, Confirm, whole_number
from tui.disk import config
from tui.disk.unfinished import Note, left_behind
from tui.features.course import RUN, WAIT, TrainingTask
from tui.features.feature import Feature, sentence_of
from tui.features.tokenizers import BUSY
from tui.state import name_of
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from tui.features.corpus import CorpusChoice
    from tui.features.feature import StateScreen
    from tui.features.training import TrainingFeature
    from tui.state import TrainingOptions, UnfinishedTraining


class Resuming(Feature):
    """Asks what is needed and starts such trainings."""

    def __init__(self, screen: StateScreen, training: TrainingFeature, corpus: CorpusChoice) -> None:
        super().__init__(screen)
        self._training = training
        self._corpus = corpus

    # From a vocabulary

    async def extend(self) -> None:
        """Learn more merges on top of those of the tokenizer on the screen, from the chosen texts."""
        screen, options = self.screen, self._corpus.chosen_options()
        if options is None or (old := self._usable()) is None:
            return
        size = await self._ask_size(
            f"Extend: its {counted(old.step, 'merge')} stay, and more are learned from {screen.corpus.title}, with its "
            f"own pattern and ties {options.ties} (F3). How many tokens in all? It has {old.n_vocab:,}.",
            old,
            2,
        )
        if size:
            self._begin(f"{name_of(Path(screen.path))} extended", old, options, size, pattern=old.pattern)

    async def fork(self) -> None:
        """Keep the merges in force, and learn the next from the chosen texts with the chosen options."""
        screen, options = self.screen, self._corpus.chosen_options()
        if options is None or (old := self._usable()) is None:
            return
        begin = old.at(screen.step)
        question = (
            f"Fork at step {screen.step:,}: the merges after it are learned anew, with pattern {options.pattern} and "
            f"ties {options.ties} (F3), from {screen.corpus.title}. How many tokens in all?"
        )
        size = await self._ask_size(question, begin, 1, old.n_vocab)
        if size:
            title = f"{name_of(Path(screen.path))} fork {screen.step} {options.ties}"
            self._begin(title, begin, options, size, pattern=options.pattern)

    def _usable(self) -> Tokenizer | None:
        """The tokenizer on the screen, if a training can begin with it; else a sentence says why not."""
        screen, problem = self.screen, ""
        if screen.run.busy:
            problem = BUSY
        elif screen.tokenizer is None or not screen.path:
            problem = "There is no tokenizer yet: train one (F6), or open one."
        elif not screen.corpus.paths:
            problem = "No text is chosen: press F2, go to one, and mark it with the space bar."
        elif not screen.tokenizer.vocabulary.knows_merges:
            problem = "Its merges are still being recovered from the ranks; try again when they are."
        if problem:
            screen.say(problem, "warning")
            return None
        return screen.tokenizer

    async def _ask_size(self, question: str, begin: Tokenizer, times: int, start: int = 0) -> int | None:
        least = begin.n_vocab + 1
        usual = max(least, start or times * begin.n_vocab)
        number = partial(whole_number, least, LARGEST_VOCABULARY)
        return await self.screen.ask(Ask(question, number, str(usual), example="a number"))

    def _begin(self, title: str, begin: Tokenizer, options: TrainingOptions, size: int, *, pattern: str) -> None:
        chosen = replace(options, vocab_size=size, pattern=pattern, special_tokens=())
        task = TrainingTask(title, chosen, self.screen.corpus.paths, begin=begin, begin_path=self.screen.path)
        _ = task.rules  # refuses options that make no sense together
        self._training.start(task)

    # After an end of the app

    def notes(self) -> list[Note]:
        """Those of trainings that earlier runs of the app left unfinished."""
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
        """Ask for one of them; whether it is resumed, so that no other can be."""
        left, unfinished, output = note.left, note.read(), note.output
        if left is None:
            if unfinished:
                ending = "ended before anything of it was kept; F6 begins anew"
                self.screen.say(f"The training of {visible(unfinished.title)} {ending}.", "warning")
            note.end()
            return False
        try:
            if unfinished is None:
                raise FormatError(f"What is noted of it beside {left} cannot be read.")
            known = await in_thread(load, left)
            begin = await in_thread(_at, unfinished.begin, unfinished.begin_step) if unfinished.begin else None
            first = _first(unfinished)
        except (BpeError, OSError) as error:
            self.screen.say(f"This unfinished training cannot be resumed. {sentence_of(error)}", "warning")
            return await self._end_with(note, left)
        if left == output and not (known.record and known.record.stop_reason == STOPPED):
            note.end()  # it came to its end after the app's
            return False
        question = (
            f"The training of {visible(unfinished.title)} did not end: {counted(known.step, 'merge')} learned so far. "
            "Go on where it stopped?"
        )
        if not await self.screen.ask(Confirm(question, "Go on", "Keep what it has", harmless=True)):
            return await self._end_with(note, left)
        note.leave()  # the training takes it
        self._training.start(
            TrainingTask(
                unfinished.title,
                unfinished.options,
                unfinished.paths,
                unfinished.preset,
                first=first,
                begin=begin,
                begin_path=unfinished.begin,
                resume=str(left),
            )
        )
        return True

    async def _end_with(self, note: Note, left: Path) -> bool:
        if left != note.output:
            await self._training.keep_checkpoint(left, note.output)
        note.end()
        return False


def _first(unfinished: UnfinishedTraining) -> JobCommand:
    """The last command to its worker. Raises `OptionError` for a goal that is none."""
    if unfinished.goal:
        return JobCommand("until", condition=condition(unfinished.goal))
    return WAIT if unfinished.paused else RUN


def _at(path: str, step: int) -> Tokenizer:
    return load(path).at(step)
