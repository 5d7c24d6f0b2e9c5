"""Find the words whose grafting saves most tokens on counted texts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.reference import merged
from bpe_core.surgery.grafting import Grafter, Refusal
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary.merge_loop import Triple
from bpe_core.weighted import Count

Pair = tuple[int, int]


class SavingWord(NamedTuple):
    """A word, and how many tokens it saves."""

    word: str
    saving: Count
    """Tokens that the counted texts lose by it, measured after the words before it."""
    n_new_tokens: int
    """Tokens that it adds to the vocabulary, with those that it is built from."""


@dataclass(slots=True)
class _Piece:
    """A piece of the texts, and its tokens once the words found so far are grafted."""

    text: str
    count: Count
    ids: list[int]
    version: int = 0
    """Counts the entries in the queue. Only the last one is valid."""

    @property
    def first_pair(self) -> Pair:
        return self.ids[0], self.ids[1]


class _Candidate(NamedTuple):
    """An entry of the queue, smallest first: the largest value, and of equal values a bound before a measured one."""

    minus_value: Any
    """The saving, or an upper bound of it, times -1."""
    is_measured: bool
    word: str
    version: int
    piece: _Piece


def best_words(tokenizer: Tokenizer, counts: Counts, n: int) -> list[SavingWord]:
    """Return the `n` pieces of the texts that save most tokens, the largest saving first.

    The first is the piece with the largest saving, the second is the one with the largest saving once the first is grafted,
    and so on. Of equal savings the alphabetically first piece is taken. Each saving is exact: it counts the tokens in all
    pieces, so also those that new tokens of a common beginning save. `graft` with these words, in this order, adds exactly
    these tokens.

    It takes long to measure a saving. So pieces are measured in the order of an upper bound, until no bound is higher than
    the best saving (Minoux, "Accelerated greedy algorithms", 1978). A piece whose pairs of neighbors occur c1, c2, ...
    times in the texts saves at most c1 + min(c1, c2) + ... tokens: each of its merges is made at most as often as the
    rarest pair in it occurs.

    Args:
        tokenizer: The tokenizer, which is not changed.
        counts: Pieces, split by the tokenizer's pattern.
        n: How many words to return; fewer if no others save anything.

    Raises:
        OptionError: `n` is below 1, the counts were split by another pattern, or the tokenizer does more to a text than
            split it.
    """
    if n < 1:
        raise OptionError(f"The number of words is {n}; choose 1 or more.")
    if not tokenizer.by_piece:
        raise OptionError(
            "Words can't be chosen from counts for a tokenizer that does more to a text than split it; give the words."
        )
    if counts.splitter.tree != tokenizer.splitter.tree:
        raise OptionError(
            f"The texts were counted with the pattern {counts.pattern!r}, but the tokenizer uses "
            f"{tokenizer.pattern!r}; count them again with the tokenizer's pattern."
        )
    search = _Search(tokenizer, counts)
    words: list[SavingWord] = []
    while len(words) < n:
        best = search.next()
        if best is None:
            break
        words.append(best)
    return words


class _Search:
    """The pieces of the texts that have several tokens, and the queue of those that may be the next word."""

    def __init__(self, tokenizer: Tokenizer, counts: Counts) -> None:
        self._grafter = Grafter(tokenizer)
        self._count_of: defaultdict[Pair, Count] = defaultdict(int)
        self._pieces_with: defaultdict[Pair, dict[str, _Piece]] = defaultdict(dict)
        """Pair -> text -> the pieces that contain it."""
        self._measured: defaultdict[Pair, list[_Piece]] = defaultdict(list)
        """Pair -> the measured pieces that begin with it."""
        pieces: list[_Piece] = []
        encoded = tokenizer.encode_pieces(list(counts.pieces))
        for (text, count), ids in zip(counts.pieces.items(), encoded, strict=True):
            if len(ids) > 1:
                pieces.append(_Piece(text, count, list(ids)))
        for piece in pieces:
            self._add_pairs(piece)
        self._queue = [self._bound(piece) for piece in pieces]
        heapify(self._queue)

    def _add_pairs(self, piece: _Piece) -> None:
        for pair in pairwise(piece.ids):
            self._count_of[pair] += piece.count
            self._pieces_with[pair][piece.text] = piece

    def _remove_pairs(self, piece: _Piece) -> None:
        for pair in pairwise(piece.ids):
            self._count_of[pair] -= piece.count
            self._pieces_with[pair].pop(piece.text, None)

    def _bound(self, piece: _Piece) -> _Candidate:
        """Return a piece with the upper bound of its saving, for the queue."""
        counts = [self._count_of[pair] for pair in pairwise(piece.ids)]
        bound = sum(accumulate(counts, min))
        piece.version += 1
        return _Candidate(-bound, False, piece.text, piece.version, piece)

    def next(self) -> SavingWord | None:
        """Graft the best word, and return it; None if no word saves anything."""
        while self._queue:
            candidate = heappop(self._queue)
            piece = candidate.piece
            if candidate.version != piece.version:
                continue
            plan = self._grafter.plan(piece.ids)
            if not candidate.is_measured:
                saving = self._saving(piece.first_pair, plan)
                if saving > 0:
                    self._measured[piece.first_pair].append(piece)
                    measured = candidate._replace(minus_value=-saving, is_measured=True)
                    heappush(self._queue, measured)
                continue
            try:
                self._grafter.add(self._grafter.piece_of_word(piece.text))
            except Refusal:
                continue
            self._apply(piece.first_pair, plan)
            return SavingWord(piece.text, -candidate.minus_value, len(plan))
        return None

    def _saving(self, first_pair: Pair, plan: Sequence[Triple]) -> Count:
        """Return how many tokens fewer the texts would be with the merges of a word."""
        saving: Count = 0
        # All merges except the first join a new token, so only pieces with the first pair change.
        for piece in self._pieces_with[first_pair].values():
            n_after = len(_with_merges(piece.ids, plan))
            saving += piece.count * (len(piece.ids) - n_after)
        return saving

    def _apply(self, first_pair: Pair, plan: Sequence[Triple]) -> None:
        """Merge the tokens of a word in all pieces, and put pieces whose savings may have changed into the queue again."""
        changed = list(self._pieces_with[first_pair].values())
        outdated = {piece.text: piece for piece in changed}
        for piece in changed:
            for pair in pairwise(piece.ids):
                for measured in self._measured.pop(pair, ()):
                    outdated[measured.text] = measured
            self._remove_pairs(piece)
            piece.ids = _with_merges(piece.ids, plan)
            self._add_pairs(piece)
        for piece in outdated.values():
            if len(piece.ids) > 1:
                heappush(self._queue, self._bound(piece))
            else:
                piece.version += 1


def _with_merges(ids: list[int], merges: Iterable[Triple]) -> list[int]:
    """Return ids after merges, each made everywhere before the next."""
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids
