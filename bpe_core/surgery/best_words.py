"""Find the words whose grafting saves most tokens on counted texts."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.surgery.grafting import Grafter, Refusal, with_merges
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
    is_refused: bool = False

    @property
    def first_pair(self) -> Pair:
        return self.ids[0], self.ids[1]


class _Entry(NamedTuple):
    """An entry of the queue: the largest bound comes first, then the alphabetically first piece."""

    minus_bound: Any
    """An upper bound of the saving, times -1."""
    text: str
    piece: _Piece


def best_words(tokenizer: Tokenizer, counts: Counts) -> Iterator[SavingWord]:
    """Yield the pieces of the texts that save tokens, the largest saving first.

    The first is the piece with the largest saving, the second is the one with the largest saving once the first is grafted,
    and so on. Of equal savings the alphabetically first piece is taken. Each saving is exact: it counts the tokens in all
    pieces, so also those that new tokens of a common beginning save. `graft` with these words, in this order, adds exactly
    these tokens.

    It takes long to measure a saving. So pieces are measured in the order of an upper bound, until no bound is higher than
    the best saving (Minoux, "Accelerated greedy algorithms", 1978). A piece whose pairs of neighbors occur c1, c2, ...
    times in the texts saves at most c1 + min(c1, c2) + ... tokens: each of its merges is made at most as often as the
    rarest pair in it occurs. Bounds only fall, since a new token occurs at most as often as the pair that it replaces. So
    an old bound is a bound, too.

    Args:
        tokenizer: The tokenizer, which is not changed.
        counts: Pieces, split by the tokenizer's pattern.

    Raises:
        OptionError: The counts were split by another pattern, or the tokenizer does more to a text than split it.
    """
    if not tokenizer.by_piece:
        raise OptionError(
            "Words can't be chosen from counts for a tokenizer that does more to a text than split it; give the words."
        )
    if counts.splitter.tree != tokenizer.splitter.tree:
        raise OptionError(
            f"The texts were counted with the pattern {counts.pattern!r}, but the tokenizer uses "
            f"{tokenizer.pattern!r}; count them again with the tokenizer's pattern."
        )
    return _Search(tokenizer, counts).words()


class _Search:
    """A search through the pieces of the texts, in the order of the upper bounds of their savings."""

    def __init__(self, tokenizer: Tokenizer, counts: Counts) -> None:
        self._grafter = Grafter(tokenizer)
        self._count_of: defaultdict[Pair, Count] = defaultdict(int)
        self._pieces_with: defaultdict[Pair, dict[str, _Piece]] = defaultdict(dict)
        """Pair -> text -> the pieces that contain it."""
        self._savings: defaultdict[Pair, dict[str, Count]] = defaultdict(dict)
        """Pair -> text -> the measured savings of pieces that begin with it."""
        pieces = [
            _Piece(text, count, list(tokenizer.encode_piece(text)))
            for text, count in counts.pieces.items()
        ]
        for piece in pieces:
            self._add_pairs(piece)
        self._queue = list(map(self._entry, pieces))
        heapify(self._queue)

    def _add_pairs(self, piece: _Piece) -> None:
        for pair in pairwise(piece.ids):
            self._count_of[pair] += piece.count
            self._pieces_with[pair][piece.text] = piece

    def _entry(self, piece: _Piece) -> _Entry:
        counts = [self._count_of[pair] for pair in pairwise(piece.ids)]
        return _Entry(-sum(accumulate(counts, min)), piece.text, piece)

    def words(self) -> Iterator[SavingWord]:
        """Graft the best word, yield it, and begin again, until no word saves anything."""
        while piece := self._best():
            saving = self._saving(piece)
            try:
                plan = self._apply(piece)
            except Refusal:
                piece.is_refused = True
            else:
                yield SavingWord(piece.text, saving, len(plan))

    def _best(self) -> _Piece | None:
        """Return the piece that saves most; None if no piece saves anything."""
        best: _Piece | None = None
        best_key: tuple[Any, str] = (0, "")
        looked_at: list[_Entry] = []
        while self._queue and self._queue[0].minus_bound <= best_key[0]:
            piece = heappop(self._queue).piece
            if len(piece.ids) == 1 or piece.is_refused:
                continue
            looked_at.append(self._entry(piece))
            key = (-self._saving(piece), piece.text)
            if key < best_key:
                best = piece
                best_key = key
        for entry in looked_at:
            heappush(self._queue, entry)
        return best

    def _saving(self, piece: _Piece) -> Count:
        """Return how many tokens fewer the texts would be if a piece were one token."""
        savings = self._savings[piece.first_pair]
        if piece.text not in savings:
            plan = self._grafter.plan(piece.ids)
            saving: Count = 0
            # All merges except the first join a new token, so only pieces with the first pair change.
            for other in self._pieces_with[piece.first_pair].values():
                n_after = len(with_merges(other.ids, plan))
                saving += other.count * (len(other.ids) - n_after)
            savings[piece.text] = saving
        return savings[piece.text]

    def _apply(self, word: _Piece) -> list[Triple]:
        """Make a piece one token in all pieces. Return the new merges."""
        plan = self._grafter.plan(word.ids)
        self._grafter.add(self._grafter.piece_of_word(word.text))
        for piece in list(self._pieces_with[word.first_pair].values()):
            for pair in pairwise(piece.ids):
                self._count_of[pair] -= piece.count
                self._pieces_with[pair].pop(piece.text, None)
                self._savings.pop(pair, None)
            piece.ids = with_merges(piece.ids, plan)
            self._add_pairs(piece)
        return plan
