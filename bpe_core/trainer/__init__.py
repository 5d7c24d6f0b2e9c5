"""The trainer: learns merges one at a time, the most frequent pair first, and can be watched while it does.

The algorithm is Sennrich, Haddow and Birch 2016 (arXiv:1508.07909) on bytes. `joining` keeps the corpus and its pair
counts, `candidates` and `ties` say which pair is next; here they take turns.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from bpe_core.corpus import Counts
from bpe_core.errors import OptionError, UntrainedError
from bpe_core.patterns import splitter
from bpe_core.surrogates import utf8
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.training_record import TrainingRecord
from bpe_core.trainer.candidates import Candidates
from bpe_core.trainer.joining import Joining
from bpe_core.trainer.options import DEFAULT_PATTERN, Options
from bpe_core.trainer.ties import BYTES_BY_VALUE, TIES, alphabet, descending
from bpe_core.vocabulary import Vocabulary

__all__ = ["TIES", "Merge", "Trainer", "train"]


@dataclass(frozen=True, slots=True)
class Merge:
    """One step of a training: the two tokens that were joined, and what was known when they were chosen."""

    step: int
    """From 1."""
    left: int
    """Id of the left part."""
    right: int
    """Id of the right part."""
    token: int
    """Id of the new token."""
    token_bytes: bytes
    """Its bytes."""
    count: int
    """How often the pair occurred in the corpus, overlaps included (`aaa` holds `aa` twice)."""
    ties: int
    """How many pairs had this count; 1 if there was no tie."""
    n_tokens: int
    """Tokens in the corpus after this merge."""


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
        look: Callable[[int, int], None] | None = None,
    ) -> None:
        """Count the pairs of the corpus. That takes a while for a large one: `look` is told now and then how far it is.

        It is given bytes done and bytes in all, of the different pieces; an error that it raises ends the training.
        """
        if isinstance(texts, Counts):
            pattern = _agreed_pattern(pattern, texts)
        elif pattern is None:
            pattern = DEFAULT_PATTERN
        self.options = Options(
            vocab_size, pattern, ties, id_layout, min_count, max_token_length, special_tokens, end_of_word
        )
        """What to learn, and by which rules."""
        counts = texts if isinstance(texts, Counts) else Counts.of(texts, pattern)
        self.n_bytes = counts.n_bytes
        """Bytes of the corpus in UTF-8."""
        self.stop_reason: str | None = None
        """Why there are no more merges; None while there may be."""
        self._n_merges_wanted = self.options.n_merges
        self._sources = tuple(counts.sources)
        self._steps: list[tuple[int, int, int]] = []
        self._news: list[tuple[int, int, int]] = []  # merges that the vocabulary has not been told of yet
        self._vocabulary = Vocabulary.of_bytes(id_layout, self.options.special_tokens, end_of_word)
        self._alphabet = alphabet(ties)
        self._first_id = len(self.options.special_tokens) if id_layout == "specials-first" else 0
        self._bytes = [bytes([byte]) for byte in self._alphabet]
        if end_of_word:
            self._bytes.append(utf8(end_of_word))
        with _no_garbage_collection():
            self._joining = Joining(
                self._symbols(counts.pieces),
                dict.fromkeys(map(chr, range(len(self._bytes))), 1),
                max_token_length,
                _of_total(counts.pieces, look),
            )
            self._candidates = self._order(ties)
        self._n_tokens_start = self._joining.n_tokens

    def _symbols(self, pieces: dict[str, int]) -> Iterator[tuple[str, int]]:
        number_of = bytes(map(self._alphabet.index, range(256)))
        end = chr(256) if self.options.end_of_word else ""
        as_it_is = number_of == BYTES_BY_VALUE and not end
        for piece, count in pieces.items():
            if as_it_is and piece.isascii():
                yield piece, count
            else:
                yield utf8(piece).translate(number_of).decode("latin-1") + end, count

    def _order(self, ties: str) -> Candidates:
        counts, min_count = self._joining.counts, self.options.min_count
        if ties == "first":
            return Candidates(counts, self._joining.place, key_grows=True, min_count=min_count)
        if ties == "largest":
            self._descending = list(map(descending, self._bytes))
            return Candidates(counts, self._largest_first, key_grows=False, min_count=min_count)
        return Candidates(counts, str, key_grows=False, min_count=min_count)  # symbols sort as their ids do

    def _largest_first(self, pair: str) -> str:
        left, right = map(ord, pair)
        return self._descending[left] + self._descending[right]

    @property
    def n_tokens(self) -> int:
        """Tokens in the corpus now."""
        return self._joining.n_tokens

    @property
    def n_merges(self) -> int:
        """How many merges have been learned."""
        return len(self._steps)

    @property
    def n_merges_wanted(self) -> int:
        """How many merges lead to the vocabulary size."""
        return self._n_merges_wanted

    @property
    def vocabulary(self) -> Vocabulary:
        """What has been learned so far."""
        if self._news:
            self._vocabulary = self._vocabulary.extended(self._news)
            self._news.clear()
        return self._vocabulary

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Merge:
        with _no_garbage_collection():
            learned = self._learn()
        if not learned:
            raise StopIteration
        left, right, token = self._news[-1]
        count, ties, n_tokens = self._steps[-1]
        return Merge(self.n_merges, left, right, token, self._bytes[-1], count, ties, n_tokens)

    def finish(self) -> None:
        """Learn all that is left to learn, for those who do not watch it merge by merge."""
        with _no_garbage_collection():
            while self._learn():
                pass

    def _learn(self) -> bool:
        """One merge more, unless there is none."""
        if self.stop_reason is not None:
            return False
        candidates, joining = self._candidates, self._joining
        pair = candidates.take()
        if pair is None:
            often = self.options.min_count
            self.stop_reason = f"no pair occurs {often} times" if joining.counts else "no pair left"
            return False
        count, ties = candidates.level, candidates.n_tied
        number = len(self._bytes)
        left, right = map(ord, pair)
        self._bytes.append(self._bytes[left] + self._bytes[right])
        if self.options.ties == "largest":
            self._descending.append(descending(self._bytes[number]))
        made, fallen = joining.join(pair, chr(number), count)
        candidates.update(made, fallen + 1)
        self._news.append((self._id(left), self._id(right), self._id(number)))
        self._steps.append((count, ties, joining.n_tokens))
        if len(self._steps) == self._n_merges_wanted:
            self.stop_reason = "vocabulary size reached"
        return True

    def _id(self, number: int) -> int:
        return self._first_id + (self._alphabet[number] if number < 256 else number)

    def pair_table(self) -> list[tuple[tuple[int, int], int]]:
        """Every pair in the corpus now with its count, ((left, right), count), the largest (count, pair) first."""
        pairs = (((self._id(ord(pair[0])), self._id(ord(pair[1]))), n) for pair, n in self._joining.counts.items())
        return sorted(pairs, key=lambda row: (row[1], row[0]), reverse=True)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of what has been learned so far.

        Raises `UntrainedError` before the first `next`. A training that found nothing to merge has run all the same:
        its tokenizer encodes into bytes.
        """
        if not self._steps and self.stop_reason is None:
            raise UntrainedError(
                "This trainer has not run yet; take at least one step before you ask for its tokenizer."
            )
        with _no_garbage_collection():
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
            stop_reason=self.stop_reason or "stopped",
            end_of_word=options.end_of_word,
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
    )
    trainer.finish()
    return trainer.tokenizer()


def _agreed_pattern(asked: str | None, counts: Counts) -> str:
    if asked is not None and not counts.splitter.is_like(splitter(asked)):
        raise OptionError(
            f"The counts were split by {counts.pattern!r}, not by {asked!r}; count again or leave the pattern out."
        )
    return counts.pattern


def _of_total(pieces: Iterable[str], look: Callable[[int, int], None] | None) -> Callable[[int], None]:
    if look is None:
        return lambda _: None
    total = sum(len(piece) if piece.isascii() else len(utf8(piece)) for piece in pieces)
    return lambda done: look(done, total)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Training makes many lists and no cycles: looking for cycles would only cost time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
