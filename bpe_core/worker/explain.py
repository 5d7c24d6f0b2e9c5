"""Explaining the merges of a tokenizer: count its corpus, and go through the merges step by step.

`bpescope why` prints a `Subject`. For the app, a worker answers questions about it, even while its
merges are still being learned.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import takewhile
from typing import ClassVar, Final, NamedTuple, Self

from bpe_core import kernel
from bpe_core.content.presets import PRESETS, Preset
from bpe_core.corpus import TextFile, find_files
from bpe_core.corpus.sampling import EVERYTHING, Sample, files_by_weight
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import Explanation, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.places import CorpusPlace, CorpusText, pair_places, pieces_in
from bpe_core.formats import load
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import Options, TrainingRecord
from bpe_core.trainer.start import first_vocabulary
from bpe_core.visible import visible
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.weighted import Count, weighted_count
from bpe_core.worker.inputs import count_files
from bpe_core.worker.job import Job, Request
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.weights import recorded_weights

MOST_ON_DISK: Final = (1 << 24, 1 << 28)
"""Maximum size of the texts that a worker counts, in bytes, without and with the kernel.

This limit and the next two allow about as much as can be counted in a second or two.
"""
MOST_IN_PIECES: Final = (1 << 18, 1 << 23)
"""Maximum size of the distinct pieces, in characters."""
MOST_UNSPLIT: Final = (1 << 17, 1 << 21)
"""Maximum size of the long pieces among them. Almost every merge changes these."""
_LONG: Final = 1 << 12
"""Maximum length of a piece that is not long, in characters."""


@dataclass(slots=True)
class Subject:
    """A tokenizer, and the texts in which `count` counts the pairs of its merges."""

    tokenizer: Tokenizer  # the tokenizer with the merges that are known so far
    paths: Sequence[str]
    preset: Preset | None = None
    """A published example. Its texts are counted instead of the texts at `paths`."""
    rules: Options | TrainingRecord = field(default_factory=Options)
    weights: Mapping[str, Fraction] | Fraction | None = None
    """The weights by path, or the exponent for `tempered`. None for the weights in the training record."""
    sample: Sample = EVERYTHING
    texts: Sequence[CorpusText] = ()  # the texts after `read_once`
    sources: Set[str] = frozenset()
    """The names of the files that were counted. Other files of a folder may be unreadable."""
    counts: PairCounts = field(init=False)

    @classmethod
    def of_file(
        cls, tokenizer: Tokenizer, paths: Sequence[str], preset: Preset | None
    ) -> Self:
        """Make a subject of a complete tokenizer, with the options in its training record."""
        tokenizer.vocabulary.recover()
        record = tokenizer.record
        if record is not None:
            sample = Sample.parsed(record.sample)
            return cls(tokenizer, paths, preset, rules=record, sample=sample)
        rules = preset.options if preset else Options()
        return cls(tokenizer, paths, preset, rules)

    @classmethod
    def of_training(cls, recipe: Recipe, job: Job) -> Self:
        """Make a subject of a training run, without merges.

        Raises:
            OptionError: The recipe is not valid.
            Stopped: The job is to stop.
        """
        old = recipe.load_extended(job)
        rules = recipe.rules(old)
        vocabulary = first_vocabulary(rules, old.vocabulary if old else None)
        return cls(
            Tokenizer(vocabulary, rules.pattern),
            recipe.paths,
            PRESETS.get(recipe.preset),
            rules,
            weights=recipe.weighting(),
            sample=recipe.sampled(),
        )

    def count(self, job: Job, *, is_limited: bool = False) -> None:
        """Count the corpus.

        Raises:
            TextError: A text can't be read, or the corpus is too large and `is_limited`.
            Stopped: The job is to stop.
        """
        if self.preset:
            pieces = self.preset.counts().pieces
        else:
            if is_limited:
                files = self._find_files()
                size = sum(file.size for file in files) * self.sample.share
                _check_size("texts", int(size), MOST_ON_DISK)
            pieces = self._count_pieces(job)
        if is_limited:
            lengths = list(map(len, pieces))
            n_in_long = sum(length for length in lengths if length > _LONG)
            _check_size("different pieces", sum(lengths), MOST_IN_PIECES)
            _check_size("text in long pieces", n_in_long, MOST_UNSPLIT)
        self.counts = PairCounts(self.tokenizer, pieces)

    def _count_pieces(self, job: Job) -> Mapping[str, Count]:
        """Count the texts at the paths, and set their weights and sources. Raises `Stopped`."""
        tokenizer = self.tokenizer
        splitter = tokenizer.splitter
        if self.weights is None:
            self.weights = recorded_weights(tokenizer.record, splitter, self.paths, job)
        counts = count_files(
            self.paths,
            tokenizer.pattern,
            job,
            weights=self.weights,
            sample=self.sample,
        )
        if isinstance(self.weights, Fraction):
            # Counting has computed the weights from this exponent.
            self.weights = recorded_weights(counts, splitter, self.paths, job)
        self.sources = {source.name for source in counts.sources}
        return counts.pieces

    def grow(self, merges: Iterable[Triple]) -> None:
        """Add merges that were learned since the last call."""
        self.tokenizer = self.tokenizer.with_merges(merges)
        self.counts.tokenizer = self.tokenizer

    def explanation(self, step: int) -> Explanation:
        """Explain why the merge of a step was chosen, and rank the pairs after it."""
        return explain(self.counts, step, self.rules.ties, self.rules.max_token_length)

    def places(
        self, step: int, is_wanted: Callable[[], bool] = lambda: True
    ) -> list[CorpusPlace]:
        """Find places of the pair of a step.

        `is_wanted` is called before each text. If it returns False, the result is incomplete.
        """
        if step == 0:
            return []
        texts = takewhile(lambda _: is_wanted(), self.texts or self._texts())
        return list(pair_places(self.counts, step, texts))

    def read_once(self) -> None:
        """Read all texts now. This pays if places of many steps are needed.

        It keeps the counts of the pieces of each text, and the contents of the last few texts used.
        """

        @lru_cache(16)
        def documents_of(text: CorpusText) -> tuple[tuple[str, ...], ...]:
            return tuple(map(tuple, text.documents()))

        texts = []
        for text in self._texts():
            kept = replace(text, documents=partial(documents_of, text))
            pieces = pieces_in(self.tokenizer.splitter, kept)
            texts.append(replace(kept, pieces=pieces))
        self.texts = texts

    def _find_files(self) -> Sequence[TextFile]:
        return find_files(self.paths, skip_bad=self.sample.skip_bad).files

    def _texts(self) -> Iterator[CorpusText]:
        """Yield the texts in order. Lines of a sampled stretch are numbered as in the whole file."""
        if self.preset:
            documents = self.preset.documents
            for number, document in enumerate(documents, 1):
                name = f"text {number}" if len(documents) > 1 else self.preset.name
                yield CorpusText(name, partial(iter, ((document,),)))
            return
        files = self._find_files()
        n_of_name = Counter(file.name for file in files)
        sample = self.sample.documents(files, self.tokenizer.splitter)
        weights = self.weights if isinstance(self.weights, Mapping) else {}
        for group, weight in files_by_weight(sample, weights):
            for file in group:
                if file.source_name not in self.sources:
                    continue
                before = file.part(0, file.start).blocks if file.start else tuple
                is_unique = n_of_name[file.name] == 1
                name = file.name if is_unique else visible(str(file.path))
                yield CorpusText(
                    name,
                    file.documents,
                    bool(file.form),
                    before,
                    weighted_count(weight),
                )


def _check_size(what: str, n_bytes: int, limits: tuple[int, int]) -> None:
    without_kernel, with_kernel = limits
    limit = with_kernel if kernel.available else without_kernel
    if n_bytes > limit:
        raise TextError(
            f"{n_bytes / 1e6:,.1f} MB of {what} are too much to count pairs in here; the limit is "
            f"{limit / 1e6:,.1f} MB. Use `bpescope why` in a terminal."
        )


@dataclass(frozen=True, slots=True)
class ExplainRequest(Request):
    """Explain merges: answer each `AskStep`, until the job is stopped."""

    NICE: ClassVar[int] = 10
    tokenizer: str = ""  # the tokenizer file
    pattern: str | None = None  # the split pattern; None for the pattern in the file
    preset: str = ""  # the published example whose texts are counted
    paths: tuple[str, ...] = ()  # the texts that are counted without a preset
    recipe: Recipe | None = None
    """A training run, given instead of a file. `LearnedMerges` brings its merges."""

    def run(self, job: Job) -> None:
        if self.recipe:
            subject = Subject.of_training(self.recipe, job)
        else:
            tokenizer = load(self.tokenizer, pattern=self.pattern)
            subject = Subject.of_file(tokenizer, self.paths, PRESETS.get(self.preset))
        subject.count(job, is_limited=True)

        def is_wanted() -> bool:
            """Whether the last step asked about is still the newest."""
            job.receive()
            asks_again = any(isinstance(message, AskStep) for message in job.messages)
            return not job.stopped and not asks_again

        while (message := job.next_message()) is not None:
            if isinstance(message, LearnedMerges):
                subject.grow(message.merges)
            elif isinstance(message, AskStep):
                step = min(message.step, subject.tokenizer.step)
                job.send(subject.explanation(step))
                places = tuple(subject.places(step, is_wanted))
                if is_wanted():
                    job.send(Places(step, places))


class AskStep(NamedTuple):
    """Asks the worker why the merge of a step was chosen."""

    step: int


class LearnedMerges(NamedTuple):
    """Sends the worker the merges that were learned since the last such message."""

    merges: tuple[Triple, ...]


class Places(NamedTuple):
    """Places of a merge. Sent after its `Explanation`, unless another step was asked for since."""

    step: int
    places: tuple[CorpusPlace, ...]
