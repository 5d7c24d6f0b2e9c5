"""A training to be done, as its worker is asked for it, and its course from the first event to the last."""

import asyncio
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bpe_core.corpus import Skipped
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import (
    STOPPED,
    Options,
    TrainingRecord,
    parsed_options,
)
from bpe_core.trainer import Merges
from bpe_core.trainer.conditions import Condition
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import CountRequest, TrainRequest, tokenizer_of
from tui.disk.locked import Note
from tui.process import WorkerProcess
from tui.state import Run, TrainingOptions, UnfinishedTraining


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training: on texts, or of a preset with its own text and options; from the bytes, or from a vocabulary."""

    title: str  # what the kept tokenizer is named after
    options: TrainingOptions
    paths: tuple[str, ...] = ()
    preset: str = ""
    goal: Condition | None = (
        None  # what is to be so when it waits; None where it goes on to its end
    )
    begin: Tokenizer | None = (
        None  # the vocabulary it begins with, at the step where it parts; None for the bytes
    )
    begin_path: str = ""  # the file that vocabulary is in
    folder: str = ""  # where it is kept; empty: with the others that are trained here
    resume: str = ""  # the file, a checkpoint or an output, in which an earlier run of it left what it had learned

    def request(self, output: Path) -> TrainRequest:
        keep = self.resume != str(output)
        return TrainRequest(
            self.recipe, str(output), keep_existing=keep, resume_from=self.resume
        )

    @property
    def recipe(self) -> Recipe:
        """What is learned, by which rules and from which texts. Raises `OptionError`."""
        if self.preset:
            return Recipe(preset=self.preset)
        options, more = self.options, self.options.more
        asked: dict[str, Any] = {
            name: getattr(options, name)
            for name in ("vocab_size", "pattern", "ties", "min_count")
        }
        asked |= parsed_options(Options, more)
        if self.begin is None:
            asked["special_tokens"] = options.special_tokens
        weights = tuple(
            f"{path}={options.weights[path]}"
            for path in self.paths
            if path in options.weights
        )
        recipe = Recipe(
            self.paths, asked, weights=weights, **parsed_options(Recipe, more)
        )
        return (
            replace(recipe, extend=self.begin_path, fork=self.begin.step)
            if self.begin
            else recipe
        )

    @property
    def counting(self) -> CountRequest:
        """What counts the same texts, alone. Raises `OptionError`."""
        return CountRequest(
            replace(self.recipe, options={}, extend="", fork=None), self.options.pattern
        )

    @property
    def rules(self) -> Options:
        """By what the worker learns, in the end. Raises `OptionError` or `PatternError` if it refuses to."""
        recipe = self.recipe
        (
            recipe.sampled(),
            recipe.weighting(),
        )  # of texts and not of rules, but the worker would refuse it all the same
        return recipe.rules(self.begin)


@dataclass(slots=True)
class Course:
    """One training from its beginning to its end; nothing of it outlives it by itself."""

    task: TrainingTask
    run: Run = field(default_factory=lambda: Run("counting"))
    since: float = field(default_factory=time.monotonic)  # when what it does now began
    tokenizer: Tokenizer | None = (
        None  # with what it has learned so far; None before its first merge is due
    )
    merges: Merges = field(default_factory=Merges)
    begun: TrainingRecord | None = (
        None  # what is recorded of it, once its texts are counted
    )
    n_known: int = 0  # merges that were made before, which come first
    skipped: list[Skipped] = field(
        default_factory=list
    )  # files that are no text, and rows
    named: Path = field(
        default_factory=Path
    )  # where it would be kept if nothing else were called so
    note: Note | None = None  # what the disk has of it until it has ended
    noted: UnfinishedTraining | None = None  # what the note says
    saved: Path | None = None  # where it is kept
    unkept: str = ""  # why its newest checkpoint could not be written
    worker: WorkerProcess | None = (
        None  # what learns, once it can; None before and after
    )
    goal: Condition | None = (
        None  # what is to be so when it waits next; None where it goes on to its end
    )
    stepped: bool = False  # whether somebody asked for its merges one by one
    ended: Run | None = (
        None  # how it came to its end, as soon as there are no more merges to come
    )
    reason: str = ""  # why the worker ended, as the file of the tokenizer records it
    all_shown: asyncio.Event = field(
        default_factory=asyncio.Event
    )  # or nobody looks on any more
    stopped_at: int | None = None  # the step that was shown when it was stopped

    def rate(self, done: int) -> float:
        """Units a second, now that `done` of what it does are done."""
        return done / max(0.05, time.monotonic() - self.since)

    @property
    def output(self) -> Path:
        return self.note.output if self.note else Path()

    @property
    def has_learned(self) -> bool:
        """Whether there is anything that would be lost with it."""
        return len(self.merges) >= max(1, self.n_known) and self.stopped_at != 0

    @property
    def unfinished(self) -> UnfinishedTraining:
        """What is needed to go on with it after any end of the app."""
        task, goal = self.task, str(self.goal) if self.goal else ""
        what = task.title, task.options, task.paths, task.preset, task.begin_path
        return UnfinishedTraining(*what, task.begin.step if task.begin else 0, goal)

    def learned(self) -> Tokenizer:
        """What the worker has sent until now, or as much of it as was shown when it was stopped."""
        assert self.begun is not None
        reason = self.reason or STOPPED
        if self.stopped_at is not None:
            reason = STOPPED
        elif self.run.phase == "failed":
            reason = "the worker process died"
        begin = self.task.begin.vocabulary if self.task.begin else None
        merges = self.merges[: self.stopped_at]
        return tokenizer_of(merges, self.task.rules, begin, self.begun, reason)


def place_for(folder: Path, title: str) -> Path:
    """The path on the shelf of what is named after `title`, if that is not taken.

    >>> place_for(Path("/nowhere"), "Python library · gpt4").name
    'python-library-gpt4.json'
    """
    stem = re.sub(r"[^\w.]+", "-", title.casefold()).strip("-.")[:60] or "tokenizer"
    return folder / f"{stem}.json"
