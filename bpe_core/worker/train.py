"""A training: what is learned and from what, learning until it ends or is stopped, and saving what was learned."""

import gc
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts
from bpe_core.corpus.reading import split_field
from bpe_core.corpus.sampling import Sample, parsed_weights
from bpe_core.corpus.streams import is_stream
from bpe_core.errors import BpeError, FormatError, OptionError, Stopped
from bpe_core.formats import load, save, save_beside
from bpe_core.hub import located
from bpe_core.runs import exported
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import INHERITED, Options, TrainingRecord
from bpe_core.trainer import Merges, Trainer, record_of
from bpe_core.trainer.checkpoints import Checkpoints, check_options
from bpe_core.trainer.start import (
    check_extensible,
    check_larger,
    first_vocabulary,
    inherited,
)
from bpe_core.visible import counted
from bpe_core.vocabulary import Vocabulary
from bpe_core.weighted import Count, exact_fraction
from bpe_core.whole_file import file_of, write_atomically
from bpe_core.worker.inputs import check_output, count_files, send_counted
from bpe_core.worker.job import PROGRESS_EVERY, Job, Request
from bpe_core.worker.messages import Checkpoint, Done, Saved, Started

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill

BATCH: Final = 512  # merges in one event at most
BATCH_SECONDS: Final = 0.03  # after these a batch is sent though it is not full
SLICE_SECONDS: Final = 0.005  # of learning, about, after which messages are read


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a training learns, by which rules and from which texts, as it was asked for."""

    paths: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(
        default_factory=dict
    )  # of `Options`; others: usual, or of what is extended
    sample: str = (
        ""  # the share of the texts that is read, in stretches by `seed`; "" for all
    )
    seed: int = 0
    documents: int | None = None  # or so many documents of them
    dedupe: bool = False  # see `Sample`
    skip_bad: bool = False
    weights: tuple[str, ...] = ()  # PATH=NUMBER each
    alpha: str = ""  # or what they come of
    extend: str = ""  # the tokenizer whose merges come first
    fork: int | None = None  # so many of them; None for all
    preset: str = ""  # a founding example with its own texts and options
    dask: str = ""  # "local", or the address of a scheduler whose workers count
    counts: str = ""  # a file of counts instead of texts,
    min_piece_count: int = (
        1  # of which the pieces are read that occur so many times or more
    )

    def start(self, job: Job) -> Tokenizer | None:
        """The tokenizer that is extended, its merges recovered; None for a new vocabulary. Raises `Stopped`,
        `OptionError` if it cannot be extended, and what loading it raises."""
        if not self.extend:
            if self.fork is not None:
                raise OptionError(
                    "--fork STEP needs the tokenizer to fork: name it with --extend OLD."
                )
            return None
        if self.preset:
            raise OptionError(
                f"The preset {self.preset} begins at the bytes; leave out --extend, or --preset."
            )
        old = load(
            located(self.extend, partial(job.progress, "fetching")),
            pattern=self.options.get("pattern"),
        )
        if old.preparation:
            changes = "it changes a text before it splits it, or looks for tokens in it"
            raise OptionError(f"{self.extend} cannot be extended: {changes}.")
        while not old.vocabulary.recover(PROGRESS_EVERY):
            done = round(old.vocabulary.recovered_share * old.n_tokens)
            job.progress("preparing", done, old.n_tokens, "recovering merges")
        check_extensible(old.vocabulary)
        return old if self.fork is None else old.at(self.fork)

    def counted(self, job: Job) -> Counts | None:
        """The counts to learn from, if they are in a file; says what is left out of them."""
        if not self.counts:
            return None
        counts = Counts.load(self.counts, least=self.min_piece_count)
        send_counted(counts, job)
        if counts.sample:
            job.say(f"The counts are not of all: {counts.sample}.")
        return counts

    def count(
        self, pattern: str, job: Job, spill: "Spill | None" = None, **more: Any
    ) -> Counts:
        """The counts of the texts, for `more` see `count_files`. Raises `ClusterError`, too."""
        preset, weights, sample = (
            PRESETS.get(self.preset),
            self.weighting(),
            self.sampled(),
        )
        has_streams = any(is_stream(split_field(path)[0]) for path in self.paths)
        if has_streams:
            self._check_streams(sample)
            more["with_streams"] = True
        read: Callable[..., Counts] = Counts.read
        with ExitStack() as stack:
            if self.dask:
                from bpe_core.worker.dask_connection import (
                    connected,
                )  # late: few need it

                job.progress("preparing", 0, 0, "connecting to Dask")
                read = stack.enter_context(connected(self.dask, look=job.check)).read
            more["read"] = partial(read, spill=spill)
            if spill:
                more["memory"] = spill.memory
            return count_files(
                self.paths,
                pattern,
                job,
                preset=preset,
                weights=weights,
                sample=sample,
                **more,
            )

    def _check_streams(self, sample: Sample) -> None:
        """Raise OptionError for what needs to read a text twice, or elsewhere."""
        twice = sample.share < 1 or sample.n_documents is not None or sample.dedupe
        if twice:
            raise OptionError(
                "--sample, --documents and --dedupe read texts twice, and stdin or a pipe can be read only once; "
                "save the text to a file first."
            )
        if self.dask:
            raise OptionError(
                "--dask reads files on other machines, and not stdin or a pipe; save the text to a file."
            )

    def rules(self, old: Tokenizer | None, counts: Counts | None = None) -> Options:
        """The options, checked; `old` is the tokenizer extended. Raises `OptionError` or `PatternError`."""
        if self.preset:
            return PRESETS[self.preset].options
        if old is None:
            of_counts = {"pattern": counts.pattern} if counts else {}
            return Options(**(of_counts | {**self.options})).checked()
        if not self.options.keys().isdisjoint(INHERITED):
            given = "special tokens, their place and the end-of-word marker"
            raise OptionError(f"With --extend the {given} are those of OLD.")
        rules = Options(
            **{"pattern": old.pattern, **self.options, **inherited(old.vocabulary)}
        ).checked()
        check_larger(old.vocabulary, rules.vocab_size)
        return rules

    def sampled(self) -> Sample:
        """What is read of the texts. Raises `OptionError`."""
        try:
            share = exact_fraction(self.sample or "1")
        except ValueError:
            raise OptionError(
                f"--sample {self.sample} is no share; give a fraction such as 1/10 or 0.1."
            ) from None
        return Sample(share, self.seed, self.documents, self.dedupe, self.skip_bad)

    def weighting(self) -> Mapping[str, Fraction] | Fraction:
        """The weights of some paths, or the power of the shares of all. Raises `OptionError`."""
        if not self.alpha:
            return parsed_weights(self.weights, self.paths)
        if self.weights:
            raise OptionError(
                "--alpha makes the weights of all paths; leave out --weight, or --alpha."
            )
        if self.preset or len(set(self.paths)) == 1:
            raise OptionError(
                "--alpha balances several paths, and there is only one text or folder; "
                "name what it holds path by path, or leave out --alpha."
            )
        with suppress(ValueError):
            if 0 <= (alpha := exact_fraction(self.alpha)) <= 1:
                return alpha
        raise OptionError(
            f"--alpha {self.alpha} is no number from 0 (all paths alike) to 1 (as large as they are)."
        )


@dataclass(frozen=True, slots=True)
class CountRequest(Request):
    """How much text a training would read, and into how many pieces a pattern splits it."""

    recipe: Recipe
    pattern: str

    def run(self, job: Job) -> None:
        with suppress(Stopped):
            self.recipe.count(self.pattern, job)
        job.send(Done(job.stopped or "counted", 0, job.seconds))


@dataclass(frozen=True, slots=True)
class TrainRequest(Request):
    """A training, and the files that it writes and goes on from; "" for a file is none."""

    recipe: Recipe
    output: str = ""
    keep_existing: bool = (
        False  # whether it is saved to OUT-2, OUT-3, … where the output is taken
    )
    checkpoint: str = ""  # "": beside the output
    resume: bool = (
        False  # from the checkpoint, or the output, of an earlier run, if there is one
    )
    resume_from: str = ""  # or from this file
    curve: str = ""  # as CSV

    def run(self, job: Job) -> None:
        train(self, job)

    @property
    def place(self) -> Path | None:
        """Where the checkpoints go; None if the output is no file of a disk."""
        place = file_of(self.output) if self.output else None
        return (
            Path(self.checkpoint)
            if self.checkpoint
            else place and place.with_name(f"{place.name}.checkpoint")
        )

    def check(self) -> None:
        """Raise OptionError or FormatError now if saving would fail later, or would destroy a text."""
        recipe = self.recipe
        if recipe.preset and recipe.paths:
            raise OptionError(
                f"The preset {recipe.preset} has its own text; leave out {recipe.paths[0]}, or --preset."
            )
        said = (
            recipe.preset,
            recipe.weights,
            recipe.alpha,
            recipe.dask,
            str(recipe.sampled()),
        )
        if recipe.counts and (recipe.paths or any(said)):
            raise OptionError(
                "--counts are learned from as they are; leave out the texts and what is said of them."
            )
        if recipe.min_piece_count != 1 and not recipe.counts:
            raise OptionError(
                "--min-piece-count leaves pieces out of a file of counts: name one with --counts."
            )
        if not recipe.preset and not ((recipe.paths or recipe.counts) and self.output):
            raise OptionError(
                "Name the texts to learn from and, with -o, the file to save to; or a --preset."
            )
        if (
            self.output
            and self.checkpoint
            and os.path.realpath(self.checkpoint) == os.path.realpath(self.output)
        ):
            raise OptionError(
                f"{self.output} is where the tokenizer goes; name another file for the checkpoints."
            )
        for output in filter(None, (self.output, self.checkpoint, self.curve)):
            check_output(output, (*recipe.paths, recipe.counts))

    def earlier(self, job: Job) -> Tokenizer | None:
        """What the run to resume has learned; None if none is to be, or it left no file: that is said. Raises
        `FormatError` if there is no such file, `OptionError` if it is broken."""
        checkpoint = self.place if self.place and self.place.exists() else None
        if not (self.resume or self.resume_from):
            if checkpoint:
                job.say(
                    f"{checkpoint} is of a run that did not end; --resume would have gone on from it."
                )
            return None
        place = Path(self.resume_from or checkpoint or self.output or os.devnull)
        if not (self.resume_from or place.is_file()):
            job.say(
                "There is no checkpoint to resume; this run begins at the beginning."
            )
            return None
        try:
            earlier = load(place)
        except FormatError as error:
            if not place.is_file():
                raise
            raise OptionError(
                f"{place} is no whole checkpoint; leave out --resume to begin anew."
            ) from error
        job.say(f"Going on from {place}, after {counted(earlier.step, 'merge')}.")
        return earlier


def train(request: TrainRequest, job: Job) -> Tokenizer | None:
    """Count, learn, save and say how it ended.

    What was learned is saved whatever ends the learning: the trainer, a "stop", a signal, the end of the app. Stopped
    before the first merge, or before all that was known was made again, it writes no file, and returns None.
    """
    request.check()
    recipe, place, said = request.recipe, request.place, {""}

    def tell(problem: str) -> None:
        if problem not in said:  # once, and not every few seconds
            job.say(f"No checkpoint: {problem}")
            said.add(problem)
        job.send(Checkpoint(problem))

    checkpoints = Checkpoints(place, tell)
    trainer = tokenizer = None
    n_known, saved = 0, ""
    with suppress(Stopped):
        old = recipe.start(job)
        counts, sample = recipe.counted(job), recipe.sampled()
        rules = recipe.rules(old, counts)
        if earlier := request.earlier(job):
            check_options(earlier, rules, counts.sample if counts else str(sample))
        n_known = max(one.step if one else 0 for one in (old, earlier))
        trainer = Trainer(
            counts
            or recipe.count(
                rules.pattern, job, outputs=(request.output, place, request.curve)
            ),
            **asdict(rules),
            start=old and old.vocabulary,
            resume=earlier,
            progress=lambda done, total: job.progress(
                "preparing", done, total, "counting pairs"
            ),
        )
        job.send(Started(trainer.record, trainer.n_merges_wanted, trainer.n_known))
        # The corpus is many lists without a cycle; letting the garbage collector search it costs a sixth of the time.
        gc.freeze()
        try:
            learn(trainer, job, checkpoints)
        except Exception:
            with suppress(BpeError, MemoryError):
                checkpoints.keep(trainer)
            raise
        finally:
            gc.unfreeze()
        if trainer.n_merges >= max(n_known, 1) or not job.stopped:
            tokenizer = trainer.tokenizer()
            if request.output:
                saved = _saved(tokenizer, request, job)
                checkpoints.remove()
    n_merges, reason = (
        (trainer.n_merges, trainer.stop_reason or "") if trainer else (0, "")
    )
    n_given = trainer.record.n_given if trainer else 0
    job.send(Done(job.stopped or reason, n_merges, job.seconds))
    learned = counted(n_merges - n_given, "merge") + (
        f" behind {n_given:,} of the old vocabulary" if n_given else ""
    )
    where = f"saved in {saved}" if saved else "nothing is saved without -o"
    if not job.stopped:
        job.say(f"Learned {learned} in {job.seconds:.1f} s ({reason}); {where}.")
    elif n_merges < n_known:
        job.say(
            f"{job.stopped.capitalize()} before all that was known was made again; no file has changed."
        )
    elif n_merges:
        job.say(f"{job.stopped.capitalize()} after {learned}; {where}.")
    else:
        job.say(f"{job.stopped.capitalize()} before the first merge; nothing is saved.")
    if tokenizer and request.curve:
        write_atomically(
            (request.curve, list(exported("curve", [tokenizer], [request.curve])))
        )
    return tokenizer


def learn(trainer: Trainer, job: Job, checkpoints: Checkpoints) -> None:
    """Learn until the trainer ends or the job is stopped; sends all merges, and keeps checkpoints."""
    n_sent, sent = 0, time.monotonic()

    def send() -> None:
        nonlocal n_sent, sent
        if trainer.n_merges > n_sent:
            job.send(trainer.merges[n_sent:])
        n_sent, sent = trainer.n_merges, time.monotonic()
        checkpoints.keep_now_and_then(trainer)

    while not job.stopped and trainer.learn(
        n_sent + BATCH - trainer.n_merges, SLICE_SECONDS
    ):
        if (
            trainer.n_merges >= n_sent + BATCH
            or time.monotonic() - sent >= BATCH_SECONDS
        ):
            send()
        job.receive()
    send()


def tokenizer_of(
    merges: Merges,
    rules: Options,
    begin: Vocabulary | None,
    begun: TrainingRecord,
    stop_reason: str,
) -> Tokenizer:
    """The tokenizer of the merges that a training has sent, from the first on, with a record of them. `begin` is the
    vocabulary it began with, None for the bytes; `begun` the record it began with."""
    record = record_of(begun, merges, stop_reason)
    vocabulary = first_vocabulary(rules, begin).extended(
        zip(*merges.pairs, strict=True)
    )
    return Tokenizer(vocabulary, rules.pattern, record=record)


def _saved(tokenizer: Tokenizer, request: TrainRequest, job: Job) -> str:
    """Save to the output, and return where it is; if that fails, to the folder for temporary files, for learning may
    have taken hours: the FormatError then names that file."""
    output = request.output
    try:
        if request.keep_existing:
            output = str(save_beside(tokenizer, Path(output)))
        else:
            save(tokenizer, output)
    except FormatError as error:
        refuge = Path(
            tempfile.gettempdir(),
            f"{Path(output).stem[:100]}-{os.urandom(4).hex()}.json",
        )
        try:
            save(tokenizer, refuge)
        except FormatError:
            raise error from None
        job.send(Saved(str(refuge)))
        raise FormatError(
            f"{str(error).rstrip('.')}; what was learned is saved in {refuge} instead."
        ) from None
    job.send(Saved(output))
    return output


def learned_by_heart(counts: Sequence[Count]) -> str:
    """What to say of merges whose pair occurred but once, given the counts of all; empty if there are none."""
    if not counts or counts[-1] > 1:
        return ""
    step = next(step for step, count in enumerate(counts, 1) if 0 < count <= 1)
    return (
        f"From step {step:,} on each pair occurred only once: such tokens only memorize this text. "
        "With a minimum count of 2 a training stops before them."
    )
