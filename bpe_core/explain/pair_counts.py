"""The counts of all pairs in a corpus, at any step of a training run.

Nothing is trained again. After k merges, a piece of the corpus has the tokens that the first k merges make of it. So
the counts at a step come from encoding each distinct piece once. To go one step forward or back, only the pieces that
hold the token of that step are encoded.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import lcm
from typing import Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import utf8
from bpe_core.weighted import Count, weighted_count

Pair = tuple[int, int]
"""(left id, right id)"""

NEAR: Final = 8
"""Maximum distance for changing counts step by step. For a step farther away, all is counted again."""


class ChangedPiece(NamedTuple):
    """A distinct piece of the corpus that a merge changes."""

    number: int
    before: Sequence[int]  # its tokens
    after: Sequence[int]


class MergeEffect(NamedTuple):
    """The changes that a merge makes in the corpus."""

    changes: Mapping[Pair, Count]  # pair -> by how much its count changes, if it does
    n_joined: Count
    """How many occurrences of the pair become the new token: the corpus has this many tokens fewer."""
    changed: Sequence[ChangedPiece]


class PairCounts:
    """The counts of all pairs at one step, which can be changed.

    A pair counts once for each place where it begins, overlaps included (`aaa` holds `aa` twice), as in
    training. Counting everything takes time linear in the bytes of the distinct pieces. Going one step takes time linear
    in the bytes of the pieces that change.

    Examples:
        >>> from bpe_core import train
        >>> tokenizer = train("aaabdaaabac", vocab_size=259, pattern="none")
        >>> counts = PairCounts(tokenizer, {"aaabdaaabac": 1})
        >>> counts.counts[97, 97], counts.n_tokens
        (4, 11)
        >>> counts.go_to(1)
        >>> counts.counts[256, 97], counts.n_tokens
        (2, 9)
    """

    def __init__(self, tokenizer: Tokenizer, pieces: Mapping[str, Count]) -> None:
        """Count the pairs at step 0.

        Args:
            tokenizer: The tokenizer whose merges are followed.
            pieces: Piece -> how often it occurs, in the order of first appearance.

        Raises:
            OptionError: The tokenizer changes a text before it splits it, or its merges are not known.
        """
        if tokenizer.preparation is not None:
            raise OptionError(
                "This tokenizer changes a text before it splits it, so its pairs can't be counted."
            )
        if not tokenizer.vocabulary.knows_merges:
            raise OptionError(
                "The merges of this vocabulary are not known yet; recover them first."
            )
        self.tokenizer = tokenizer
        """Callers may replace it by a tokenizer that has these merges and more."""
        self.pieces = list(pieces)
        self.weights = list(pieces.values())
        # Whole numbers are faster to count than fractions.
        self._scale = lcm(*(weight.denominator for weight in self.weights))
        self._times = [int(weight * self._scale) for weight in self.weights]
        end_of_word = tokenizer.vocabulary.end_of_word
        marker = b"" if end_of_word is None else tokenizer.token_bytes(end_of_word)
        separator = b"\xff"  # in no UTF-8
        encoded = [utf8(piece) + marker + separator for piece in self.pieces]
        self._piece_ends = list(accumulate(map(len, encoded)))
        self._text = b"".join(encoded)
        self.effect: Final = lru_cache(maxsize=1)(self._effect)
        """Returns the changes that the merge of a step makes. Steps count from 1."""
        self._count(0)

    def _count(self, step: int) -> None:
        counts: Counter[Pair] = Counter()
        n_tokens = 0
        encoded = self.tokenizer.at(step).encode_pieces(self.pieces)
        for ids, times in zip(encoded, self._times, strict=True):
            n_tokens += times * len(ids)
            if times == 1:
                counts.update(pairwise(ids))
            else:
                for pair in pairwise(ids):
                    counts[pair] += times
        self.step = step  # how many merges are made
        self.n_tokens = weighted_count(
            n_tokens, self._scale
        )  # of the corpus at this step
        # Pair -> how often it occurs at this step, never 0.
        self.counts = {
            pair: weighted_count(n, self._scale) for pair, n in counts.items()
        }

    def go_to(self, step: int) -> None:
        """Change the counts to the state after `step` merges."""
        if abs(step - self.step) > NEAR:
            self._count(step)
        while self.step < step:
            self._apply(self.effect(self.step + 1), sign=1)
        while self.step > step:
            self._apply(self.effect(self.step), sign=-1)

    def _apply(self, effect: MergeEffect, sign: int) -> None:
        """Go one step: forward if `sign` is 1, back if it is -1."""
        for pair, change in effect.changes.items():
            count = self.counts.get(pair, 0) + sign * change
            self.counts[pair] = count
            if count == 0:
                del self.counts[pair]
        self.n_tokens -= sign * effect.n_joined
        self.step += sign

    def _effect(self, step: int) -> MergeEffect:
        token = self.tokenizer.vocabulary.merge_of(step)[2]
        numbers = list(self.holding(self.tokenizer.token_bytes(token)))
        pieces = [self.pieces[number] for number in numbers]
        ids_before = self.tokenizer.at(step - 1).encode_pieces(pieces)
        ids_after = self.tokenizer.at(step).encode_pieces(pieces)
        changes: Counter[Pair] = Counter()
        n_joined = 0
        changed: list[ChangedPiece] = []
        for piece in map(ChangedPiece, numbers, ids_before, ids_after):
            n_joined_here = len(piece.before) - len(piece.after)
            if n_joined_here == 0:
                continue
            times = self._times[piece.number]
            n_joined += times * n_joined_here
            changed.append(piece)
            for pair in pairwise(piece.before):
                changes[pair] -= times
            for pair in pairwise(piece.after):
                changes[pair] += times
        amounts = {
            pair: weighted_count(change, self._scale)
            for pair, change in changes.items()
            if change
        }
        return MergeEffect(amounts, weighted_count(n_joined, self._scale), changed)

    def holding(self, token: bytes) -> Iterator[int]:
        """Yield the numbers of the pieces whose bytes, with the end-of-word marker, hold `token`."""
        offset = self._text.find(token)
        while offset >= 0:
            number = bisect_right(self._piece_ends, offset)
            yield number
            offset = self._text.find(token, self._piece_ends[number])

    def first_places(self, pairs: Collection[Pair]) -> dict[Pair, tuple[int, int]]:
        """Return the first place of each pair at this step: (index of the piece, index of its left token there)."""
        tokenizer = self.tokenizer.at(self.step)

        @cache
        def pairs_in(number: int) -> list[Pair]:
            return list(pairwise(tokenizer.encode_piece(self.pieces[number])))

        places: dict[Pair, tuple[int, int]] = {}
        for pair in pairs:
            held = self.holding(b"".join(map(tokenizer.token_bytes, pair)))
            number = next(number for number in held if pair in pairs_in(number))
            places[pair] = number, pairs_in(number).index(pair)
        return places
