"""How often each pair of neighboring tokens occurs in a corpus after any number of merges, without training again.

After k merges a piece of the corpus is what the first k merges make of it. So the counts of any step come from encoding
the distinct pieces once, and those of the next step or the one before from encoding only the pieces that hold the token
which that step makes.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import lcm
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8

Pair = tuple[int, int]  # (left id, right id)

NEAR: Final = 8  # steps up to which counts are changed step by step; for a step further away everything is counted anew


@dataclass(frozen=True, slots=True)
class MergeEffect:
    step: int
    pairs: Mapping[Pair, int]  # pair -> by how much its count changes, if it does
    n_joined: int  # how many occurrences of the pair become the new token, and so how many tokens fewer there are
    words: Sequence[tuple[int, Sequence[int], Sequence[int]]]  # (number, tokens before, after) of each piece changed


class PairCounts:
    """The counts of all pairs at one step, which can be changed.

    A pair counts once for each place where it begins, overlaps included (`aaa` holds `aa` twice), as in training.
    Counting anew is linear in the bytes of the distinct pieces, a neighboring step in those of the pieces it changes.

    >>> from bpe_core import train
    >>> counts = PairCounts(train("aaabdaaabac", vocab_size=259, pattern="none"), {"aaabdaaabac": 1})
    >>> counts.counts[97, 97], counts.n_tokens
    (4, 11)
    >>> counts.go_to(1)
    >>> counts.counts[256, 97], counts.n_tokens
    (2, 9)
    """

    def __init__(self, tokenizer: Tokenizer, pieces: Mapping[str, int]) -> None:
        """At step 0. `pieces` maps each piece to how often it occurs, in the order of first appearance.

        `OptionError` for a tokenizer that changes a text before it splits it, or whose merges are not known.
        """
        if tokenizer.preparation is not None:
            raise OptionError("This tokenizer changes a text before it splits it; its pairs cannot be counted.")
        if not tokenizer.vocabulary.knows_merges:
            raise OptionError("The merges of this vocabulary are not known yet; recover them first.")
        self.tokenizer = tokenizer  # whose merges are followed; may be replaced by one that has these merges and more
        self.pieces, self.weights = list(pieces), list(pieces.values())  # distinct; how often each occurs
        self._scale = lcm(*(weight.denominator for weight in self.weights))  # counted in whole numbers, which is faster
        self._times = [int(weight * self._scale) for weight in self.weights]
        end = tokenizer.vocabulary.end_of_word
        mark = b"" if end is None else tokenizer.token_bytes(end)
        encoded = [utf8(piece) + mark + b"\xff" for piece in self.pieces]  # no UTF-8 holds this last byte
        self._ends = list(accumulate(map(len, encoded)))
        self._text = b"".join(encoded)
        self._newest: MergeEffect | None = None
        self._count(0)

    def _count(self, step: int) -> None:
        counts: Counter[Pair] = Counter()
        n_tokens = 0
        for ids, weight in zip(self.tokens(step), self._times, strict=True):
            n_tokens += weight * len(ids)
            if weight == 1:
                counts.update(pairwise(ids))
                continue
            for pair in pairwise(ids):
                counts[pair] += weight
        self.step = step  # how many merges are made
        self.n_tokens = amount(n_tokens, self._scale)  # of the corpus then
        self.counts = {pair: amount(n, self._scale) for pair, n in counts.items()}  # occurrences at this step; never 0

    def go_to(self, step: int) -> None:
        if abs(step - self.step) > NEAR:
            self._count(step)
        while self.step < step:
            self._apply(self.effect(self.step + 1), 1)
        while self.step > step:
            self._apply(self.effect(self.step), -1)

    def _apply(self, effect: MergeEffect, sign: int) -> None:
        counts = self.counts
        for pair, change in effect.pairs.items():
            counts[pair] = counts.get(pair, 0) + sign * change
            if not counts[pair]:
                del counts[pair]
        self.n_tokens -= sign * effect.n_joined
        self.step += sign

    def effect(self, step: int) -> MergeEffect:
        """What the merge of this step, from 1, changes; the newest answer is kept."""
        if self._newest is not None and self._newest.step == step:
            return self._newest
        holding = list(self.holding(self.tokenizer.token_bytes(self.tokenizer.vocabulary.merge_of(step)[2])))
        changes, n_joined, words = Counter[Pair](), 0, []
        for number, before, after in zip(
            holding, self.tokens(step - 1, holding), self.tokens(step, holding), strict=True
        ):
            if len(before) == len(after):
                continue
            weight = self._times[number]
            n_joined += weight * (len(before) - len(after))
            words.append((number, before, after))
            for pair in pairwise(before):
                changes[pair] -= weight
            for pair in pairwise(after):
                changes[pair] += weight
        pairs = {pair: amount(change, self._scale) for pair, change in changes.items() if change}
        self._newest = MergeEffect(step, pairs, amount(n_joined, self._scale), words)
        return self._newest

    def holding(self, token: bytes) -> Iterator[int]:
        """The numbers of the pieces, ascending, in whose bytes (and end-of-word marker) `token` occurs."""
        at = self._text.find(token)
        while at >= 0:
            number = bisect_right(self._ends, at)
            yield number
            at = self._text.find(token, self._ends[number])

    def tokens(self, step: int, numbers: Sequence[int] | None = None) -> Iterator[Sequence[int]]:
        """The tokens of these pieces, or of all, after `step` merges."""
        pieces = self.pieces if numbers is None else [self.pieces[number] for number in numbers]
        return self.tokenizer.at(step).encode_pieces(pieces)

    def first_places(self, pairs: Collection[Pair]) -> dict[Pair, tuple[int, int]]:
        """(number of a distinct piece, number of a token in it) where each of these pairs begins first at this step."""
        places: dict[Pair, tuple[int, int]] = {}
        encoded: dict[int, list[Pair]] = {}
        for pair in pairs:
            for number in self.holding(b"".join(map(self.tokenizer.token_bytes, pair))):
                if number not in encoded:
                    (ids,) = self.tokens(self.step, [number])
                    encoded[number] = list(pairwise(ids))
                if pair in encoded[number]:
                    places[pair] = number, encoded[number].index(pair)
                    break
        return places

    def size_of(self, left: int, right: int) -> int:
        """Initial symbols of the token that a pair would make: its bytes, an end-of-word marker counting as one."""
        vocabulary = self.tokenizer.vocabulary
        return len(vocabulary.token_bytes(left)) + len(vocabulary.text_bytes(right)) + vocabulary.ends_word(right)
