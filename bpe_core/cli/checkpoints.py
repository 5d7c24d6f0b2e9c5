"""Keeping what a training has learned so far in a file, and going on from such a file after any end.

A checkpoint is a tokenizer file in bpescope's own format: its training record holds the options and the digests of the
texts. To resume, the texts are counted again, and the merges made again without being paced; each has to be the one in
the file. So the result is that of a training that was never interrupted, whatever the tie rule looks at.
"""

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from bpe_core.corpus import Source
from bpe_core.errors import FormatError, OptionError
from bpe_core.formats import load, save
from bpe_core.formats.atomic import file_of
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import Merge, Trainer
from bpe_core.trainer.options import Options
from bpe_core.visible import quoted
from bpe_core.worker.job import Job
from bpe_core.worker.messages import Checkpoint

EVERY: Final = 5.0
"""Seconds between two checkpoints of a training under way, at least."""

LARGEST_PART: Final = 0.02
"""Part of the time that writing checkpoints may take; of a vocabulary that takes long to write they become rarer."""

BEGIN_ANEW: Final = "leave out --resume to begin anew"


class Checkpoints:
    """Writes checkpoints of one training to `path`; to nowhere if that is None."""

    def __init__(self, path: Path | None, job: Job) -> None:
        self._path = path
        self._job = job
        self._n_kept = 0
        self._problem = ""
        self._next = time.monotonic() + EVERY

    def keep_now_and_then(self, trainer: Trainer) -> None:
        """Write a checkpoint if the last one is old enough; cheap enough for every turn of a loop."""
        if time.monotonic() >= self._next:
            self.keep(trainer)

    def keep(self, trainer: Trainer) -> None:
        """Write a checkpoint if there is anything new. What prevents it is reported, and ends nothing."""
        if self._path is None or trainer.n_merges == self._n_kept:
            return
        began = time.monotonic()
        problem = ""
        try:
            save(trainer.tokenizer(), self._path)
            self._n_kept = trainer.n_merges
        except FormatError as error:
            problem = str(error)
            if problem != self._problem:  # once, and not every few seconds
                self._job.say(f"No checkpoint: {problem}")
        self._problem = problem
        now = time.monotonic()
        self._next = now + max(EVERY, (now - began) / LARGEST_PART)
        self._job.send(Checkpoint(str(self._path), self._n_kept, problem))

    def remove(self) -> None:
        """Remove the file: all it holds is saved elsewhere."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def add_resume(parser: ArgumentParser) -> None:
    """Add the arguments that say where checkpoints go, and whether to go on from one."""
    parser.add_argument(
        "--resume", action="store_true", help="go on where an earlier run of this command ended, however it ended"
    )
    parser.add_argument(
        "--resume-from", metavar="FILE", help="the same, from this file instead of OUT.checkpoint or OUT"
    )
    parser.add_argument(
        "--checkpoint", metavar="FILE", help="where to keep what is learned so far, until OUT is saved (OUT.checkpoint)"
    )


def checkpoint_of(options: Namespace) -> Path | None:
    """Where the checkpoints of a training go: beside its OUT; None if it saves to no file of a disk."""
    if options.checkpoint:
        if options.output and os.path.realpath(options.checkpoint) == os.path.realpath(options.output):
            raise OptionError(f"{options.output} is where the tokenizer goes; name another file for the checkpoints.")
        return Path(options.checkpoint)
    place = file_of(options.output) if options.output else None
    return place and place.with_name(f"{place.name}.checkpoint")


def replay_of(options: Namespace, job: Job) -> "Replay | None":
    """What the run that is to be resumed has learned; None if none is to be, or it left no file: that is said.

    Raises `FormatError` if there is no such file, `OptionError` if it is broken or does not say how it was trained.
    """
    place = checkpoint_of(options)
    if options.resume_from:
        place = Path(options.resume_from)
    elif not options.resume:
        if place and place.exists():
            job.say(f"{place} is of a run that did not end; --resume would have gone on from it.")
        return None
    elif not (place and place.exists()):
        place = Path(options.output or os.devnull)
        if not place.is_file():
            job.say("There is no checkpoint to resume; this run begins at the beginning.")
            return None
    try:
        known = load(place)
    except FormatError as error:
        if not place.is_file():
            raise
        raise OptionError(f"{place} is no whole checkpoint; {BEGIN_ANEW}.") from error
    if known.record is None:
        raise OptionError(f"{place} does not say how it was trained; {BEGIN_ANEW}.")
    job.say(f"Going on from {place}, after {counted(known.step, 'merge')}.")
    return Replay(known, place)


class Replay:
    """The merges of an earlier run, which a training has to make again before it learns new ones."""

    def __init__(self, known: Tokenizer, place: Path) -> None:
        self.place = place
        """The file they are in."""
        self.n_merges = known.step
        """How many they are."""
        self._known = known

    def check_options(self, options: Options, sample: str) -> None:
        """Raise `OptionError` if the options, or what is read of the texts, are not those of the earlier run.

        Options that only end the learning (the sizes and least counts) may differ: they change no merge before the end.
        """
        record = self._known.record
        assert record
        if options.vocab_size < self._known.n_vocab:
            raise OptionError(
                f"{self.place} has {self._known.n_vocab:,} tokens already; ask for no fewer, or {BEGIN_ANEW}."
            )
        specials = tuple(self._known.special_tokens)
        for name, was, now in (
            ("pattern", record.pattern, options.pattern),
            ("ties", record.ties, options.ties),
            # Without special tokens the layouts are the same.
            ("id layout", record.id_layout if specials else "", options.id_layout if specials else ""),
            ("largest token length", record.max_token_length, options.max_token_length),
            ("end-of-word marker", record.end_of_word, options.end_of_word),
            ("special tokens", specials, tuple(options.special_tokens)),
            ("sample", record.sample, sample),
        ):
            if was != now:
                raise OptionError(
                    f"{self.place} was learned with the {name} {_named(was)}, not {_named(now)}; "
                    f"give the same options, or {BEGIN_ANEW}."
                )

    def check_texts(self, now: Sequence[Source]) -> None:
        """Raise `OptionError` if these are not the texts of the earlier run, whatever they are called."""
        assert self._known.record
        then = self._known.record.sources
        for was, source in zip(then, now, strict=False):
            if was.weight != source.weight:
                raise OptionError(
                    f"{source.name} counted {was.weight:,} times, and not {source.weight:,}, for {self.place}; "
                    f"give the same weights, or {BEGIN_ANEW}."
                )
            if (was.bytes, was.sha256) != (source.bytes, source.sha256):
                changed = "has changed" if was.name == source.name else f"is read where {was.name} was"
                raise OptionError(f"{source.name} {changed} since {self.place} was learned; {BEGIN_ANEW}.")
        if len(then) != len(now):
            raise OptionError(
                f"The corpus has {counted(len(now), 'text')} now, and had {len(then):,} when {self.place} was learned; "
                f"{BEGIN_ANEW}."
            )

    def check_merge(self, merge: Merge) -> None:
        """Raise `OptionError` if this is not the merge that the earlier run made at this step."""
        if merge.step <= self.n_merges:
            assert self._known.record
            was = (*self._known.merges[merge.step - 1], *self._known.record.steps[merge.step - 1])
            now = (merge.left, merge.right, merge.token, merge.count, merge.ties, merge.n_tokens)
            if was != now:
                raise OptionError(
                    f"Step {merge.step:,} of {self.place} is not the one that these texts and options give; "
                    f"{BEGIN_ANEW}."
                )


def _named(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(quoted, value)) or "none"
    return "none" if value in (None, "") else quoted(value) if isinstance(value, str) else str(value)
