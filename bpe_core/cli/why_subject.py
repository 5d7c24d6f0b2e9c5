"""What a `why` asks about: the merges of a vocabulary, and the corpus they were learned from, read as it was then."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self

from bpe_core.cli.control import Control
from bpe_core.cli.counting import count_files
from bpe_core.cli.report import Report
from bpe_core.cli.training_arguments import first_vocabulary, training_arguments
from bpe_core.cli.training_options import rules_of, sample_of, start_of
from bpe_core.content.presets import PRESETS, Preset
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.reading import TextFile
from bpe_core.corpus.sampling import Sample
from bpe_core.corpus.weights import parsed, portions_by_weight
from bpe_core.explain.merge_choice import GIVEN, Explanation, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.explain.places import CorpusPlace, CorpusText, pair_places
from bpe_core.explain.token_uses import TokenUses, token_uses
from bpe_core.patterns import Splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.vocabulary.merge_loop import Triple


class Texts(Protocol):
    """A corpus."""

    @property
    def size(self) -> int:
        """Bytes on disk that are read of it."""

    def counts(self, pattern: str, control: Control, report: Report) -> Counts | None:
        """Its pieces by this pattern; None if `control` said stop before the end."""

    def texts(self, by: Splitter) -> Iterator[CorpusText]:
        """Its texts in order, each as a document; a sample depends on where a splitter lets texts be cut."""


class Files:
    """Texts on disk, read anew each time that one goes through them."""

    def __init__(self, paths: list[str], weights: Mapping[str, Fraction], sample: Sample | None) -> None:
        self._paths, self._weights, self._sample = paths, weights, sample
        self._files = find_files(paths).files

    @classmethod
    def of_record(cls, paths: list[str], record: TrainingRecord | None) -> "Files":
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

    def counts(self, pattern: str, control: Control, report: Report) -> Counts | None:
        """Their pieces by this pattern; None if `control` said stop before the end."""
        return count_files(self._paths, pattern, control, report, weights=self._weights, sample=self._sample)

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

    def counts(self, pattern: str, control: Control, report: Report) -> Counts:
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
    texts: Texts
    ties: str = "first"
    longest: int | None = None
    """Bytes of a token at most."""

    @classmethod
    def of_file(cls, tokenizer: Tokenizer, paths: list[str], preset: Preset | None) -> Self:
        """Of a kept vocabulary; its training record says how the texts were read."""
        record = tokenizer.record
        texts = PresetTexts(preset) if preset else Files.of_record(paths, record)
        if record is None:
            return cls(tokenizer, texts, preset.options.ties if preset else "first")
        return cls(tokenizer, texts, record.ties, record.max_token_length)

    @classmethod
    def of_training(cls, arguments: list[str]) -> Self:
        """Of a training under way; `arguments` are those of its `train`. Raises `OptionError` as that does."""
        options = training_arguments(arguments)
        old = start_of(options, lambda done, total: None)
        rules = rules_of(options, old)
        tokenizer = Tokenizer(first_vocabulary(rules, old), rules.pattern)
        weights, sample = parsed(options.weight, options.paths), sample_of(options)
        texts = PresetTexts(PRESETS[options.preset]) if options.preset else Files(options.paths, weights, sample)
        return cls(tokenizer, texts, rules.ties, rules.max_token_length)


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
