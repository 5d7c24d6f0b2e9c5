"""The trainer: an iterator that learns one merge at a time, the most frequent pair first.

The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) on bytes. The kernel's learner counts the pairs of
the corpus and merges symbols; here these become ids.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final, Self, Unpack

from bpe_core import kernel
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, UntrainedError
from bpe_core.patterns import splitter
from bpe_core.process import no_garbage_collection
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import OPTION_OF, STOPPED, TIES, Options, TrainingRecord, TrainOptions
from bpe_core.trainer.checkpoints import Checkpoints, check_options, check_texts
from bpe_core.trainer.start import NUMBER_OF, alphabet, check_extensible, check_larger, inherited, start_of
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary

__all__ = ["TIES", "Merge", "Trainer", "train"]

_AT_ONCE: Final = 1024  # merges that a learner is asked for at a time, at most
_NO_LIMIT: Final = (1 << 63) - 1  # the largest number that the kernel takes


@dataclass(slots=True)  # not frozen: making one would take three times as long, and they are made by the ten thousand
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

        With `start` the merges of that vocabulary come first, whatever the corpus counts, and all its ids stay: what is
        learned takes the free ids in ascending order. Layout, special tokens and end-of-word marker are then its own,
        and the pattern too if it is that of a tokenizer and no other is named.
        With `resume`, what an earlier training of the same texts with the same options has learned (`OptionError` for
        others), its merges are made again and have to be the same.
        Meanwhile `progress(done, total)` is called now and then, in a unit of its own; what it raises is passed on.
        """
        pattern = options.pop("pattern", None)
        if isinstance(start, Tokenizer):
            if start.preparation:
                raise OptionError("A tokenizer that changes a text before it splits it cannot be extended.")
            pattern = pattern or start.pattern
            start = start.vocabulary
        if isinstance(texts, Counts):
            if pattern is not None and texts.splitter.tree != splitter(pattern).tree:
                raise OptionError(f"The counts were split by {texts.pattern!r}, not by {pattern!r}; count again.")
            pattern = texts.pattern
        if start is not None:
            start.recover()
            check_extensible(start)
            own, usual = inherited(start), Options()
            if any(options.get(name, value) not in (value, getattr(usual, name)) for name, value in own.items()):
                raise OptionError("Special tokens, id layout and end of word are those of the vocabulary extended.")
            options |= own
        if pattern is not None:
            options["pattern"] = pattern
        self.options: Final = Options(vocab_size, **options).checked(not isinstance(texts, Sized) or len(texts) > 0)
        """What to learn, and by which rules."""
        if start is not None:
            check_larger(start, vocab_size)
        counts = texts if isinstance(texts, Counts) else Counts.of(texts, self.options.pattern)
        self.n_bytes = sum(source.bytes * source.weight for source in counts.sources)
        """Bytes of the corpus in UTF-8, those of a text as many times as it weighs."""
        self._sources, self._sample, self._weights = tuple(counts.sources), counts.sample, counts.weights
        self._scale = counts.scale
        if resume is not None:
            check_options(resume, self.options, self._sample)
            check_texts(resume, self._sources)
        self._earlier = resume
        self._vocabulary, base, self._given, self._made_ids = start_of(self.options, start)
        self.n_given: Final = len(self._given)
        """How many merges are given by `start`; they come first."""
        self.n_known: Final = max(self.n_given, resume.step if resume else 0)
        """How many merges were made before: those that are given, or those of the training that is resumed."""
        self.n_merges_wanted: Final = len(self._made_ids)
        """How many merges the vocabulary size asks for; the corpus may have fewer."""
        self._ids, self._n_base = base, len(base)  # ids of each symbol; how many of these no merge makes
        self._bytes = list(map(self._vocabulary.base.__getitem__, self._ids))
        self._merges: list[tuple[int, int, int]] = []
        self._steps: list[tuple[int, int, int]] = []
        self._exhausted = ""
        with no_garbage_collection():
            self._learner = kernel.Learner(
                counts.table,
                NUMBER_OF[self.options.ties],
                min(self.options.min_count * self._scale, _NO_LIMIT),
                min(self.options.max_token_length or _NO_LIMIT, _NO_LIMIT),
                alphabet(self.options.ties),
                utf8(self.options.end_of_word),
                progress,
            )
        self._n_tokens_start = amount(self._learner.n_tokens, self._scale)
        occurs = self._amounts(self._learner.symbol_counts())
        by_value = dict(zip(alphabet(self.options.ties), occurs, strict=False))
        self.first_counts: Final = (*map(by_value.__getitem__, range(256)), *occurs[256:])
        """How often each of the 256 bytes occurred before the first merge, by value, then the end-of-word marker."""

    def _sync(self) -> int:
        """Take over the merges that the learner has made, which keeps each of them; how many there are. `_steps` comes
        last, and says how many are taken over: what an interrupt leaves of others is removed."""
        start = len(self._steps)
        if self._learner.n_merges > start:
            ids, contents, n_base = self._ids, self._bytes, self._n_base
            del ids[n_base + start :], contents[n_base + start :], self._merges[start:]
            lefts, rights, counts, ties, lengths = zip(*self._learner.merges(start), strict=True)  # columns are faster
            made = self._made_ids[start : start + len(lefts)]
            ids.extend(made)
            for left, right in zip(lefts, rights, strict=True):
                contents.append(contents[left] + contents[right])
            parts = map(ids.__getitem__, lefts), map(ids.__getitem__, rights)
            self._merges.extend(zip(*parts, made, strict=True))
            self._steps.extend(list(zip(self._amounts(counts), ties, self._amounts(lengths), strict=True)))
        return len(self._steps)

    def _amounts(self, counts: Sequence[int]) -> Sequence[int]:
        """What the learner has counted as it is in the corpus, whose pieces count `scale` times in the learner."""
        return counts if self._scale == 1 else [amount(n, self._scale) for n in counts]

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self._steps[-1][-1] if self._sync() else self._n_tokens_start

    @property
    def n_merges(self) -> int:
        """How many have been made so far, those that `start` gives included."""
        return self._sync()

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
            self._vocabulary = self._vocabulary.extended(self._merges[known:])
        return self._vocabulary

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Merge:
        for merge in self.learn(1):
            return merge
        raise StopIteration

    def learn(self, n: int) -> list[Merge]:
        """Learn `n` more merges or fewer, in less time than by calling `next` for each; none if none is left. Raises
        `OptionError` for a merge that is not that of the training to resume."""
        if n < 0:
            raise OptionError(f"A number of merges is 0 or more, not {n}.")
        start = self.n_merges
        self._learn(start + n)
        return self._merges_from(start)

    def learn_for(self, seconds: float, most: int) -> list[Merge]:
        """Learn for about so many seconds, `most` merges at most and at least one; none if none is left."""
        start = self.n_merges
        self._learn_for(seconds, most)
        return self._merges_from(start)

    def _merges_from(self, start: int) -> list[Merge]:
        end, contents = self._sync(), self._bytes[self._n_base + start :]
        rows = zip(range(start + 1, end + 1), self._merges[start:], contents, self._steps[start:], strict=True)
        return [Merge(step, *merge, data, *numbers) for step, merge, data, numbers in rows]

    def _learn_for(self, seconds: float, most: int) -> None:
        deadline, until, n = time.monotonic() + seconds, self.n_merges + most, 1
        while self.stop_reason is None and self.n_merges < until:
            self._learn(min(until, self.n_merges + n))
            if time.monotonic() >= deadline:
                break
            n = min(2 * n, _AT_ONCE)

    def _learn(self, until: int) -> None:
        """Learn until `until` merges are made in all, or none is left."""
        if self.stop_reason is not None:
            return
        learner, given, start = self._learner, self._given, self.n_merges
        until = min(until, self.n_merges_wanted)
        with no_garbage_collection():
            while learner.n_merges < min(until, len(given)):
                learner.merge(*given[learner.n_merges])
            if self.options.min_share is None and until > len(given):
                learner.learn(until)
            while learner.n_merges < until and not self._saves_little():
                before = learner.n_merges
                learner.learn(before + 1)
                if learner.n_merges == before:
                    least = f"no pair occurs {self.options.min_count} times"
                    self._exhausted = least if learner.pairs() else "no pair left"
                    break
        if (earlier := self._earlier) is None or earlier.record is None:
            return
        end = min(self._sync(), earlier.step)
        known = zip(earlier.merges[start:end], earlier.record.steps[start:end], strict=True)
        made = zip(self._merges[start:end], self._steps[start:end], strict=True)
        for step, (was, now) in enumerate(zip(known, made, strict=True), start + 1):
            if was != now:
                raise OptionError(f"Step {step:,} of the training to resume is not the one of these texts; begin anew.")

    def _saves_little(self) -> bool:
        """Whether the last merge was learned, and its pair made up less than `min_share` of the tokens before it."""
        if self.options.min_share is None or self.n_merges <= self.n_given:
            return False
        before = self._steps[-2][-1] if len(self._steps) > 1 else self._n_tokens_start
        return self._steps[-1][0] < Fraction(self.options.min_share) * before

    def token_counts(self) -> dict[int, int]:
        """Id -> how often the token occurs in the corpus now; 0 for those that do not. Linear in the corpus."""
        self._sync()
        return dict(zip(self._ids, self._amounts(self._learner.symbol_counts()), strict=True))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer with all merges learned so far; none if nothing can be merged, and it encodes into bytes.
        Raises `UntrainedError` before the first merge is learned."""
        if not self._sync() and self.stop_reason is None:
            raise UntrainedError("This trainer has not run yet; take a step before you ask for its tokenizer.")
        with no_garbage_collection():
            vocabulary, record = self.vocabulary, self._record()
        return Tokenizer(vocabulary, self.options.pattern, record=record)

    def _record(self) -> TrainingRecord:
        share = self.options.min_share
        asked = replace(self.options, special_tokens=(), min_share=None if share is None else str(share))
        return TrainingRecord(
            **{name: getattr(asked, name) for name in OPTION_OF},
            sources=self._sources,
            steps=tuple(self._steps),
            n_bytes=self.n_bytes,
            n_tokens_start=self._n_tokens_start,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            stop_reason=self.stop_reason or STOPPED,
            n_given=self.n_given,
            first_counts=self.first_counts,
            sample=self._sample,
            weights=self._weights,
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
    trainer = Trainer(texts, vocab_size=vocab_size, start=start, resume=resume, **options)
    checkpoints = Checkpoints(None if checkpoint is None else Path(checkpoint))
    try:
        while trainer.stop_reason is None:
            trainer._learn_for(0.05, _AT_ONCE)
            if progress:
                progress(trainer.n_merges, trainer.n_merges_wanted)
            checkpoints.keep_now_and_then(trainer)
    except BaseException:
        checkpoints.keep(trainer)
        raise
    return trainer.tokenizer()
