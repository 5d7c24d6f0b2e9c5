"""Explaining the merges of a vocabulary: their corpus, read as it was read for them, is counted, then step after step.

The command `why` prints a `Subject`; beside the app a worker answers questions about it while its vocabulary grows.
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
from bpe_core.corpus import find_files
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
from bpe_core.weighted import weighted_count
from bpe_core.worker.inputs import count_files, recorded_weights
from bpe_core.worker.job import Job, Request
from bpe_core.worker.recipe import Recipe

# Bytes without and with the kernel: what is counted beside the screen in a second or two.
MOST_ON_DISK: Final = (1 << 24, 1 << 28)
MOST_IN_PIECES: Final = (1 << 18, 1 << 23)  # of distinct pieces whose pairs are counted
MOST_UNSPLIT: Final = (
    1 << 17,
    1 << 21,
)  # of these in long pieces: nearly each merge changes all of them
_LONG: Final = 1 << 12  # characters


@dataclass(slots=True)
class Subject:
    """A tokenizer, and the texts in which the pairs of its merges are counted, by `count`."""

    tokenizer: Tokenizer  # with the merges that are known by now
    paths: Sequence[str]
    preset: Preset | None = None  # whose texts are taken instead of those at the paths
    rules: Options | TrainingRecord = field(default_factory=Options)
    weights: Mapping[str, Fraction] | Fraction | None = (
        None  # None: those of the training that the tokenizer is of
    )
    sample: Sample = EVERYTHING
    texts: Sequence[CorpusText] = ()
    sources: Set[str] = (
        frozenset()
    )  # the names of those files that are counted; others of a folder may be unreadable
    counts: PairCounts = field(init=False)

    @classmethod
    def of_file(
        cls, tokenizer: Tokenizer, paths: Sequence[str], preset: Preset | None
    ) -> Self:
        """Of a kept vocabulary; its training record says how the texts were read."""
        tokenizer.vocabulary.recover()
        rules = tokenizer.record or (preset.options if preset else Options())
        sample = tokenizer.record.sample if tokenizer.record else ""
        return cls(tokenizer, paths, preset, rules, None, Sample.parsed(sample))

    @classmethod
    def of_training(cls, recipe: Recipe, job: Job) -> Self:
        """Of a training under way, without any merge. Raises `OptionError` as that does, and `Stopped`."""
        old = recipe.load_extended(job)
        rules = recipe.rules(old)
        tokenizer = Tokenizer(
            first_vocabulary(rules, old.vocabulary if old else None), rules.pattern
        )
        preset = PRESETS.get(recipe.preset)
        return cls(
            tokenizer, recipe.paths, preset, rules, recipe.weighting(), recipe.sampled()
        )

    def count(self, job: Job, *, is_limited: bool = False) -> None:
        """Count the corpus. Raises `Stopped`, and `TextError` if it is too large and `is_limited`."""
        if self.preset:
            pieces = self.preset.counts().pieces
        else:
            if is_limited:
                size = sum(
                    file.size
                    for file in find_files(
                        self.paths, skip_bad=self.sample.skip_bad
                    ).files
                )
                _check_size("texts", int(size * self.sample.share), MOST_ON_DISK)
            pattern = self.tokenizer.pattern
            if self.weights is None:
                self.weights = recorded_weights(
                    self.tokenizer.record, self.tokenizer.splitter, self.paths, job
                )
            counts = count_files(
                self.paths, pattern, job, weights=self.weights, sample=self.sample
            )
            if isinstance(
                self.weights, Fraction
            ):  # the power of which the weights came
                self.weights = recorded_weights(
                    counts, self.tokenizer.splitter, self.paths, job
                )
            pieces, self.sources = (
                counts.pieces,
                {source.name for source in counts.sources},
            )
        if is_limited:
            sizes = [*map(len, pieces)]
            _check_size("different pieces", sum(sizes), MOST_IN_PIECES)
            _check_size(
                "text in long pieces",
                sum(size for size in sizes if size > _LONG),
                MOST_UNSPLIT,
            )
        self.counts = PairCounts(self.tokenizer, pieces)

    def grow(self, merges: Iterable[Triple]) -> None:
        """Add merges that were learned since."""
        self.tokenizer = self.counts.tokenizer = self.tokenizer.with_merges(merges)

    def explanation(self, step: int) -> Explanation:
        """Why the merge of a step was chosen, and the pairs after it, which the next one is chosen from."""
        return explain(self.counts, step, self.rules.ties, self.rules.max_token_length)

    def places(
        self, step: int, is_wanted: Callable[[], bool] = lambda: True
    ) -> list[CorpusPlace]:
        """Where the pair of a step stands; of no use if `is_wanted`, which is asked before each text, says no."""
        texts = takewhile(lambda _: is_wanted(), self.texts or self._texts())
        return list(pair_places(self.counts, step, texts)) if step else []

    def read_once(self) -> None:
        """Keep what the places of all steps are found by: the pieces of each text, and the newest texts themselves."""
        newest, splitter = (
            lru_cache(16)(lambda text: tuple(map(tuple, text.documents()))),
            self.tokenizer.splitter,
        )
        read = (
            (text, replace(text, documents=partial(newest, text)))
            for text in self._texts()
        )
        self.texts = [
            replace(kept, pieces=pieces_in(splitter, text)) for text, kept in read
        ]

    def _texts(self) -> Iterator[CorpusText]:
        """The texts in order; of a sample its stretches, whose lines are numbered as those of the file."""
        if self.preset:
            documents = self.preset.documents
            for number, document in enumerate(documents, 1):
                name = f"text {number}" if len(documents) > 1 else self.preset.name
                yield CorpusText(name, partial(iter, ((document,),)))
            return
        files = find_files(self.paths, skip_bad=self.sample.skip_bad).files
        names = Counter(file.name for file in files)
        read = self.sample.documents(files, self.tokenizer.splitter)
        for some, weight in files_by_weight(
            read, self.weights if isinstance(self.weights, Mapping) else {}
        ):
            for file in (one for one in some if one.source_name in self.sources):
                before = file.part(0, file.start).blocks if file.start else tuple
                name = file.name if names[file.name] == 1 else visible(str(file.path))
                yield CorpusText(
                    name,
                    file.documents,
                    bool(file.form),
                    before,
                    weighted_count(weight),
                )


def _check_size(what: str, n_bytes: int, most: tuple[int, int]) -> None:
    if n_bytes > (limit := most[kernel.available]):
        raise TextError(
            f"These are {n_bytes / 1e6:,.1f} MB of {what}, too much to count pairs in beside the screen (at most "
            f"{limit / 1e6:,.1f} MB); `bpescope why` in a terminal has more patience."
        )


@dataclass(frozen=True, slots=True)
class ExplainRequest(Request):
    """Why merges were chosen: each `AskStep` is answered, until the job is stopped."""

    NICE: ClassVar[int] = 10
    tokenizer: str = ""  # a file
    pattern: str | None = None  # how text is split where the file does not say it
    preset: str = ""  # the founding example whose texts it learned from, or
    paths: tuple[str, ...] = ()  # these
    recipe: Recipe | None = (
        None  # of a training under way: no file holds it, `LearnedMerges` tells its merges
    )

    def run(self, job: Job) -> None:
        if self.recipe:
            subject = Subject.of_training(self.recipe, job)
        else:
            tokenizer = load(self.tokenizer, pattern=self.pattern)
            subject = Subject.of_file(tokenizer, self.paths, PRESETS.get(self.preset))
        subject.count(job, is_limited=True)

        def is_wanted() -> bool:
            job.receive()
            return not (
                job.stopped or any(isinstance(later, AskStep) for later in job.messages)
            )

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
    """To a worker that explains: why was the merge of this step chosen?"""

    step: int


class LearnedMerges(NamedTuple):
    """To a worker that explains: these merges were learned since."""

    merges: tuple[Triple, ...]


class Places(NamedTuple):
    """Where the pair of a merge stands in the corpus; follows its `Explanation`, unless another step is asked for."""

    step: int
    places: tuple[CorpusPlace, ...]
