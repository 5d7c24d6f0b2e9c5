"""Why a text became these tokens: the merges of a piece in order, and the steps of a training that a text shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Applied:
    """One merge, applied to all occurrences of its pair in the piece."""

    step: int
    """The merge's number in the vocabulary, from 1."""
    left: int
    """First token of the pair."""
    right: int
    """Second token of the pair."""
    token: int
    """The token that the pair became."""
    count: int
    """How many occurrences were merged."""
    parts: tuple[int, ...]
    """The tokens of the whole piece after this merge."""


@dataclass(frozen=True, slots=True)
class Unmerged:
    """Two neighboring tokens of the result that no merge in force joins."""

    left: int
    """First token of the pair."""
    right: int
    """Second token of the pair."""
    step: int | None
    """The merge that would join them, which is later than the step in force; None if no merge joins them at all."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All steps by which one piece is encoded, from a token per byte to its final tokens."""

    piece: bytes
    """The piece in UTF-8."""
    start: tuple[int, ...]
    """The tokens before the first merge: one per byte, or per character where the vocabulary is made of characters."""
    applied: tuple[Applied, ...]
    """The merges in the order in which they were applied."""
    whole: int | None
    """The id of the whole piece, if the vocabulary has one that no merge makes and it was looked up; None otherwise."""
    unmerged: tuple[Unmerged, ...]
    """Each pair of neighboring tokens of the result, from left to right."""

    @property
    def parts(self) -> tuple[int, ...]:
        """The tokens of the piece in the end."""
        if self.whole is not None:
            return (self.whole,)
        return self.applied[-1].parts if self.applied else self.start

    @property
    def next(self) -> Unmerged | None:
        """The pair in `unmerged` with the lowest `step`; None if no merge would join any."""
        later = [pair for pair in self.unmerged if pair.step is not None]
        return min(later, key=lambda pair: pair.step or 0, default=None)


def trace(vocabulary: Vocabulary, piece: str | bytes) -> Trace:
    """The merges that turn `piece` into its tokens, as many as are in force in `vocabulary`.

    Made to be shown, for pieces of the length of words: O(n * n) time and memory for n bytes, since every merge keeps
    a copy of the tokens after it. Raises `UnknownTokenError` for a byte that has no id.

    >>> low = Vocabulary.of_bytes().extended([(108, 111, 256), (256, 119, 257)])
    >>> [merge.parts for merge in trace(low, "low").applied]
    [(256, 119), (257,)]
    >>> trace(low.at(1), "low").next
    Unmerged(left=256, right=119, step=2)
    """
    data = utf8(piece) if isinstance(piece, str) else piece
    start = tuple(vocabulary.symbols(data))
    whole = vocabulary.encode(data)
    if len(whole) == 1 < len(data) and vocabulary.parents(whole[0]) is None:
        return Trace(data, start, (), whole[0], ())
    applied = tuple(_replay(vocabulary, start))
    parts = applied[-1].parts if applied else start
    return Trace(data, start, applied, None, tuple(_unmerged(vocabulary, parts)))


def _replay(vocabulary: Vocabulary, start: tuple[int, ...]) -> Iterator[Applied]:
    merges = vocabulary.merges
    for rank, joins in groupby(_joins(vocabulary, start), key=itemgetter(0)):
        left, right, token = merges[rank]
        after = [parts for _, parts in joins]
        yield Applied(rank + 1, left, right, token, len(after), after[-1])


def _joins(vocabulary: Vocabulary, parts: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(rank, tokens after it) for every single join: of the pairs of lowest rank the leftmost, as encoding does."""
    ranks, n_merges = vocabulary.ranks, vocabulary.n_merges
    while True:
        rank_at = [ranks.get(pair, n_merges) for pair in pairwise(parts)]
        rank = min(rank_at, default=n_merges)
        if rank >= n_merges:
            return
        i = rank_at.index(rank)
        parts = (*parts[:i], vocabulary.merges[rank][2], *parts[i + 2 :])
        yield rank, parts


def _unmerged(vocabulary: Vocabulary, parts: tuple[int, ...]) -> Iterator[Unmerged]:
    for left, right in pairwise(parts):
        rank = vocabulary.ranks.get((left, right))
        yield Unmerged(left, right, None if rank is None else rank + 1)


def steps_seen(tokenizer: Tokenizer, text: str) -> list[int]:
    """The steps, in order, that change how `text` is split: those of its tokens, and of the tokens these are made of.

    A token comes about by its own merge only, so no other step is seen.
    The merges of a rank file are recovered first.

    >>> from bpe_core import train
    >>> steps_seen(train("aaabdaaabac", vocab_size=259, pattern="none"), "aab")
    [1]
    """
    vocabulary = tokenizer.vocabulary
    waiting = set(tokenizer.encode_ordinary(text))
    seen: set[int] = set()
    while waiting:
        token = waiting.pop()
        if token not in seen and (parents := vocabulary.parents(token)) is not None:
            seen.add(token)
            waiting.update(parents)
    return sorted(map(vocabulary.step_of, seen))
