"""The recipe of a training run: which texts it reads, and by which rules it learns."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts
from bpe_core.corpus.reading import split_field
from bpe_core.corpus.sampling import Sample, parsed_weights
from bpe_core.corpus.streams import is_stream
from bpe_core.corpus.unpacking import MEMORY
from bpe_core.errors import OptionError
from bpe_core.formats import load
from bpe_core.hub import located
from bpe_core.process import most_threads
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import INHERITED, Options
from bpe_core.trainer.start import check_extensible, check_larger, inherited
from bpe_core.weighted import exact_fraction
from bpe_core.worker.inputs import count_files, send_counted
from bpe_core.worker.job import PROGRESS_EVERY, Job
from bpe_core.worker.messages import Role

if TYPE_CHECKING:
    from bpe_core.corpus.spill import Spill


@dataclass(frozen=True, slots=True)
class Recipe:
    """The texts and options of a training run, as the user chose them."""

    paths: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Options`. Others have their defaults, or the values of the tokenizer to extend."""
    sample: str = ""  # the fraction of the texts to read, such as "1/10"; "" for all
    seed: int = 0  # selects the sample
    documents: int | None = None
    """The number of documents to read, drawn at random; None for all."""
    dedupe: bool = False  # whether to read only the first of equal documents
    skip_bad: bool = False
    """Whether to skip rows that are not text, and files that can't be read."""
    weights: tuple[str, ...] = ()
    """How many times the texts of a path count, such as "notes/=2.5"."""
    alpha: str = ""
    """The exponent for `tempered`, which computes the weights of all paths; "" for none."""
    extend: str = ""
    """The path or name of a tokenizer whose merges come first; "" for none."""
    fork: int | None = None  # how many of its merges to keep; None for all
    preset: str = ""  # a published example, with its own texts and options
    dask: str = ""
    """The address of a scheduler whose workers count the texts, or "local"."""
    counts: str = ""  # a file of counts to learn from instead of texts
    min_piece_count: int = 1  # pieces that occur fewer times in this file are left out

    def load_extended(self, job: Job) -> Tokenizer | None:
        """Load the tokenizer to extend, and recover its merges. Return None for a new vocabulary.

        Raises:
            OptionError: The tokenizer can't be extended.
            Stopped: The job is to stop.
        """
        if not self.extend:
            if self.fork is not None:
                raise OptionError(
                    "--fork STEP needs a tokenizer to fork; name it with --extend OLD."
                )
            return None
        if self.preset:
            raise OptionError(
                f"The preset {self.preset} starts from single bytes and can't extend a tokenizer; "
                "leave out --extend or --preset."
            )
        path = located(self.extend, partial(job.progress, "fetching"))
        old = load(path, pattern=self.options.get("pattern"))
        if old.preparation:
            raise OptionError(
                f"{self.extend} cannot be extended: it changes a text before it splits it, "
                "or looks for tokens in it."
            )
        while not old.vocabulary.recover(PROGRESS_EVERY):
            n_recovered = round(old.vocabulary.recovered_share * old.n_tokens)
            job.progress("preparing", n_recovered, old.n_tokens, "recovering merges")
        check_extensible(old.vocabulary)
        return old if self.fork is None else old.at(self.fork)

    def load_counts(self, job: Job) -> Counts | None:
        """Load the file of counts, and report if it is incomplete. Return None without a file."""
        if not self.counts:
            return None
        counts = Counts.load(self.counts, least=self.min_piece_count)
        send_counted(counts, job)
        if counts.sample:
            job.say(f"The counts are not complete: {counts.sample}.")
        return counts

    def count(
        self,
        pattern: str,
        job: Job,
        *,
        role: Role = "corpus",
        weights: Mapping[str, Fraction] | None = None,
        outputs: Collection[str | Path | None] = (),
        spill: "Spill | None" = None,
    ) -> Counts:
        """Count the texts, on a cluster if the recipe names one.

        Args:
            pattern: The split pattern.
            job: Receives the progress.
            role: As in `count_files`.
            weights: How many times the texts of some paths count, if the recipe itself does not say so.
            outputs: As in `count_files`.
            spill: Stores the counts that exceed the memory limit.

        Raises:
            OptionError: Some options contradict each other.
            ClusterError: The workers of the cluster fail.
            Stopped: The job is to stop.
        """
        weighting = weights or self.weighting()
        sample = self.sampled()
        if self.has_streams:
            self._check_streams(sample)
        read: Callable[..., Counts] = Counts.read
        if self.has_streams:
            # The size of a stream is unknown, and small texts are counted by one thread.
            read = partial(Counts.read, workers=most_threads())
        with ExitStack() as stack:
            if self.dask:
                # Imported late, since few trainings need it.
                from bpe_core.worker.dask_connection import connected

                job.progress("preparing", 0, 0, "connecting to Dask")
                cluster = stack.enter_context(connected(self.dask, look=job.check))
                read = cluster.read
            return count_files(
                self.paths,
                pattern,
                job,
                role=role,
                preset=PRESETS.get(self.preset),
                outputs=outputs,
                weights=weighting,
                sample=sample,
                read=partial(read, spill=spill),
                with_streams=self.has_streams,
                memory=spill.memory if spill else MEMORY,
            )

    @property
    def has_streams(self) -> bool:
        """Whether a text can be read only once."""
        return any(is_stream(split_field(path)[0]) for path in self.paths)

    def _check_streams(self, sample: Sample) -> None:
        """Raise `OptionError` for streams if the options need texts to be read twice, or on other machines."""
        if sample.share < 1 or sample.n_documents is not None or sample.dedupe:
            raise OptionError(
                "Stdin and pipes can be read only once, and --sample, --documents and --dedupe read "
                "texts twice; save the text to a file first."
            )
        if self.dask:
            raise OptionError(
                "--dask can't read stdin or a pipe, only files that all machines have; "
                "save the text to a file."
            )

    def rules(self, old: Tokenizer | None, counts: Counts | None = None) -> Options:
        """Return all options, checked.

        Args:
            old: The tokenizer to extend.
            counts: The counts to learn from, if they are loaded from a file.

        Raises:
            OptionError: An option has a wrong value.
            PatternError: The pattern is not valid.
        """
        if self.preset:
            return PRESETS[self.preset].options
        options: dict[str, Any] = {}
        if old is not None:
            if not self.options.keys().isdisjoint(INHERITED):
                raise OptionError(
                    "Special tokens, id layout and end-of-word marker can't be changed with "
                    "--extend: they come from OLD; leave them out."
                )
            options["pattern"] = old.pattern
        elif counts is not None:
            options["pattern"] = counts.pattern
        options |= self.options
        if old is not None:
            options |= inherited(old.vocabulary)
        rules = Options(**options).checked()
        if old is not None:
            check_larger(old.vocabulary, rules.vocab_size)
        return rules

    def sampled(self) -> Sample:
        """Return the sample of the texts to read. Raises `OptionError`."""
        try:
            share = exact_fraction(self.sample or "1")
        except ValueError:
            raise OptionError(
                f"Invalid --sample {self.sample}: expected a fraction between 0 and 1, "
                "such as 0.1 or 1/10."
            ) from None
        return Sample(share, self.seed, self.documents, self.dedupe, self.skip_bad)

    def weighting(self) -> Mapping[str, Fraction] | Fraction:
        """Return the weights by path, or the exponent for `tempered`. Raises `OptionError`."""
        if not self.alpha:
            return parsed_weights(self.weights, self.paths)
        if self.weights:
            raise OptionError(
                "--alpha sets the weights of all paths; leave out --weight or --alpha."
            )
        if self.preset or len(set(self.paths)) == 1:
            raise OptionError(
                "--alpha needs several paths to balance, and there is only one; "
                "name the files of the folder one by one, or leave out --alpha."
            )
        problem = (
            f"Invalid --alpha {self.alpha}: expected a number from 0 (all paths count alike) "
            "to 1 (each by its size)."
        )
        try:
            alpha = exact_fraction(self.alpha)
        except ValueError:
            raise OptionError(problem) from None
        if not 0 <= alpha <= 1:
            raise OptionError(problem)
        return alpha
