"""A training run as a job: count, learn until it ends or is stopped, and save the tokenizer."""

import gc
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError, FormatError, OptionError, Stopped
from bpe_core.formats import load, save, save_beside
from bpe_core.runs import exported
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options, TrainingRecord
from bpe_core.trainer import Merges, Trainer, record_of
from bpe_core.trainer.checkpoints import Checkpoints, check_options
from bpe_core.trainer.start import first_vocabulary
from bpe_core.visible import counted
from bpe_core.vocabulary import Vocabulary
from bpe_core.weighted import Count
from bpe_core.whole_file import file_of, write_atomically
from bpe_core.worker.inputs import check_output
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Checkpoint, Done, Saved, Started
from bpe_core.worker.recipe import Recipe

BATCH: Final = 512
"""Maximum number of merges in an event."""
BATCH_SECONDS: Final = 0.03
"""Seconds after which a smaller batch is sent."""
SLICE_SECONDS: Final = 0.005
"""Seconds of learning between two looks for messages."""


@dataclass(frozen=True, slots=True)
class CountRequest(Request):
    """Count the texts of a training run, and the pieces into which a pattern splits them."""

    recipe: Recipe
    pattern: str

    def run(self, job: Job) -> None:
        with suppress(Stopped):
            self.recipe.count(self.pattern, job)
        job.send(Done(job.stopped or "counted", 0, job.seconds))


@dataclass(frozen=True, slots=True)
class TrainRequest(Request):
    """Train a tokenizer. The empty string means no file."""

    recipe: Recipe
    output: str = ""  # the file to save the tokenizer to
    keep_existing: bool = False
    """Whether to save to OUT-2, OUT-3, … if the output exists."""
    checkpoint: str = ""  # the file for checkpoints; "" for one next to the output
    resume: bool = False
    """Whether to continue from the checkpoint of an earlier run, or from its output."""
    resume_from: str = ""  # another file to continue from
    curve: str = ""  # the file for the corpus size after each merge, as CSV

    def run(self, job: Job) -> None:
        train(self, job)

    @property
    def checkpoint_path(self) -> Path | None:
        """The path of the checkpoints. None if no path is named and the output is not a regular file."""
        if self.checkpoint:
            return Path(self.checkpoint)
        output = file_of(self.output) if self.output else None
        if output is None:
            return None
        return output.with_name(f"{output.name}.checkpoint")

    def check(self) -> None:
        """Raise an error now if saving would fail later, or would overwrite a text.

        Raises:
            OptionError: Options are missing or contradict each other.
            FormatError: An output can't be written.
        """
        self._check_sources()
        recipe = self.recipe
        if not recipe.preset:
            has_source = recipe.paths or recipe.counts
            if not has_source or not self.output:
                raise OptionError(
                    "Name the texts to learn from and, with -o, the file to save to; "
                    "or a --preset."
                )
        output_path = os.path.realpath(self.output) if self.output else None
        if self.checkpoint and os.path.realpath(self.checkpoint) == output_path:
            raise OptionError(
                f"{self.output} can't be both the output and the checkpoint; "
                "name another file for the checkpoints."
            )
        for output in (self.output, self.checkpoint, self.curve):
            if output:
                check_output(output, (*recipe.paths, recipe.counts))

    def _check_sources(self) -> None:
        """Raise `OptionError` if the options about the texts contradict each other."""
        recipe = self.recipe
        if recipe.preset and recipe.paths:
            raise OptionError(
                f"The preset {recipe.preset} has its own text; "
                f"leave out {recipe.paths[0]} or --preset."
            )
        for_texts = (
            recipe.paths,
            recipe.preset,
            recipe.weights,
            recipe.alpha,
            recipe.dask,
            str(recipe.sampled()),  # "" for all of the texts
        )
        if recipe.counts and any(for_texts):
            raise OptionError(
                "--counts replaces texts; leave out the texts and the options that select, weigh "
                "or count them."
            )
        if recipe.min_piece_count != 1 and not recipe.counts:
            raise OptionError(
                "--min-piece-count needs a file of counts; name one with --counts."
            )

    def load_earlier(self, job: Job) -> Tokenizer | None:
        """Load what an earlier run has learned.

        Returns:
            The tokenizer, or None if there is nothing to resume. A missing checkpoint is reported.

        Raises:
            FormatError: The file to resume from does not exist.
            OptionError: The file is not a complete checkpoint.
        """
        checkpoint = self.checkpoint_path
        if checkpoint is not None and not checkpoint.exists():
            checkpoint = None
        if not (self.resume or self.resume_from):
            if checkpoint is not None:
                job.say(
                    f"{checkpoint} is the checkpoint of an unfinished run. "
                    "This run starts from the beginning; to continue the other run, use --resume."
                )
            return None
        path = self._path_to_resume(checkpoint)
        if path is None:
            job.say("No checkpoint to resume; this run starts from the beginning.")
            return None
        try:
            earlier = load(path)
        except FormatError as error:
            if not path.is_file():
                raise
            raise OptionError(
                f"{path} is not a complete checkpoint; leave out --resume to start over."
            ) from error
        job.say(f"Continuing from {path}, after {counted(earlier.step, 'merge')}.")
        return earlier

    def _path_to_resume(self, checkpoint: Path | None) -> Path | None:
        """Return the file that was named, else the checkpoint, else the output; None without a file."""
        if self.resume_from:
            return Path(self.resume_from)
        # A run that ends removes its checkpoint after it has saved the output.
        path = checkpoint or Path(self.output)
        return path if path.is_file() else None


def train(request: TrainRequest, job: Job) -> Tokenizer | None:
    """Count, learn, save, and report how the training ended.

    However the learning ends, the merges are saved: by the trainer, a message, a signal, or the end
    of the app. No file is written if it ends before the first merge, or before all merges of an
    earlier run were made again.

    Returns:
        The tokenizer; None if no file may be written.
    """
    request.check()
    training = _Training(request, job)
    with suppress(Stopped):
        training.learn(training.start())
    training.report()
    if training.tokenizer is not None and request.curve:
        lines = list(exported("curve", [training.tokenizer], [request.curve]))
        write_atomically((request.curve, lines))
    return training.tokenizer


class _Training:
    """A training run, from its request to its end."""

    def __init__(self, request: TrainRequest, job: Job) -> None:
        self._request = request
        self._job = job
        self._checkpoints = Checkpoints(request.checkpoint_path, self._on_checkpoint)
        self._reported_problems: set[str] = set()
        self._trainer: Trainer | None = None
        self._n_known = 0
        """Number of merges of the tokenizer to extend, or of the run to resume. They are made again."""
        self.tokenizer: Tokenizer | None = None
        """The result, if it may be saved."""
        self._saved_path = ""

    def _on_checkpoint(self, problem: str) -> None:
        """Report a checkpoint. For a person, print each problem once."""
        if problem and problem not in self._reported_problems:
            self._job.say(f"No checkpoint: {problem}")
            self._reported_problems.add(problem)
        self._job.send(Checkpoint(problem))

    def start(self) -> Trainer:
        """Count the texts, and return a trainer without merges. Raises `Stopped`."""
        request = self._request
        recipe = request.recipe
        job = self._job
        old = recipe.load_extended(job)
        counts = recipe.load_counts(job)
        sample = counts.sample if counts else str(recipe.sampled())
        rules = recipe.rules(old, counts)
        earlier = request.load_earlier(job)
        if earlier is not None:
            check_options(earlier, rules, sample)
            self._n_known = earlier.step
        if old is not None:
            self._n_known = max(self._n_known, old.step)
        if counts is None:
            outputs = (request.output, request.checkpoint_path, request.curve)
            counts = recipe.count(rules.pattern, job, outputs=outputs)
        trainer = Trainer(
            counts,
            **asdict(rules),
            start=None if old is None else old.vocabulary,
            resume=earlier,
            progress=partial(job.progress, "preparing", name="counting pairs"),
        )
        self._trainer = trainer
        job.send(Started(trainer.record, trainer.n_merges_wanted, trainer.n_known))
        return trainer

    def learn(self, trainer: Trainer) -> None:
        """Learn merges, and save the tokenizer unless the job stopped before it repeated all merges of the run to resume."""
        request = self._request
        job = self._job
        # The corpus is many lists without a cycle. Searching it would take the garbage collector
        # a sixth of the time.
        gc.freeze()
        try:
            _learn(trainer, job, self._checkpoints)
        except Exception:
            with suppress(BpeError, MemoryError):
                self._checkpoints.keep(trainer)
            raise
        finally:
            gc.unfreeze()
        if trainer.n_merges >= max(self._n_known, 1) or not job.stopped:
            self.tokenizer = trainer.tokenizer()
            if request.output:
                self._saved_path = _save(self.tokenizer, request, job)
                self._checkpoints.remove()

    def report(self) -> None:
        """Report the end to the app, and to a person."""
        job = self._job
        trainer = self._trainer
        n_merges = 0
        reason = ""
        if trainer is not None:
            n_merges = trainer.n_merges
            reason = trainer.stop_reason or ""
        job.send(Done(job.stopped or reason, n_merges, job.seconds))
        n_given = trainer.record.n_given if trainer else 0
        learned = counted(n_merges - n_given, "merge")
        if n_given:
            learned += f" after {n_given:,} merges of the old vocabulary"
        where = "not saved, because there is no -o"
        if self._saved_path:
            where = f"saved in {self._saved_path}"
        stopped = job.stopped.capitalize()
        if not stopped:
            job.say(f"Learned {learned} in {job.seconds:.1f} s ({reason}); {where}.")
        elif n_merges < self._n_known:
            job.say(
                f"{stopped} before all earlier merges were made again; no files were changed."
            )
        elif n_merges:
            job.say(f"{stopped} after {learned}; {where}.")
        else:
            job.say(f"{stopped} before the first merge; nothing is saved.")


def _learn(trainer: Trainer, job: Job, checkpoints: Checkpoints) -> None:
    """Learn until the trainer ends or the job is stopped. Send all merges, and keep checkpoints."""
    n_sent = 0
    sent_at = time.monotonic()
    while not job.stopped:
        if not trainer.learn(n_sent + BATCH - trainer.n_merges, SLICE_SECONDS):
            break
        is_full = trainer.n_merges >= n_sent + BATCH
        if is_full or time.monotonic() - sent_at >= BATCH_SECONDS:
            n_sent = _send_merges(trainer, n_sent, job)
            sent_at = time.monotonic()
            checkpoints.keep_now_and_then(trainer)
        job.receive()
    _send_merges(trainer, n_sent, job)
    checkpoints.keep_now_and_then(trainer)


def _send_merges(trainer: Trainer, n_sent: int, job: Job) -> int:
    """Send the merges after the first `n_sent`, and return how many are sent then."""
    if trainer.n_merges > n_sent:
        job.send(trainer.merges[n_sent:])
    return trainer.n_merges


def _save(tokenizer: Tokenizer, request: TrainRequest, job: Job) -> str:
    """Save the tokenizer, and return its path.

    Learning may have taken hours. So if saving fails, the tokenizer is saved to the folder for
    temporary files, and the FormatError names that file.
    """
    output = request.output
    try:
        if request.keep_existing:
            output = str(save_beside(tokenizer, Path(output)))
        else:
            save(tokenizer, output)
    except FormatError as error:
        name = f"{Path(output).stem[:100]}-{os.urandom(4).hex()}.json"
        refuge = Path(tempfile.gettempdir(), name)
        try:
            save(tokenizer, refuge)
        except FormatError:
            raise error from None
        job.send(Saved(str(refuge)))
        problem = str(error).rstrip(".")
        raise FormatError(
            f"{problem}. The tokenizer was saved to {refuge} instead."
        ) from None
    job.send(Saved(output))
    return output


def tokenizer_of(
    merges: Merges,
    rules: Options,
    start: Vocabulary | None,
    start_record: TrainingRecord,
    stop_reason: str,
) -> Tokenizer:
    """Make a tokenizer from the merges that a training run has sent.

    Args:
        merges: All merges, from the first.
        rules: The options of the training.
        start: The vocabulary that the training extends; None for a new one.
        start_record: The record in `Started`.
        stop_reason: Why the training ended.
    """
    record = record_of(start_record, merges, stop_reason)
    vocabulary = first_vocabulary(rules, start)
    vocabulary = vocabulary.extended(merges.triples())
    return Tokenizer(vocabulary, rules.pattern, record=record)


def learned_by_heart(counts: Sequence[Count]) -> str:
    """Return a warning about merges whose pair occurred only once; "" if all were more frequent.

    `counts` has the count of each merge, in order.
    """
    # The counts of learned merges never rise, so the last one shows whether there are such merges.
    # A given merge may have a count of 0, and fractional weights make counts below 1.
    if not counts or counts[-1] > 1:
        return ""
    step = next(step for step, count in enumerate(counts, 1) if 0 < count <= 1)
    return (
        f"From step {step:,} on, each pair occurred only once: such tokens only memorize this "
        "text. To stop before them, train with a minimum count of 2."
    )
