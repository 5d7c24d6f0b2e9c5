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
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary

__all__ = ["TIES", "Merge", "Trainer", "train"]

_AT_ONCE: Final = 1024  # merges that a learner is asked for at a time, at most
_NO_LIMIT: Final = (1 << 63) - 1  # the largest number that the kernel takes


@dataclass(
    slots=True
)  # not frozen: making one would take three times as long, and they are made by the ten thousand
class Merge:
    """One step of a training, from 1: the ids of the two tokens that were joined and of the new one, its bytes.

    >>> next(Trainer("low low", vocab_size=258))
    Merge(step=1, left=108, right=111, token=256, token_bytes=b'lo', count=2, ties=2, n_tokens=5)
    """

    step: int
    left: int
    right: int
    token: int
    token_bytes: bytes
    count: int
    """How often the pair occurred in the corpus, overlaps included (`aaa` holds `aa` twice). An amount, as is the
    number of tokens: where a text weighs 1/2, its occurrences are halves."""
    ties: int
    """How many pairs had this count; 1 if there was no tie, 0 if the merge was given by `start`."""
    n_tokens: int
    """Tokens in the corpus after this merge."""


class Merges(Sequence[Merge]):
    """Merges of steps that follow one another, in columns that grow: as objects they would take many times as long to
    be sent, and the garbage collector would look through all of them again and again."""

    def __init__(
        self, first: int = 1, columns: Iterable[Iterable[Any]] = ((),) * 7
    ) -> None:
        """`first` is the step of the first; each column is of what a `Merge` has behind its step."""
        self.first = first
        self.pairs = array("Q"), array("Q"), array("Q")  # the ids: left, right and new
        self.token_bytes, self.ties = list[bytes](), array("Q")
        self.counts, self.n_tokens = (
            list[int](),
            list[int](),
        )  # amounts, which need be no whole numbers
        self.columns: tuple[Any, ...] = (
            *self.pairs,
            self.token_bytes,
            self.counts,
            self.ties,
            self.n_tokens,
        )
        self._lengths = dict[int, int]()
        self.extend(columns)

    def extend(self, columns: Iterable[Iterable[Any]]) -> None:
        """Add those of the steps behind these. Interrupted, it adds none."""
        n = len(self.n_tokens)
        for column, more in zip(self.columns, columns, strict=True):
            del column[
                n:
            ]  # what is left of an interrupted call; the last column says how many there are
            column.extend(more)

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Of each merge what a `TrainingRecord` keeps."""
        return zip(self.counts, self.ties, self.n_tokens, strict=True)

    def length_of(self, token: int) -> int | None:
        """The bytes of a token that these merges make; None of others."""
        if (start := len(self._lengths)) < len(self):
            self._lengths.update(
                zip(
                    self.pairs[2][start:],
                    map(len, self.token_bytes[start:]),
                    strict=True,
                )
            )
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
        steps, columns = (
            range(self.first, self.first + len(self))[index],
            [column[index] for column in self.columns],
        )
        return (
            Merge(steps, *columns)
            if isinstance(steps, int)
            else type(self)(steps.start, columns)
        )


class Trainer:
    """An iterator of `Merge`: each `next` learns one.

    Whatever interrupts it (Ctrl+C, a lack of memory), each merge is made whole or not at all, and it can go on.

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
        """Count the pairs of the corpus, in a time linear in the bytes of its distinct pieces.

        `texts` is a text, an iterable of texts (documents: nothing merges across their border), or `Counts`, which were
        split by a pattern already; naming another pattern beside them is an `OptionError`. The other options are those
        of `Options`; `OptionError` and `PatternError` say what is wrong with them.

        Another name is an `UnknownOptionError`, an OptionError and a TypeError.

        With `start` the merges of that vocabulary come first, whatever the corpus counts, and all its ids stay: what is
        learned takes the free ids in ascending order. Layout, special tokens and end-of-word marker are then its own,
        and the pattern too if it is that of a tokenizer and no other is named.
        With `resume`, what an earlier training of the same texts with the same options has learned (`OptionError` for
        others), its merges are made again and have to be the same.
        Meanwhile `progress(done, total)` is called now and then, in a unit of its own; what it raises is passed on.
        """
        check_option_names(options)
        pattern = options.pop("pattern", None)
        if isinstance(start, Tokenizer):
            if start.preparation:
                raise OptionError(
                    "A tokenizer that changes a text before it splits it cannot be extended."
                )
            pattern = pattern or start.pattern
            start = start.vocabulary
        if isinstance(texts, Counts):
            if pattern is not None and texts.splitter.tree != splitter(pattern).tree:
                raise OptionError(
                    f"The counts were split by {texts.pattern!r}, not by {pattern!r}; count again."
                )
            pattern = texts.pattern
        if start is not None:
            start.recover()
            check_extensible(start)
            own, usual = inherited(start), Options()
            if any(
                options.get(name, value) not in (value, getattr(usual, name))
                for name, value in own.items()
            ):
                raise OptionError(
                    "Special tokens, id layout and end of word are those of the vocabulary extended."
                )
            options |= own
        if pattern is not None:
            options["pattern"] = pattern
        self.options: Final = Options(vocab_size, **options).checked(
            not isinstance(texts, Sized) or len(texts) > 0
        )
        """What to learn, and by which rules."""
        self._vocabulary, self._ids, self._given = start_of(self.options, start)
        counts = (
            texts
            if isinstance(texts, Counts)
            else Counts.of(texts, self.options.pattern)
        )
        self._scale = counts.scale
        if resume is not None:
            check_options(resume, self.options, counts.sample)
            check_texts(resume, counts.sources)
        known = (
            zip(resume.vocabulary.merges, resume.record.steps, strict=False)
            if resume and resume.record
            else ()
        )
        self._known = list(known)  # the merges and steps that have to come out again
        self.n_known: Final = max(len(self._given), len(self._known))
        """How many merges were made before: those that are given, or those of the training that is resumed."""
        self._n_base = len(self._vocabulary.base)  # symbols that no merge makes
        self.n_merges_wanted: Final = len(self._ids) - self._n_base
        """How many merges the vocabulary size asks for; the corpus may have fewer."""
        self._bytes = list(
            map(self._vocabulary.base.__getitem__, self._ids[: self._n_base])
        )  # of each symbol
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
        occurs = self._amounts(self._learner.symbol_counts())
        by_value = dict(zip(ties.alphabet, occurs, strict=False))
        share = self.options.min_share
        asked = replace(
            self.options,
            special_tokens=(),
            min_share=None if share is None else str(share),
        )
        self.record: Final = TrainingRecord(
            **{name: getattr(asked, name) for name in OPTION_OF},
            sources=tuple(counts.sources),
            steps=(),
            n_bytes=sum(source.bytes * source.weight for source in counts.sources),
            n_tokens_start=amount(self._learner.n_tokens, self._scale),
            stop_reason="",
            n_given=len(self._given),
            first_counts=(*map(by_value.__getitem__, range(256)), *occurs[256:]),
            sample=counts.sample,
            weights=counts.weights,
        )
        """What is recorded of this training, but for what it learns."""

    @property
    def merges(self) -> Merges:
        """All that were made so far, those that `start` gives included; not to be changed."""
        merges, start = self._merges, len(self._merges.n_tokens)
        if (
            self._learner.n_merges > start
        ):  # it keeps each of them, so that whatever interrupts this can be done again
            ids, contents, end = self._ids, self._bytes, self._n_base + start
            del contents[end:]
            lefts, rights, counts, ties, lengths = zip(
                *self._learner.merges(start), strict=True
            )  # columns are faster
            for left, right in zip(lefts, rights, strict=True):
                contents.append(contents[left] + contents[right])
            parts = map(ids.__getitem__, lefts), map(ids.__getitem__, rights)
            numbers = self._amounts(counts), ties, self._amounts(lengths)
            merges.extend((*parts, ids[end : len(contents)], contents[end:], *numbers))
        return merges

    def _amounts(self, counts: Sequence[int]) -> Sequence[int]:
        """What the learner has counted as it is in the corpus, whose pieces count `scale` times in the learner."""
        return counts if self._scale == 1 else [amount(n, self._scale) for n in counts]

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self._merges.n_tokens[-1] if self.merges else self.record.n_tokens_start

    @property
    def n_merges(self) -> int:
        return len(self.merges.n_tokens)

    @property
    def stop_reason(self) -> str | None:
        """Why there are no more merges, in words for a person; None while there may be more."""
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
        known = self._vocabulary.n_merges
        if known < self.n_merges:
            self._vocabulary = self._vocabulary.extended(
                zip(*self.merges[known:].pairs, strict=True)
            )
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
        """Learn `n` more merges, in less time than by calling `next` for each; fewer if no more are left or it has
        taken about so many seconds, but at least one. Raises `OptionError` for a merge that is not that of the training
        to resume."""
        if n < 0:
            raise OptionError(f"A number of merges is 0 or more, not {n}.")
        deadline, start, some = time.monotonic() + seconds, self.n_merges, 1
        while self.stop_reason is None and self.n_merges < start + n:
            self._learn(min(start + n, self.n_merges + some))
            if time.monotonic() >= deadline:
                break
            some = min(2 * some, _AT_ONCE)
        return self.merges[start:]

    def _learn(self, until: int) -> None:
        """Learn until `until` merges are made in all, or none is left."""
        if self.stop_reason is not None:
            return
        learner, given, start = self._learner, self._given, self.n_merges
        until = min(until, self.n_merges_wanted)
        while learner.n_merges < min(until, len(given)):
            learner.merge(*given[learner.n_merges])
        while learner.n_merges < until and not self._saves_little():
            before = learner.n_merges
            learner.learn(until if self.options.min_share is None else before + 1)
            if learner.n_merges == before:
                least = f"no pair occurs {self.options.min_count} times"
                self._exhausted = least if learner.pairs() else "no pair left"
                break
        if start >= len(self._known):
            return
        made = self.merges[start:]
        now_made = zip(zip(*made.pairs, strict=True), made.steps(), strict=True)
        for step, (was, now) in enumerate(
            zip(self._known[start:], now_made, strict=False), start + 1
        ):
            if was != now:
                raise OptionError(
                    f"Step {step:,} of the training to resume is not the one of these texts; begin anew."
                )

    def _saves_little(self) -> bool:
        """Whether the last merge was learned, and its pair made up less than `min_share` of the tokens before it."""
        if self.options.min_share is None or self.n_merges <= len(self._given):
            return False
        before = (self.record.n_tokens_start, *self.merges.n_tokens[-2:])[-2]
        return self.merges.counts[-1] < Fraction(self.options.min_share) * before

    def token_counts(self) -> dict[int, int]:
        """Id -> how often the token occurs in the corpus now; 0 for those that do not. Linear in the corpus."""
        return dict(
            zip(self._ids, self._amounts(self._learner.symbol_counts()), strict=False)
        )

    def tokenizer(self) -> Tokenizer:
        """The tokenizer with all merges learned so far; none if nothing can be merged, and it encodes into bytes.
        Raises `UntrainedError` before the first merge is learned."""
        if not self.merges and self.stop_reason is None:
            raise UntrainedError(
                "This trainer has not run yet; take a step before you ask for its tokenizer."
            )
        with no_garbage_collection():
            record = record_of(self.record, self.merges, self.stop_reason or STOPPED)
            return Tokenizer(self.vocabulary, self.options.pattern, record=record)


def record_of(
    begun: TrainingRecord, merges: Merges, stop_reason: str
) -> TrainingRecord:
    """The record of a training that has made these merges; `begun` is its `Trainer.record`."""
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
    """Learn until the vocabulary has `vocab_size` tokens or no pair is left; the options are those of `Trainer`.

    What is learned so far is kept every few seconds in the file `checkpoint`, and when anything is raised; load it and
    `resume` from it. `progress(merges, merges wanted)` is called some 20 times a second; what it raises is passed on.
    An iterable is read once, and a text of it at a time. Without texts, a vocabulary of 256 and the special tokens is
    enough: that of the bytes.

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
