"""A training task, as its worker receives it, and its course from the first event to the last."""

import asyncio
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

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
from bpe_core.vocabulary import Vocabulary
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.train import CountRequest, TrainRequest, tokenizer_of
from tui.disk.locked import Note
from tui.process import WorkerProcess
from tui.state import Run, TrainingOptions, UnfinishedTraining


@dataclass(frozen=True, slots=True)
class TrainingTask:
    """A training: on texts, or of a preset with its own text and options; from the bytes, or from a vocabulary."""

    title: str
    """The kept tokenizer is named after it."""
    options: TrainingOptions
    paths: tuple[str, ...] = ()
    preset: str = ""
    goal: Condition | None = None
    """The condition at which it pauses; None to go on to the end."""
    begin: Tokenizer | None = None
    """The tokenizer whose merges it keeps; None to start from bytes."""
    begin_path: str = ""
    """The file of that tokenizer."""
    folder: str = ""
    """The folder of the result; "" for the folder of all tokenizers trained here."""
    resume: str = ""
    """The checkpoint or output file of an earlier run, to go on with its merges."""

    @property
    def begin_step(self) -> int:
        """How many merges it keeps of an earlier training."""
        return self.begin.step if self.begin else 0

    @property
    def begin_vocabulary(self) -> Vocabulary | None:
        return self.begin.vocabulary if self.begin else None

    def request(self, output: Path) -> TrainRequest:
        path = str(output)
        return TrainRequest(
            self.recipe,
            path,
            keep_existing=self.resume != path,
            resume_from=self.resume,
        )

    @property
    def recipe(self) -> Recipe:
        """The texts and options for the worker. Raises `OptionError`."""
        if self.preset:
            return Recipe(preset=self.preset)
        options = self.options
        rules: dict[str, Any] = {
            "vocab_size": options.vocab_size,
            "pattern": options.pattern,
            "ties": options.ties,
            "min_count": options.min_count,
        }
        rules |= parsed_options(Options, options.more)
        if self.begin is None:
            rules["special_tokens"] = options.special_tokens
        weights = tuple(
            f"{path}={options.weights[path]}"
            for path in self.paths
            if path in options.weights
        )
        more = parsed_options(Recipe, options.more)
        recipe = Recipe(self.paths, rules, weights=weights, **more)
        if self.begin is None:
            return recipe
        return replace(recipe, extend=self.begin_path, fork=self.begin.step)

    @property
    def counting(self) -> CountRequest:
        """The request to count the same texts without training. Raises `OptionError`."""
        recipe = replace(self.recipe, options={}, extend="", fork=None)
        return CountRequest(recipe, self.options.pattern)

    def check(self) -> None:
        """Raise `OptionError` or `PatternError` if the worker would refuse the options."""
        _ = self.rules

    @property
    def rules(self) -> Options:
        """The options that the worker uses in the end. Raises `OptionError` or `PatternError`."""
        recipe = self.recipe
        # The worker would refuse an invalid sample or weight too.
        recipe.sampled()
        recipe.weighting()
        return recipe.rules(self.begin)


_AT_START: Final = Run("counting")


@dataclass(slots=True)
class Course:
    """One training from its start to its end."""

    task: TrainingTask
    run: Run = _AT_START
    since: float = field(default_factory=time.monotonic)
    """When its current phase began."""
    tokenizer: Tokenizer | None = None
    """The tokenizer with the merges learned so far; None before learning starts."""
    merges: Merges = field(default_factory=Merges)
    begun: TrainingRecord | None = None
    """The training record, once its texts are counted."""
    n_known: int = 0
    """How many merges come from an earlier training. They come first."""
    skipped: list[Skipped] = field(default_factory=list)
    """Files and rows that are not text."""
    named: Path = field(default_factory=Path)
    """The preferred output file, if no other file has its name."""
    note: Note | None = None
    """The note on the disk about this unfinished training."""
    noted: UnfinishedTraining | None = None
    """What that note contains."""
    saved: Path | None = None
    """The file that holds the result."""
    unkept: str = ""
    """Why the newest checkpoint could not be written."""
    worker: WorkerProcess | None = None
    """The process that learns; None before and after."""
    goal: Condition | None = None
    """The condition at which it pauses next; None to go on to the end."""
    stepped: bool = False
    """Whether the user steps through its merges one by one."""
    ended: Run | None = None
    """How it ended, as soon as all merges are learned."""
    reason: str = ""
    """Why the worker ended, as recorded in the tokenizer's file."""
    all_shown: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when all merges have been shown, or will not be shown any longer."""
    stopped_at: int | None = None
    """The step that was shown when the user stopped it."""

    def rate(self, done: int) -> float:
        """Return how many units of its current phase are done per second."""
        return done / max(0.05, time.monotonic() - self.since)

    @property
    def output(self) -> Path:
        return self.note.output if self.note else Path()

    @property
    def has_learned(self) -> bool:
        """Whether the training has merges that would be lost if they were not saved."""
        return len(self.merges) >= max(1, self.n_known) and self.stopped_at != 0

    @property
    def unfinished(self) -> UnfinishedTraining:
        """The data to resume it after any end of the app."""
        task = self.task
        goal = ""
        if self.goal is not None:
            goal = str(self.goal)
        return UnfinishedTraining(
            title=task.title,
            options=task.options,
            paths=task.paths,
            preset=task.preset,
            begin=task.begin_path,
            begin_step=task.begin_step,
            goal=goal,
        )

    def learned(self) -> Tokenizer:
        """Return the tokenizer with all merges received; after a stop, with the merges shown then."""
        assert self.begun is not None
        reason = self.reason or STOPPED
        if self.stopped_at is not None:
            reason = STOPPED
        elif self.run.phase == "failed":
            reason = "the worker process died"
        task = self.task
        merges = self.merges[: self.stopped_at]
        return tokenizer_of(
            merges, task.rules, task.begin_vocabulary, self.begun, reason
        )


def place_for(folder: Path, title: str) -> Path:
    """Return the path of a tokenizer with this title, whether or not the file exists.

    >>> place_for(Path("/nowhere"), "Python library · gpt4").name
    'python-library-gpt4.json'
    """
    words = re.sub(r"[^\w.]+", "-", title.casefold())
    stem = words.strip("-.")[:60]
    return folder / f"{stem or 'tokenizer'}.json"
