"""GoingOn: a training that begins where another one is or ended: resumed, extended, or forked at the step in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.errors import BpeError, FormatError, PatternNeededError
from bpe_core.formats import load, save_beside
from bpe_core.plurals import counted
from bpe_core.tokenizer.training_record import LARGEST_VOCABULARY, STOPPED
from bpe_core.trainer.conditions import condition
from bpe_core.visible import visible
from bpe_core.worker.messages import Command
from tui.dialogs.button_questions import Confirm
from tui.dialogs.questions import AskNumber
from tui.disk import config
from tui.disk.unfinished import Note, left_behind
from tui.owners.owner import sentence_of
from tui.state.tokenizers import name_of
from tui.state.training import TrainingOptions, UnfinishedTraining
from tui.terminal.background import in_thread
from tui.workers.training_task import RUN, WAIT, TrainingTask

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from tui.screen.main import MainScreen
    from tui.state.tokenizers import KnownTokenizer


class GoingOn:
    """Asks what is needed and starts such trainings, with `train`."""

    def __init__(self, screen: MainScreen, train: Callable[[TrainingTask], None]) -> None:
        self._screen = screen
        self._train = train

    # From a vocabulary

    async def extend(self, options: TrainingOptions) -> None:
        """Learn more merges on top of those of the tokenizer on the screen, from the chosen texts."""
        screen = self._screen
        if (old := self._usable()) is None:
            return
        size = await self._ask_size(
            f"Extend: its {counted(old.step, 'merge')} stay, and more are learned from {screen.corpus.title}, with its "
            f"own pattern and ties {options.ties} (F3). How many tokens in all? It has {old.n_vocab:,}.",
            old,
            2,
        )
        if size:
            title = f"{name_of(Path(screen.path))} extended"
            self._begin(title, old, options, size, pattern=old.pattern)

    async def start_from(self, name: str, task: TrainingTask) -> None:
        """Begin a training with the merges of a tokenizer, named as in the list or by its path."""
        path = path_of(name, self._screen.kept)
        try:
            begin = await in_thread(_whole, path, task.options.pattern)
            options = replace(task.options, special_tokens=())
        except (BpeError, OSError) as error:
            self._screen.say(sentence_of(error), "error")
            return
        if not self._screen.run.busy:
            title = f"{name_of(path)} extended"
            self._train_by_rules(replace(task, title=title, options=options, begin=begin, begin_path=str(path)))

    async def fork(self, options: TrainingOptions) -> None:
        """Keep the merges in force, and learn the next from the chosen texts with the chosen options."""
        screen = self._screen
        if (old := self._usable()) is None:
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
        """The tokenizer on the screen, if a training can begin with it; else it is told why not."""
        screen, problem = self._screen, ""
        if screen.run.busy:
            problem = "A training is running: stop it first (F8), what it learned is kept."
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
        return await self._screen.ask(AskNumber(question, str(usual), least=least, most=LARGEST_VOCABULARY))

    def _begin(self, title: str, begin: Tokenizer, options: TrainingOptions, size: int, *, pattern: str) -> None:
        chosen = replace(options, vocab_size=size, pattern=pattern, special_tokens=())
        paths, path = self._screen.corpus.paths, self._screen.path
        self._train_by_rules(TrainingTask(title, chosen, paths, begin=begin, begin_path=path))

    def _train_by_rules(self, task: TrainingTask) -> None:
        """Begin a training, if its options make sense together."""
        try:
            _ = task.rules
        except BpeError as error:
            self._screen.say(sentence_of(error), "error")
        else:
            self._train(task)

    # After any end

    def end(self, output: Path, *, learned: bool) -> None:
        """A training has ended; what was learned before it is kept, if it was to go on and did not get that far."""
        checkpoint = Path(f"{output}.checkpoint")
        if not learned and checkpoint.is_file():
            self._screen.run_worker(self._keep(checkpoint, output))

    def notes(self) -> list[Note]:
        """Those of trainings that earlier runs of the app left unfinished."""
        try:
            return left_behind(config.tokenizers_folder())
        except OSError:
            return []

    async def offer(self, notes: Sequence[Note]) -> None:
        """Ask whether to go on with one of these trainings; where not, what had been learned is kept."""
        try:
            for note in notes:
                if await self._offer(note):
                    return
        finally:
            for note in notes:
                note.leave()

    async def _offer(self, note: Note) -> bool:
        """Ask for one of them; whether it goes on, so that no other can."""
        left, unfinished, output = note.left, note.read(), note.output
        if left is None:
            if unfinished:
                told = "ended before anything of it was kept; F6 begins anew"
                self._screen.say(f"The training of {visible(unfinished.title)} {told}.", "warning")
            note.end()
            return False
        try:
            if unfinished is None:
                raise FormatError(f"What is noted of it beside {left} cannot be read.")
            known = await in_thread(load, left)
            begin = await in_thread(_at, unfinished.begin, unfinished.begin_step) if unfinished.begin else None
            first = _first(unfinished)
        except (BpeError, OSError) as error:
            self._screen.say(f"A training that did not end cannot be gone on with. {sentence_of(error)}", "warning")
            return await self._end_with(note, left)
        if left == output and not (known.record and known.record.stop_reason == STOPPED):
            note.end()  # it came to its end after the app's
            return False
        question = (
            f"The training of {visible(unfinished.title)} did not end: {counted(known.step, 'merge')} learned so far. "
            "Go on where it stopped?"
        )
        if not await self._screen.ask(Confirm(question, "Go on", "Keep what it has", harmless=True)):
            return await self._end_with(note, left)
        note.leave()  # the training takes it
        self._train(
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
            await self._keep(left, note.output)
        note.end()
        return False

    async def _keep(self, checkpoint: Path, output: Path) -> None:
        """Make a tokenizer of the list of what a training had learned."""
        try:
            kept = await in_thread(_kept, checkpoint, output)
            self._screen.say(f"What it had learned is kept as {kept.stem}.")
            self._screen.session.tokenizers.known.list_anew()
        except (BpeError, OSError) as error:
            self._screen.say(f"What it had learned stays in {checkpoint}. {sentence_of(error)}", "warning")


def path_of(name: str, kept: Iterable[KnownTokenizer]) -> Path:
    """The file of a tokenizer that is called so in the list; else the path that the name is."""
    known = (one.path for one in kept if name in (one.name, one.path))
    return Path(next(known, os.path.expanduser(name)))


def _whole(path: Path, pattern: str) -> Tokenizer:
    """The tokenizer in a file, its merges known; it is split by `pattern` if the file does not tell."""
    try:
        tokenizer = load(path)
    except PatternNeededError:
        tokenizer = load(path, pattern=pattern)
    tokenizer.vocabulary.recover()
    return tokenizer


def _first(unfinished: UnfinishedTraining) -> Command:
    """What the worker was told last. Raises `OptionError` for a goal that is none."""
    if unfinished.goal:
        return Command("until", condition=condition(unfinished.goal))
    return WAIT if unfinished.paused else RUN


def _at(path: str, step: int) -> Tokenizer:
    return load(path).at(step)


def _kept(checkpoint: Path, output: Path) -> Path:
    kept = save_beside(load(checkpoint), output)
    os.unlink(checkpoint)
    return kept
