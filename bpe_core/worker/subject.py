"""What is explained: the merges of a vocabulary, and the corpus they were learned from, read as it was read then."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol, Self

from bpe_core import kernel
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.sampling import Sample
from bpe_core.corpus.weights import parsed, portions_by_weight
from bpe_core.errors import TextError
from bpe_core.explain.merge_choice import GIVEN, Explanation, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.places import CorpusPlace, CorpusText, pair_places
from bpe_core.explain.token_uses import TokenUses, token_uses
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer.start import first_vocabulary
from bpe_core.worker.inputs import count_files

if TYPE_CHECKING:
    from bpe_core.content.presets import Preset
    from bpe_core.corpus.reading import TextFile
    from bpe_core.patterns import Splitter
    from bpe_core.tokenizer.training_record import TrainingRecord
    from bpe_core.vocabulary.merge_loop import Triple
    from bpe_core.worker.job import Job
    from bpe_core.worker.train import Recipe

MOST_ON_DISK: Final = (1 << 24, 1 << 28)
"""Bytes of texts that are counted beside the screen without and with the kernel: in a second or two."""
MOST_IN_PIECES: Final = (1 << 18, 1 << 23)
"""Bytes of distinct pieces whose pairs are counted, without and with the kernel."""
MOST_UNSPLIT: Final = (1 << 17, 1 << 21)
"""Of these, bytes in pieces longer than `_LONG`: where texts are not split, nearly each merge changes all of them."""
_LONG: Final = 1 << 12
"""Characters."""


class CorpusTexts(Protocol):
    """A corpus."""

    @property
    def size(self) -> int:
        """Bytes on disk that are read of it."""

    def counts(self, pattern: str, job: Job) -> Counts:
        """Its pieces by this pattern. Raises `Stopped`."""

    def texts(self, by: Splitter) -> Iterator[CorpusText]:
        """Its texts in order, each as a document; a sample depends on where a splitter lets texts be cut."""


class Files:
    """CorpusTexts on disk, read anew each time that one goes through them."""

    def __init__(self, paths: Sequence[str], weights: Mapping[str, Fraction], sample: Sample | None) -> None:
        self._paths, self._weights, self._sample = paths, weights, sample
        self._files = find_files(paths).files

    @classmethod
    def of_record(cls, paths: Sequence[str], record: TrainingRecord | None) -> Files:
        """These texts, weighted and sampled as a training did that left this record."""
        files = cls(paths, {}, None)
        if record is not None:
            files._weights = _weights(record, files._files)
            files._sample = Sample.told(record.sample)
        return files

    @property
    def size(self) -> int:
        """Bytes on disk that are read of them."""
        size = sum(file.size for file in self._files)
        return int(size * self._sample.share) if self._sample else size

    def counts(self, pattern: str, job: Job) -> Counts:
        return count_files(self._paths, pattern, job, weights=self._weights, sample=self._sample)

    def texts(self, by: Splitter) -> Iterator[CorpusText]:
        """The texts in order; of a sample its stretches, whose lines are numbered as those of the file."""
        if self._sample is None:
            yield from (CorpusText(file.name, file.blocks()) for file in self._files)
            return
        for files, _ in portions_by_weight(self._files, self._weights):
            for stretch in self._sample.stretches(files, by):
                for file in stretch.files:
                    blocks = file.blocks(start=stretch.start, end=stretch.end)
                    before = file.blocks(end=stretch.start) if stretch.start else ()
                    yield CorpusText(file.name, blocks, 1 + sum(block.count("\n") for block in before))


class PresetTexts:
    """The texts of a founding example."""

    size = 0

    def __init__(self, preset: Preset) -> None:
        self._preset = preset

    def counts(self, pattern: str, job: Job) -> Counts:
        """Their pieces, by the example's own pattern."""
        return self._preset.counts()

    def texts(self, by: Splitter) -> Iterator[CorpusText]:
        """The texts, numbered if there are several."""
        documents = self._preset.documents
        names = [f"text {number}" for number in range(1, len(documents) + 1)] if len(documents) > 1 else [""]
        for name, document in zip(names, documents, strict=True):
            yield CorpusText(name or self._preset.name, (document,))


@dataclass(frozen=True, slots=True)
class Question:
    """Whose merges are asked about, and in which texts their pairs are counted."""

    tokenizer: Tokenizer
    """With the merges that are known; without any, if they are told as they are learned."""
    texts: CorpusTexts
    ties: str = "first"
    longest: int | None = None
    """Bytes of a token at most."""

    @classmethod
    def of_file(cls, tokenizer: Tokenizer, paths: Sequence[str], preset: Preset | None) -> Self:
        """Of a kept vocabulary; its training record says how the texts were read."""
        record = tokenizer.record
        texts = PresetTexts(preset) if preset else Files.of_record(paths, record)
        if record is None:
            return cls(tokenizer, texts, preset.options.ties if preset else "first")
        return cls(tokenizer, texts, record.ties, record.max_token_length)

    @classmethod
    def of_training(cls, recipe: Recipe, job: Job) -> Self:
        """Of a training under way. Raises `OptionError` as that does, and `Stopped`."""
        old = recipe.start(job)
        rules = recipe.rules(old)
        first = first_vocabulary(rules, old.vocabulary if old else None)
        files = Files(recipe.paths, parsed(recipe.weights, recipe.paths), recipe.sampled())
        texts = PresetTexts(PRESETS[recipe.preset]) if recipe.preset else files
        return cls(Tokenizer(first, rules.pattern), texts, rules.ties, rules.max_token_length)


@dataclass(slots=True)
class Subject:
    """What is asked about, counted."""

    asked: Question
    counts: PairCounts

    @property
    def tokenizer(self) -> Tokenizer:
        """With the merges that are known by now."""
        return self.counts.tokenizer

    def grow(self, merges: Iterable[Triple]) -> None:
        """There are these merges more."""
        self.counts.tokenizer = self.tokenizer.with_merges(merges)

    def explanation(self, step: int) -> Explanation:
        """Why the merge of a step was chosen, and the pairs after it: those that the next one is chosen from."""
        return explain(self.counts, step, self.asked.ties, self.asked.longest)

    def places(self, step: int) -> list[CorpusPlace]:
        """Where the pair of a step stands."""
        if not step:
            return []
        by = self.tokenizer.splitter
        return list(pair_places(self.counts, step, self.asked.texts.texts(by), by))

    def uses(self, step: int) -> TokenUses | None:
        """What became of the token; None where the corpus's lengths were not recorded."""
        record, vocabulary = self.tokenizer.record, self.tokenizer.vocabulary
        if not step or record is None or len(record.steps) < vocabulary.n_merges:
            return None
        lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
        return token_uses(vocabulary, lengths.__getitem__, step)

    def given(self, step: int) -> str:
        """What there is to say of a merge that these texts did not choose; or ""."""
        record = self.tokenizer.record
        if record is None or not 0 < step <= record.n_given:
            return ""
        return GIVEN


def _weights(record: TrainingRecord, files: Sequence[TextFile]) -> dict[str, Fraction]:
    """The weights that files had in a training, by path: in order if it read as many texts, else by name."""
    known: list[tuple[str, int]] = []
    for source in record.sources:
        name = re.sub(r" \(bytes [\d,]+ to [\d,]+\)$", "", source.name)
        if name == source.name or (name, source.weight) not in known[-1:]:  # stretches of one file have one weight
            known.append((name, source.weight))
    weight_of = dict(known)
    weights = [weight_of.get(file.name, 1) for file in files]
    if len(known) == len(files):
        weights = [weight for _, weight in known]
    return {str(file.path): Fraction(weight) for file, weight in zip(files, weights, strict=True) if weight > 1}


def counted_subject(question: Question, job: Job, *, is_limited: bool = False) -> Subject:
    """The subject of a question, its corpus counted. Raises `Stopped`, and `TextError` if it is too large and
    `is_limited`."""
    if is_limited:
        _check_size("texts", question.texts.size, MOST_ON_DISK)
    counts = question.texts.counts(question.tokenizer.pattern, job)
    if is_limited:
        sizes = [*map(len, counts.pieces)]
        _check_size("different pieces", sum(sizes), MOST_IN_PIECES)
        _check_size("text in long pieces", sum(size for size in sizes if size > _LONG), MOST_UNSPLIT)
    return Subject(question, PairCounts(question.tokenizer, counts.pieces))


def _check_size(what: str, n_bytes: int, most: tuple[int, int]) -> None:
    if n_bytes > most[kernel.available]:
        raise TextError(
            f"These are {n_bytes / 1e6:,.1f} MB of {what}, too much to count pairs in beside the screen (at most "
            f"{most[kernel.available] / 1e6:,.1f} MB); `bpescope why` in a terminal has more patience."
        )
