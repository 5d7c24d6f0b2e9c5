"""The trainer: an iterator that learns one merge at a time, the most frequent pair first.

The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) on bytes. The kernel's learner counts the pairs of
the corpus and merges symbols; here these become ids.
"""

import math
import os
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self, Unpack, overload

from bpe_core import kernel
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, UntrainedError
from bpe_core.patterns import splitter
from bpe_core.process import no_garbage_collection
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.tie_rules import TIES, tie_rule
from bpe_core.tokenizer.training_record import (
    OPTION_OF,
    STOPPED,
    Options,
    TrainingRecord,
    TrainOptions,
    check_option_names,
)
from bpe_core.trainer.checkpoints import Checkpoints, check_options, check_texts
from bpe_core.trainer.start import (
    check_extensible,
    inherited,
    start_of,
)
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.weighted import Count, weighted_count

__all__ = ["TIES", "Merge", "Trainer", "train"]

_AT_ONCE: Final = 1024  # merges that a learner learns at a time, at most
_NO_LIMIT: Final = (1 << 63) - 1  # the largest number that the kernel takes


@dataclass(
    slots=True
)  # a frozen one takes three times as long to make, and there are many
class Merge:
    """One step of a training run.

    Examples:
        >>> next(Trainer("low low", vocab_size=258))
        Merge(step=1, left=108, right=111, token=256, token_bytes=b'lo', count=2, ties=2, n_tokens=5)
    """

    step: int
    """The number of the step, from 1."""
    left: int
    """The ids of the two tokens that were joined."""
    right: int
    token: int
    """The id of the new token."""
    token_bytes: bytes
    count: Count
    """How often the pair occurred in the corpus, with overlaps (`aaa` contains `aa` twice). It is a fraction if texts
    have fractional weights."""
    ties: int
    """How many pairs had this count; 1 if there was no tie, 0 if the merge was given by `start`."""
    n_tokens: Count
    """Tokens in the corpus after this merge; a fraction if texts have fractional weights."""


class Merges(Sequence[Merge]):
    """Merges of consecutive steps, in columns that grow.

    As objects they would take many times as long to be sent, and the garbage collector would look through all of them
    again and again.
    """

    def __init__(
        self, first: int = 1, columns: Iterable[Iterable[Any]] = ((),) * 7
    ) -> None:
        """`first` is the step of the first merge. There is a column for each field of `Merge` after `step`."""
        self.first = first
        self.pairs = array("Q"), array("Q"), array("Q")
        """The ids: left, right and new."""
        self.token_bytes: list[bytes] = []
        self.counts: list[Count] = []
        self.ties = array("Q")
        self.n_tokens: list[Count] = []
        self.columns: tuple[Any, ...] = (
            *self.pairs,
            self.token_bytes,
            self.counts,
            self.ties,
            self.n_tokens,
        )
        self._lengths: dict[int, int] = {}
        self.extend(columns)

    def extend(self, columns: Iterable[Iterable[Any]]) -> None:
        """Append the merges of the next steps; if interrupted, append none."""
        # The length of the last column is the number of merges. Longer columns are left from an interrupted call.
        n_merges = len(self.n_tokens)
        for column, new_values in zip(self.columns, columns, strict=True):
            del column[n_merges:]
            column.extend(new_values)

    def triples(self) -> Iterator[Triple]:
        """Yield the ids of each merge: left, right and new."""
        return zip(*self.pairs, strict=True)

    def steps(self) -> Iterator[tuple[Count, int, Count]]:
        """Yield what `TrainingRecord.steps` keeps of each merge."""
        return zip(self.counts, self.ties, self.n_tokens, strict=True)

    def length_of(self, token: int) -> int | None:
        """Return the number of bytes of a token that these merges make; None for other tokens."""
        n_known = len(self._lengths)
        if n_known < len(self):
            new_tokens = self.pairs[2][n_known : len(self)]
            lengths = map(len, self.token_bytes[n_known : len(self)])
            self._lengths.update(zip(new_tokens, lengths, strict=True))
        return self._lengths.get(token)

    def __len__(self) -> int:
        return len(self.n_tokens)

    def __iter__(self) -> Iterator[Merge]:
        return map(Merge, range(self.first, self.first + len(self)), *self.columns)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Merge | Self:
        steps = range(self.first, self.first + len(self))[index]
        columns = [column[index] for column in self.columns]
        if isinstance(steps, int):
            return Merge(steps, *columns)
        return type(self)(steps.start, columns)


class Trainer:
    """An iterator of `Merge`: each `next` learns one.

    If something interrupts it (Ctrl+C, a lack of memory), each merge is made completely or not at all, and it can go on.

    Examples:
        >>> [merge.token_bytes for merge in Trainer("aaabdaaabac", vocab_size=259, pattern="none")]
        [b'aa', b'aaa', b'aaab']
    """

    def __init__(
        self,
        texts: str | Iterable[str] | Counts,
        *,
        vocab_size: int,
        start: Vocabulary | Tokenizer | None = None,
        resume: Tokenizer | None = None,
        progress: Callable[[int, int], object] | None = None,
        **options: Unpack[TrainOptions],
    ) -> None:
        """Count the pairs of the corpus, in time linear in the bytes of its distinct pieces.

        Args:
            texts: A text, an iterable of texts (documents: nothing merges across their borders), or `Counts`, which are
                split by a pattern already.
            vocab_size: Tokens in all: 256 bytes, the special tokens, and one per merge.
            start: A vocabulary whose merges come first, whatever the corpus counts. Its ids stay; new tokens take the
                free ids in ascending order. Layout, special tokens and end-of-word marker are those of the vocabulary,
                and so is the pattern if it is a tokenizer's and no other is given.
            resume: The tokenizer of an earlier training run with the same texts and options. Its merges are made
                again and must be the same.
            progress: Called with (done, total) while pairs are counted.
            **options: The fields of `Options`.

        Raises:
            OptionError: An option has a wrong value, `texts` are counts with another pattern, or `resume` is of other
                texts or options.
            UnknownOptionError: An OptionError and a TypeError; there is no option of this name.
            PatternError: The pattern is not valid.
        """
        check_option_names(options)
        if options.get("pattern") is None:
            options.pop("pattern", None)
        start = _read_start(start, options)
        if isinstance(texts, Counts):
            _use_pattern_of(texts, options)
        has_texts = not isinstance(texts, Sized) or len(texts) > 0
        self.options: Final = Options(vocab_size, **options).checked(has_texts)
        """The options of this training."""
        beginning = start_of(self.options, start)
        self._vocabulary = beginning.vocabulary
        self._id_of_symbol = beginning.ids
        """The id of each symbol of the learner: of the base, then of each merge."""
        self._given = beginning.given
        if not isinstance(texts, Counts):
            texts = Counts.of(texts, self.options.pattern)
        counts = texts
        self._scale = counts.scale
        # The merges and steps that must come out again.
        self._known: list[tuple[Triple, tuple[Count, int, Count]]] = []
        if resume is not None:
            check_options(resume, self.options, counts.sample)
            check_texts(resume, counts.sources)
            if resume.record:
                steps = resume.record.steps
                self._known = list(zip(resume.vocabulary.merges, steps, strict=False))
        self.n_known: Final = max(len(self._given), len(self._known))
        """How many merges were made before: those of `start`, or those of the training that is resumed."""
        self._n_base = len(self._vocabulary.base)  # symbols that no merge makes
        self.n_merges_wanted: Final = len(self._id_of_symbol) - self._n_base
        """How many merges the vocabulary size needs. Fewer are learned if the corpus has too few pairs."""
        base = self._vocabulary.base
        self._bytes_of_symbol = [
            base[token] for token in self._id_of_symbol[: self._n_base]
        ]
        self._merges = Merges()
        self._exhausted = ""
        ties = tie_rule(self.options.ties)
        self._learner = kernel.Learner(
            counts.table,
            ties.comparison,
            min(self.options.min_count * self._scale, _NO_LIMIT),
            min(self.options.max_token_length or _NO_LIMIT, _NO_LIMIT),
            ties.alphabet,
            utf8(self.options.end_of_word),
            progress,
        )
        symbol_counts = self._counts_in_corpus(self._learner.symbol_counts())
        count_of_byte = dict(zip(ties.alphabet, symbol_counts, strict=False))
        first_counts = [count_of_byte[byte] for byte in range(256)]
        first_counts += symbol_counts[256:]
        share = self.options.min_share
        recorded_options = replace(
            self.options,
            special_tokens=(),
            min_share=None if share is None else str(share),
        )
        self.record: Final = TrainingRecord(
            **{name: getattr(recorded_options, name) for name in OPTION_OF},
            sources=tuple(counts.sources),
            steps=(),
            n_bytes=sum(source.bytes * source.weight for source in counts.sources),
            n_tokens_start=weighted_count(self._learner.n_tokens, self._scale),
            stop_reason="",
            n_given=len(self._given),
            first_counts=tuple(first_counts),
            sample=counts.sample,
            weights=counts.weights,
        )
        """The record of this training without its steps."""

    @property
    def merges(self) -> Merges:
        """All merges so far, with those of `start`. Don't change it."""
        merges = self._merges
        n_known = len(merges.n_tokens)
        if self._learner.n_merges > n_known:
            # The learner keeps all merges, so an interrupt loses nothing here. Columns are quicker than rows.
            ids = self._id_of_symbol
            token_bytes = self._bytes_of_symbol
            first = self._n_base + n_known
            del token_bytes[first:]  # entries of an interrupted call
            new_merges = self._learner.merges(n_known)
            lefts, rights, counts, ties, totals = zip(*new_merges, strict=True)
            for left, right in zip(lefts, rights, strict=True):
                token_bytes.append(token_bytes[left] + token_bytes[right])
            merges.extend(
                (
                    map(ids.__getitem__, lefts),
                    map(ids.__getitem__, rights),
                    ids[first : len(token_bytes)],
                    token_bytes[first:],
                    self._counts_in_corpus(counts),
                    ties,
                    self._counts_in_corpus(totals),
                )
            )
        return merges

    def _counts_in_corpus(self, counts: Sequence[int]) -> Sequence[Count]:
        """Convert counts of the learner, which are multiplied by `scale`, to counts in the corpus."""
        if self._scale == 1:
            return counts
        return [weighted_count(count, self._scale) for count in counts]

    @property
    def n_tokens(self) -> Count:
        """The number of tokens in the corpus now."""
        return self._merges.n_tokens[-1] if self.merges else self.record.n_tokens_start

    @property
    def n_merges(self) -> int:
        return len(self.merges.n_tokens)

    @property
    def stop_reason(self) -> str | None:
        """Why training has ended, in words for a person; None while there may be more merges."""
        if self._exhausted:
            return self._exhausted
        if self.n_merges == self.n_merges_wanted:
            return "vocabulary size reached"
        if self._saves_little():
            return f"the last pair made up less than {self.options.min_share} of the tokens"
        return None

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of all merges learned so far."""
        n_known = self._vocabulary.n_merges
        if n_known < self.n_merges:
            new_merges = self.merges[n_known:].triples()
            self._vocabulary = self._vocabulary.extended(new_merges)
        return self._vocabulary

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Merge:
        start = self.n_merges
        self._learn(start + 1)
        if self.n_merges == start:
            raise StopIteration
        return self._merges[start]

    def learn(self, n: int, seconds: float = math.inf) -> Merges:
        """Learn `n` more merges, in less time than by calling `next` for each.

        Args:
            n: How many; fewer are learned if no pair is left.
            seconds: Stop after about this time, with at least one merge.

        Returns:
            The new merges.

        Raises:
            OptionError: A merge differs from that of the run to resume.
        """
        if n < 0:
            raise OptionError(f"Invalid number of merges {n}: expected 0 or more.")
        deadline = time.monotonic() + seconds
        start = self.n_merges
        n_at_once = 1
        while self.stop_reason is None and self.n_merges < start + n:
            self._learn(min(start + n, self.n_merges + n_at_once))
            if time.monotonic() >= deadline:
                break
            n_at_once = min(2 * n_at_once, _AT_ONCE)
        return self.merges[start:]

    def _learn(self, until: int) -> None:
        """Learn until there are `until` merges in all, or no pair is left."""
        if self.stop_reason is not None:
            return
        learner = self._learner
        given = self._given
        start = self.n_merges
        until = min(until, self.n_merges_wanted)
        while learner.n_merges < min(until, len(given)):
            learner.merge(*given[learner.n_merges])
        while learner.n_merges < until and not self._saves_little():
            n_before = learner.n_merges
            learner.learn(until if self.options.min_share is None else n_before + 1)
            if learner.n_merges == n_before:
                self._exhausted = "no pair left"
                if learner.pairs():
                    self._exhausted = f"no pair occurs {self.options.min_count} times"
                break
        self._compare_with_known(start)

    def _compare_with_known(self, start: int) -> None:
        """Raise `OptionError` if a merge after the first `start` differs from the run to resume."""
        if start >= len(self._known):
            return
        merges = self.merges[start:]
        made = zip(merges.triples(), merges.steps(), strict=True)
        expected = self._known[start:]
        for step, (was, now) in enumerate(zip(expected, made, strict=False), start + 1):
            if was != now:
                raise OptionError(
                    f"Step {step:,} of the run to resume does not follow from these texts; start a new run."
                )

    def _saves_little(self) -> bool:
        """Whether the last merge was learned, and its pair made up less than `min_share` of the tokens before it."""
        if self.options.min_share is None or self.n_merges <= len(self._given):
            return False
        n_tokens = self.merges.n_tokens
        n_before = n_tokens[-2] if len(n_tokens) > 1 else self.record.n_tokens_start
        return self.merges.counts[-1] < Fraction(self.options.min_share) * n_before

    def token_counts(self) -> dict[int, Count]:
        """Return id -> how often the token occurs in the corpus now, perhaps 0. Takes time linear in the corpus."""
        counts = self._counts_in_corpus(self._learner.symbol_counts())
        return dict(zip(self._id_of_symbol, counts, strict=False))

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer with all merges so far.

        If the corpus has no pair to merge, the tokenizer encodes text as bytes.

        Raises:
            UntrainedError: The first merge is not learned yet.
        """
        if not self.merges and self.stop_reason is None:
            raise UntrainedError(
                "This trainer has no merges yet; learn one before you ask for its tokenizer."
            )
        with no_garbage_collection():
            record = record_of(self.record, self.merges, self.stop_reason or STOPPED)
            return Tokenizer(self.vocabulary, self.options.pattern, record=record)


def _read_start(
    start: Vocabulary | Tokenizer | None, options: TrainOptions
) -> Vocabulary | None:
    """Check the vocabulary to extend, and set the options that are its own."""
    if start is None:
        return None
    if isinstance(start, Tokenizer):
        if start.preparation:
            raise OptionError(
                "A tokenizer that changes a text before it splits it cannot be extended."
            )
        if options.get("pattern") is None:
            options["pattern"] = start.pattern
        start = start.vocabulary
    start.recover()
    check_extensible(start)
    own_options = inherited(start)
    defaults = Options()
    for name, value in own_options.items():
        if options.get(name, value) not in (value, getattr(defaults, name)):
            raise OptionError(
                "Special tokens, id layout and end of word are those of the vocabulary to extend; leave them out."
            )
    options.update(own_options)
    return start


def _use_pattern_of(counts: Counts, options: TrainOptions) -> None:
    """Set the pattern by which the pieces were counted. Raises `OptionError` if another one is given."""
    pattern = options.get("pattern")
    if pattern is not None and counts.splitter.tree != splitter(pattern).tree:
        raise OptionError(
            f"These counts were made with pattern {counts.pattern!r}, not {pattern!r}; count the texts again."
        )
    options["pattern"] = counts.pattern


def record_of(
    begun: TrainingRecord, merges: Merges, stop_reason: str
) -> TrainingRecord:
    """Return the record of a training run that has made these merges; `begun` is its `Trainer.record`."""
    n_given = min(begun.n_given, len(merges))
    return replace(
        begun, steps=tuple(merges.steps()), stop_reason=stop_reason, n_given=n_given
    )


def train(
    texts: str | Iterable[str] | Counts,
    *,
    vocab_size: int,
    start: Vocabulary | Tokenizer | None = None,
    resume: Tokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[TrainOptions],
) -> Tokenizer:
    """Train a tokenizer until its vocabulary has `vocab_size` tokens or no pair is left.

    Args:
        texts: A text, an iterable of texts, which is read once, one text at a time, or `Counts`.
        vocab_size: Tokens in all: 256 bytes, the special tokens, and one per merge. Without texts, the bytes and the
            special tokens are enough.
        start: As in `Trainer`.
        resume: As in `Trainer`.
        checkpoint: A file in which the merges so far are saved every few seconds, and if an error occurs. Load it and
            pass it as `resume`.
        progress: Called with (merges, merges wanted) some 20 times per second.
        **options: The fields of `Options`.

    Returns:
        The tokenizer, with the record of its training.

    Raises:
        OptionError: As in `Trainer`.
        PatternError: The pattern is not valid.

    Examples:
        >>> train(["low lower", "lowest"], vocab_size=258).encode("lower")
        [257, 101, 114]
    """
    trainer = Trainer(
        texts, vocab_size=vocab_size, start=start, resume=resume, **options
    )
    checkpoints = Checkpoints(None if checkpoint is None else Path(checkpoint))
    try:
        while trainer.stop_reason is None:
            trainer.learn(_AT_ONCE, 0.05)
            if progress:
                progress(trainer.n_merges, trainer.n_merges_wanted)
            checkpoints.keep_now_and_then(trainer)
    except BaseException:
        checkpoints.keep(trainer)
        raise
    return trainer.tokenizer()
