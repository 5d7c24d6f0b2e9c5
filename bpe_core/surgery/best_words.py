"""Find the words whose grafting saves most tokens on counted texts."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
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


class _Candidate(NamedTuple):
    """A piece in the queue. The smallest is the next: the largest value; a bound before a measured value."""

    minus_value: Any
    """The saving, or an upper bound of it, times -1."""
    is_measured: bool
    word: str
    place: int
    """The index of its piece."""
    version: int
    """The entry is out of date if its piece has a newer version."""


def best_words(tokenizer: Tokenizer, counts: Counts, n: int) -> list[SavingWord]:
    """Return the `n` pieces of the texts that save most tokens, the largest saving first.

    The first is the piece with the largest saving, the second is the one with the largest saving once the first is grafted,
    and so on. Of equal savings the alphabetically first piece is taken. Each saving is exact: it counts the tokens in all
    pieces, so also those that new tokens of a common beginning save. `graft` with these words, in this order, adds exactly
    these tokens.

    Savings are measured only for candidates that an upper bound leaves (Minoux, "Accelerated greedy algorithms", 1978).
    The bound of a piece with the pairs p1, p2, ... is the sum of min(p1), min(p1, p2), ...: each merge of the piece is made
    at most as often as each of the pairs that it covers occurs.

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
    """The pieces of the texts, as the tokens that they are after the words found so far."""

    def __init__(self, tokenizer: Tokenizer, counts: Counts) -> None:
        self._grafter = Grafter(tokenizer)
        self._pieces: list[str] = []
        self._counts: list[Count] = []
        self._ids: list[list[int]] = []
        pieces = counts.pieces
        for piece, ids in zip(
            pieces, tokenizer.encode_pieces(list(pieces)), strict=True
        ):
            if len(ids) > 1:
                self._pieces.append(piece)
                self._counts.append(pieces[piece])
                self._ids.append(list(ids))
        self._count_of: defaultdict[Pair, Count] = defaultdict(int)
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        """Pair -> the pieces that contain it."""
        for index in range(len(self._ids)):
            self._index(index, 1)
        self._versions = [0] * len(self._ids)
        self._measured: defaultdict[Pair, list[int]] = defaultdict(list)
        """Pair -> the measured pieces that begin with it."""
        self._queue = [self._bound(index) for index in range(len(self._ids))]
        heapify(self._queue)

    def _index(self, index: int, sign: int) -> None:
        """Add the pairs of a piece to the counts (`sign` 1), or remove them (-1)."""
        for pair in pairwise(self._ids[index]):
            self._count_of[pair] += sign * self._counts[index]
            if sign > 0:
                self._places[pair].add(index)
            else:
                self._places[pair].discard(index)

    def _bound(self, index: int) -> _Candidate:
        """Return a piece with the upper bound of its saving, for the queue."""
        bound: Count = 0
        least: Count | None = None
        for pair in pairwise(self._ids[index]):
            count = self._count_of[pair]
            least = count if least is None else min(least, count)
            bound += least
        self._versions[index] += 1
        word = self._pieces[index]
        return _Candidate(-bound, False, word, index, self._versions[index])

    def next(self) -> SavingWord | None:
        """Graft the best word, and return it; None if no word saves anything."""
        while self._queue:
            candidate = heappop(self._queue)
            index = candidate.place
            if candidate.version != self._versions[index]:
                continue
            if not candidate.is_measured:
                saving = self._saving(index)
                if saving > 0:
                    self._measured[self._first_pair(index)].append(index)
                    measured = candidate._replace(minus_value=-saving, is_measured=True)
                    heappush(self._queue, measured)
                continue
            plan = self._grafter.plan(self._ids[index])
            try:
                self._grafter.add(self._grafter.piece_of_word(candidate.word))
            except Refusal:
                continue
            self._apply(plan)
            return SavingWord(candidate.word, -candidate.minus_value, len(plan))
        return None

    def _first_pair(self, index: int) -> Pair:
        ids = self._ids[index]
        return ids[0], ids[1]

    def _saving(self, index: int) -> Count:
        """Return how many tokens fewer the texts would be if this piece were one token."""
        plan = self._grafter.plan(self._ids[index])
        saving: Count = 0
        # All merges but the first join a new token, so only pieces with the first pair change.
        for place in self._places[self._first_pair(index)]:
            ids = self._ids[place]
            saving += self._counts[place] * (len(ids) - len(_with_merges(ids, plan)))
        return saving

    def _apply(self, plan: Sequence[Triple]) -> None:
        """Merge the tokens of a word in all pieces, and put pieces whose savings may have changed into the queue again."""
        left, right, _ = plan[0]
        changed = list(self._places[left, right])
        outdated = set(changed)
        for index in changed:
            for pair in pairwise(self._ids[index]):
                outdated.update(self._measured.pop(pair, ()))
            self._index(index, -1)
            self._ids[index] = _with_merges(self._ids[index], plan)
            self._index(index, 1)
        for index in outdated:
            if len(self._ids[index]) > 1:
                heappush(self._queue, self._bound(index))
            else:
                self._versions[index] += 1


def _with_merges(ids: list[int], merges: Iterable[Triple]) -> list[int]:
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids
