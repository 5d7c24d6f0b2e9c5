"""The trainer: an iterator that learns one merge at a time, the most frequent pair first.

The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) on bytes. `pair_index` keeps the corpus and its pair
counts, `candidates` and `ties` choose the next pair, `learner` runs the loop of both; here its symbols become ids.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice
from typing import Final, Self

from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, UntrainedError
from bpe_core.garbage_collection import no_garbage_collection
from bpe_core.patterns import splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import STOPPED, TrainingRecord
from bpe_core.trainer.learner import Rules, Step, learner
from bpe_core.trainer.merge import Merge
from bpe_core.trainer.options import DEFAULT_PATTERN, Options
from bpe_core.trainer.start import check_extensible, check_larger, from_bytes, from_vocabulary, inherited
from bpe_core.trainer.ties import TIES, alphabet
from bpe_core.vocabulary import Vocabulary

_AT_ONCE: Final = 1024
"""Merges that `finish` asks the learner for at a time."""

__all__ = ["TIES", "Merge", "Trainer", "train"]


class Trainer:
    """An iterator of `Merge`: each `next` learns one.

    `texts` is a text, an iterable of texts (documents: nothing merges across their border), or `Counts`, which were
    split by a pattern already; naming another pattern beside them is an `OptionError`. `pattern` is theirs by default,
    and "gpt4" for texts. The other options are those of `Options`; `OptionError` and `PatternError` say what is wrong
    with them.

    >>> [merge.token_bytes for merge in Trainer("aaabdaaabac", vocab_size=259, pattern="none")]
    [b'aa', b'aaa', b'aaab']
    """

    def __init__(
        self,
        texts: str | Iterable[str] | Counts,
        *,
        vocab_size: int,
        pattern: str | None = None,
        ties: str = "first",
        id_layout: str = "bytes-first",
        min_count: int = 1,
        max_token_length: int | None = None,
        special_tokens: Sequence[str] = (),
        end_of_word: str = "",
        min_share: Fraction | str | None = None,
        start: Vocabulary | None = None,
        look: Callable[[int, int], None] | None = None,
    ) -> None:
        """Count the pairs of the corpus, in a time linear in the bytes of its distinct pieces.

        With `start` the merges of that vocabulary come first, whatever the corpus counts, and all its ids stay: what is
        learned takes the free ids in ascending order. Layout, special tokens and end-of-word marker are then its own.
        Meanwhile `look(done, total)` is called now and then, in a unit of its own; an exception it raises is passed on.
        """
        if isinstance(texts, Counts):
            pattern = _agreed_pattern(pattern, texts)
        elif pattern is None:
            pattern = DEFAULT_PATTERN
        if start is not None:
            if special_tokens or end_of_word or id_layout != "bytes-first":
                raise OptionError(
                    "Special tokens, id layout and end-of-word marker are those of the vocabulary extended."
                )
            check_extensible(start)
            check_larger(start, vocab_size)
            id_layout, special_tokens, end_of_word = inherited(start).values()
        self.options = Options(
            vocab_size,
            pattern,
            ties,
            id_layout,
            min_count,
            max_token_length,
            special_tokens,
            end_of_word,
            min_share,
        )
        """What to learn, and by which rules."""
        counts = texts if isinstance(texts, Counts) else Counts.of(texts, pattern)
        self.n_bytes = counts.n_weighted_bytes
        """Bytes of the corpus in UTF-8, those of a text as many times as it weighs."""
        self.stop_reason: str | None = None
        """Why there are no more merges, in words for a person; None while there may be more."""
        self._start = (
            from_bytes(ties, id_layout, self.options.special_tokens, end_of_word)
            if start is None
            else from_vocabulary(start, ties)
        )
        self._n_merges_wanted = vocab_size - self._start.vocabulary.n_vocab
        self._sources, self._sample = tuple(counts.sources), counts.sample
        self._steps: list[tuple[int, int, int]] = []
        self._news: list[tuple[int, int, int]] = []  # merges that `_vocabulary` lacks
        self._vocabulary = self._start.vocabulary
        self._ids = self._start.ids
        self._bytes = self._start.tokens
        rules = Rules(ties, min_count, max_token_length, end_of_word)
        with no_garbage_collection():
            self._learner = learner(counts.table, rules, look)
        self._n_tokens_start = self.n_tokens
        occurs, base = self.token_counts(), [*map(alphabet(ties).index, range(256)), *range(256, len(self._ids))]
        self.first_counts: Final = tuple(occurs[self._ids[symbol]] for symbol in base)
        """How often each of the 256 bytes occurred before the first merge, by value, then the end-of-word marker."""

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self._learner.n_tokens

    @property
    def n_merges(self) -> int:
        """How many merges have been learned."""
        return len(self._steps)

    @property
    def n_given(self) -> int:
        """How many merges are given by `start`; they come first."""
        return len(self._start.given)

    @property
    def n_merges_wanted(self) -> int:
        """How many merges the vocabulary size asks for; the corpus may have fewer."""
        return self._n_merges_wanted

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary of all merges learned so far."""
        if self._news:
            self._vocabulary = self._vocabulary.extended(self._news)
            self._news.clear()
        return self._vocabulary

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Merge:
        for merge in self.learn(1):
            return merge
        raise StopIteration

    def learn(self, n: int) -> list[Merge]:
        """Learn `n` more merges or fewer, in less time than by calling `next` for each; none if none is left."""
        begin = self.n_merges
        self._learn(n)
        n = self.n_merges - begin
        rows = zip(range(begin + 1, begin + n + 1), self._news[-n:], self._bytes[-n:], self._steps[-n:], strict=True)
        return [
            Merge(step, left, right, token, data, count, ties, n_tokens)
            for step, (left, right, token), data, (count, ties, n_tokens) in (rows if n else ())
        ]

    def finish(self) -> None:
        """Learn all remaining merges; faster than calling `next` for each."""
        while self._learn(_AT_ONCE):
            pass

    def _learn(self, n: int) -> bool:
        """Learn up to `n` more merges; false if there was none left. Sets `stop_reason` after the last one."""
        if self.stop_reason is not None:
            return False
        begin = self.n_merges
        given, n_given = self._start.given, self.n_given
        n = min(n, (n_given if begin < n_given else self._n_merges_wanted) - begin)
        if self.options.min_share is not None and begin >= n_given:
            n = 1
        with no_garbage_collection():
            if begin < n_given:
                steps = list(map(self._learner.merge, given[begin : begin + n]))
                self._add(steps, iter(self._start.given_ids[begin : begin + n]))
            else:
                self._add(self._learner.learn(n), self._start.new_ids)
        if self.n_merges < begin + n:
            some_left = next(iter(self._pairs()), None)
            self.stop_reason = f"no pair occurs {self.options.min_count} times" if some_left else "no pair left"
        elif len(self._steps) == self._n_merges_wanted:
            self.stop_reason = "vocabulary size reached"
        elif self._saves_little():
            self.stop_reason = f"the last pair made up less than {self.options.min_share} of the tokens"
        return self.n_merges > begin

    def _add(self, steps: Sequence[Step], tokens: Iterator[int]) -> None:
        if not steps:
            return
        ids, contents = self._ids, self._bytes
        new = tuple(islice(tokens, len(steps)))
        ids += new
        lefts, rights, *numbers = zip(*steps, strict=True)  # by columns, in a third of the time of one by one
        for left, right in zip(lefts, rights, strict=True):
            contents.append(contents[left] + contents[right])
        self._news += zip(map(ids.__getitem__, lefts), map(ids.__getitem__, rights), new, strict=True)
        self._steps += zip(*numbers, strict=True)

    def _saves_little(self) -> bool:
        """Whether the last merge was learned, and its pair made up less than `min_share` of the tokens before it."""
        if self.options.min_share is None or self.n_merges <= self.n_given:
            return False
        before = self._steps[-2][2] if len(self._steps) > 1 else self._n_tokens_start
        return self._steps[-1][0] < Fraction(self.options.min_share) * before

    def pair_table(self) -> list[tuple[tuple[int, int], int]]:
        """((left id, right id), count) for every pair in the corpus now, in descending order of (count, pair)."""
        return sorted(self._pairs(), key=lambda row: (row[1], row[0]), reverse=True)

    def _pairs(self) -> Iterable[tuple[tuple[int, int], int]]:
        ids = self._ids
        return (((ids[left], ids[right]), n) for (left, right), n in self._learner.pairs())

    def token_counts(self) -> dict[int, int]:
        """Id -> how often the token occurs in the corpus now; 0 for those that do not. Linear in the corpus."""
        return dict(zip(self._ids, self._learner.symbol_counts(), strict=True))

    def tokenizer(self) -> Tokenizer:
        """The tokenizer with all merges learned so far.

        Raises `UntrainedError` before the first `next` or `finish`. If these found nothing to merge, the tokenizer has
        no merges and encodes into bytes.
        """
        if not self._steps and self.stop_reason is None:
            raise UntrainedError(
                "This trainer has not run yet; take at least one step before you ask for its tokenizer."
            )
        with no_garbage_collection():
            vocabulary, record = self.vocabulary, self._record()
        return Tokenizer(vocabulary, self.options.pattern, record=record)

    def _record(self) -> TrainingRecord:
        options = self.options
        return TrainingRecord(
            pattern=options.pattern,
            ties=options.ties,
            id_layout=options.id_layout,
            min_count=options.min_count,
            max_token_length=options.max_token_length,
            vocab_size=options.vocab_size,
            sources=self._sources,
            steps=tuple(self._steps),
            n_bytes=self.n_bytes,
            n_tokens_start=self._n_tokens_start,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            stop_reason=self.stop_reason or STOPPED,
            end_of_word=options.end_of_word,
            min_share=None if options.min_share is None else str(options.min_share),
            n_given=self.n_given,
            first_counts=self.first_counts,
            sample=self._sample,
        )


def train(
    texts: str | Iterable[str] | Counts,
    *,
    vocab_size: int,
    pattern: str | None = None,
    ties: str = "first",
    id_layout: str = "bytes-first",
    min_count: int = 1,
    max_token_length: int | None = None,
    special_tokens: Sequence[str] = (),
    end_of_word: str = "",
    min_share: Fraction | str | None = None,
    start: Vocabulary | None = None,
) -> Tokenizer:
    """Learn until the vocabulary has `vocab_size` tokens or no pair is left; the options are those of `Trainer`."""
    trainer = Trainer(
        texts,
        vocab_size=vocab_size,
        pattern=pattern,
        ties=ties,
        id_layout=id_layout,
        min_count=min_count,
        max_token_length=max_token_length,
        special_tokens=special_tokens,
        end_of_word=end_of_word,
        min_share=min_share,
        start=start,
    )
    trainer.finish()
    return trainer.tokenizer()


def _agreed_pattern(asked: str | None, counts: Counts) -> str:
    if asked is not None and not counts.splitter.is_like(splitter(asked)):
        raise OptionError(
            f"The counts were split by {counts.pattern!r}, not by {asked!r}; count again or leave the pattern out."
        )
    return counts.pattern
