"""Why a merge was chosen and what it changed: its count and those of the others, the ties, the words before and after.

All numbers are those of the corpus at hand. That it is the one which the vocabulary was learned from can be seen from
the count of the merged pair, which the training record keeps.

Nothing is trained again: after k merges a piece of the corpus is what the first k merges make of it. So the counts of
any step come from encoding the distinct pieces once, and those of the next step or the one before from encoding only
the pieces that hold the token which that step makes.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import nlargest, nsmallest
from itertools import accumulate, pairwise
from math import lcm
from typing import Any, Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.tie_rules import TIES, sort_key
from bpe_core.typed_numbers import amount
from bpe_core.utf8 import utf8

Pair = tuple[int, int]  # (left id, right id)

NEAR: Final = 8  # steps up to which counts are changed step by step; for a step further away everything is counted anew
GIVEN: Final = (
    "Given by the vocabulary that was extended, and not chosen in these texts."
)
_FEW: Final = 8  # runners-up that are named, and pairs born and vanished
MOST_TIED: Final = (
    40  # tied pairs that are named; of more, those that the tie rule takes first
)
MOST_ROWS: Final = 2000  # rows up to which a table of pairs is given whole; of a larger one only `TOP` rows are
TOP: Final = 200
FEW_WORDS: Final = 40  # distinct pieces up to which a corpus is given whole; of a larger one only those that changed
MOST_WORDS: Final = (
    12  # changed pieces given of a larger corpus, the most frequent first
)
LONGEST_WORD: Final = (
    400  # tokens of the longest piece that is given; nobody would read longer ones
)


class MergeEffect(NamedTuple):
    pairs: Mapping[Pair, int]  # pair -> by how much its count changes, if it does
    n_joined: int  # how many occurrences of the pair become the new token, and so how many tokens fewer there are
    words: Sequence[
        tuple[int, Sequence[int], Sequence[int]]
    ]  # (number, tokens before, after) of each piece changed


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
            raise OptionError(
                "This tokenizer changes a text before it splits it; its pairs cannot be counted."
            )
        if not tokenizer.vocabulary.knows_merges:
            raise OptionError(
                "The merges of this vocabulary are not known yet; recover them first."
            )
        self.tokenizer = tokenizer  # whose merges are followed; may be replaced by one that has these merges and more
        self.pieces, self.weights = (
            list(pieces),
            list(pieces.values()),
        )  # distinct; how often each occurs
        self._scale = lcm(
            *(weight.denominator for weight in self.weights)
        )  # counted in whole numbers, which is faster
        self._times = [int(weight * self._scale) for weight in self.weights]
        end = tokenizer.vocabulary.end_of_word
        mark = b"" if end is None else tokenizer.token_bytes(end)
        encoded = [
            utf8(piece) + mark + b"\xff" for piece in self.pieces
        ]  # no UTF-8 holds this last byte
        self._ends = list(accumulate(map(len, encoded)))
        self._text = b"".join(encoded)
        self.effect: Final = lru_cache(maxsize=1)(
            self._effect
        )  # step, from 1 -> what its merge changes
        self._count(0)

    def _count(self, step: int) -> None:
        counts: Counter[Pair] = Counter()
        n_tokens = 0
        for ids, weight in zip(
            self.tokenizer.at(step).encode_pieces(self.pieces), self._times, strict=True
        ):
            n_tokens += weight * len(ids)
            if weight == 1:
                counts.update(pairwise(ids))
                continue
            for pair in pairwise(ids):
                counts[pair] += weight
        self.step = step  # how many merges are made
        self.n_tokens = amount(n_tokens, self._scale)  # of the corpus then
        self.counts = {
            pair: amount(n, self._scale) for pair, n in counts.items()
        }  # occurrences at this step; never 0

    def go_to(self, step: int) -> None:
        if abs(step - self.step) > NEAR:
            self._count(step)
        while self.step != step:
            sign = 1 if self.step < step else -1
            effect = self.effect(max(self.step, self.step + sign))
            for pair, change in effect.pairs.items():
                self.counts[pair] = self.counts.get(pair, 0) + sign * change
                if not self.counts[pair]:
                    del self.counts[pair]
            self.n_tokens -= sign * effect.n_joined
            self.step += sign

    def _effect(self, step: int) -> MergeEffect:
        holding = list(
            self.holding(
                self.tokenizer.token_bytes(self.tokenizer.vocabulary.merge_of(step)[2])
            )
        )
        changes, n_joined, words = Counter[Pair](), 0, []
        pieces = [self.pieces[number] for number in holding]
        encoded = (
            self.tokenizer.at(at).encode_pieces(pieces) for at in (step - 1, step)
        )
        for number, before, after in zip(holding, *encoded, strict=True):
            if len(before) == len(after):
                continue
            weight = self._times[number]
            n_joined += weight * (len(before) - len(after))
            words.append((number, before, after))
            for pair in pairwise(before):
                changes[pair] -= weight
            for pair in pairwise(after):
                changes[pair] += weight
        pairs = {
            pair: amount(change, self._scale)
            for pair, change in changes.items()
            if change
        }
        return MergeEffect(pairs, amount(n_joined, self._scale), words)

    def holding(self, token: bytes) -> Iterator[int]:
        """The numbers of the pieces, ascending, in whose bytes (and end-of-word marker) `token` occurs."""
        at = self._text.find(token)
        while at >= 0:
            number = bisect_right(self._ends, at)
            yield number
            at = self._text.find(token, self._ends[number])

    def first_places(self, pairs: Collection[Pair]) -> dict[Pair, tuple[int, int]]:
        """(number of a distinct piece, number of a token in it) where each of these pairs begins first at this step."""
        tokenizer, places = self.tokenizer.at(self.step), dict[Pair, tuple[int, int]]()
        pairs_in = cache(
            lambda number: list(pairwise(tokenizer.encode_piece(self.pieces[number])))
        )
        for pair in pairs:
            held = self.holding(b"".join(map(tokenizer.token_bytes, pair)))
            number = next(number for number in held if pair in pairs_in(number))
            places[pair] = number, pairs_in(number).index(pair)
        return places


class PairRow(NamedTuple):
    """A row of a table of pairs: how often the pair occurs, and by how much the newest merge changed that."""

    left: int
    right: int
    times: int
    change: int


class CorpusPiece(NamedTuple):
    """A distinct piece of the corpus, how often it occurs, and its tokens before and after the merge."""

    times: int
    before: tuple[int, ...]
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PairRanking:
    rows: tuple[
        PairRow, ...
    ]  # all or the first, by falling (count, pair); those tied at the top by the tie rule
    n_pairs: int
    n_tied: int  # how many have the highest count
    n_tokens: int  # tokens of the corpus


@dataclass(frozen=True, slots=True)
class MergeChoice:
    left: int
    right: int
    token: int
    count: (
        int  # how often the pair occurred; 0 if it did not occur at all in this corpus
    )
    most: int  # the highest count; higher than `count` only in another corpus than the one that was learned from
    tied: tuple[
        Pair, ...
    ]  # the pairs with the highest count, or the first of them, as the tie rule takes them
    n_tied: (
        int  # how many pairs have the highest count; 1 if there was nothing to choose
    )
    by_rule: dict[str, Pair]  # tie rule -> the pair that it takes
    runners_up: tuple[PairRow, ...]  # the most frequent pairs below the highest count
    n_joined: int  # how many occurrences became the token; fewer than `count` where occurrences overlapped
    born: tuple[
        PairRow, ...
    ]  # pairs that did not occur before, the most frequent first; `n_born` in all
    n_born: int
    vanished: tuple[
        PairRow, ...
    ]  # pairs that are gone, without the merged one; `change` says how many there were
    n_vanished: int
    n_changed: int  # how many distinct pieces change


@dataclass(frozen=True, slots=True)
class Explanation:
    """A step: why its merge was chosen (None for step 0), and the table of pairs after it."""

    step: int
    choice: MergeChoice | None
    table: PairRanking
    words: tuple[
        CorpusPiece, ...
    ]  # all of a small corpus, in its order; of a larger one the most frequent that change


def explain(
    counts: PairCounts,
    step: int,
    ties: str = "first",
    max_token_length: int | None = None,
) -> Explanation:
    """The merge of `step`, and the pairs after it; `counts` is at that step then. `OptionError` for no step.

    `ties` and `max_token_length` are the options of the training, which skipped pairs that make longer tokens.
    """
    counts.tokenizer.at(step)
    choice, effect = None, MergeEffect({}, 0, ())
    if step:
        counts.go_to(step - 1)
        effect = counts.effect(step)
        choice = _choice(counts, effect, _Candidates(counts, ties, max_token_length))
    counts.go_to(step)
    now = _Candidates(counts, ties, max_token_length)
    n_rows = len(now.counts) if len(now.counts) <= MOST_ROWS else TOP
    first = nsmallest(n_rows, now.tied, key=now.order)
    rest = ((count, pair) for pair, count in now.counts.items() if count < now.most)
    first += [pair for _, pair in nlargest(n_rows - len(first), rest)]
    rows = tuple(
        PairRow(*pair, now.counts[pair], effect.pairs.get(pair, 0)) for pair in first
    )
    table = PairRanking(rows, len(now.counts), len(now.tied), counts.n_tokens)
    changed = {number: (before, after) for number, before, after in effect.words}
    numbers = nlargest(
        MOST_WORDS, changed, key=lambda number: (counts.weights[number], -number)
    )
    if len(counts.pieces) <= FEW_WORDS:
        encoded = counts.tokenizer.at(step).encode_pieces(counts.pieces)
        changed = {number: (ids, ids) for number, ids in enumerate(encoded)} | changed
        numbers = list(changed)
    short = (number for number in numbers if len(changed[number][0]) <= LONGEST_WORD)
    words = tuple(
        CorpusPiece(counts.weights[number], *map(tuple, changed[number]))
        for number in short
    )
    return Explanation(step, choice, table, words)


class _Candidates:
    """The pairs that a training may choose from at the step of `counts`."""

    def __init__(self, counts: PairCounts, ties: str, longest: int | None) -> None:
        self.counts = counts.counts
        self._vocabulary = vocabulary = counts.tokenizer.vocabulary
        if (
            longest is not None
        ):  # without the pairs that make a longer token: an end-of-word marker counts as one
            size = {
                token: len(vocabulary.text_bytes(token)) + vocabulary.ends_word(token)
                for token in vocabulary.ids()
            }
            self.counts = {
                pair: n
                for pair, n in counts.counts.items()
                if sum(map(size.__getitem__, pair)) <= longest
            }
        self.most = max(self.counts.values(), default=0)
        self.tied = [pair for pair, count in self.counts.items() if count == self.most]
        self._places = counts.first_places(self.tied)
        self.order = self.order_of(ties)

    def order_of(self, rule: str) -> Callable[[Pair], Any]:
        """Return a sort key of tied pairs: the rule takes the one with the lowest."""
        return sort_key(rule, self._vocabulary, self._places.__getitem__)


def _choice(counts: PairCounts, effect: MergeEffect, now: _Candidates) -> MergeChoice:
    merge = counts.tokenizer.vocabulary.merge_of(counts.step + 1)
    merged, change = merge[:2], effect.pairs

    def rows(pairs: Iterable[tuple[Pair, int]]) -> tuple[PairRow, ...]:
        first = nlargest(_FEW, pairs, key=lambda row: (row[1], row[0]))
        return tuple(
            PairRow(*pair, count, change.get(pair, 0)) for pair, count in first
        )

    born = [pair for pair, by in change.items() if by > 0 and pair not in counts.counts]
    gone = [
        pair
        for pair, by in change.items()
        if pair != merged and by == -counts.counts.get(pair, 0)
    ]
    return MergeChoice(
        *merge,
        count=counts.counts.get(merged, 0),
        most=now.most,
        tied=tuple(nsmallest(MOST_TIED, now.tied, key=now.order)),
        n_tied=len(now.tied),
        by_rule={
            rule: min(now.tied, key=now.order_of(rule)) for rule in TIES if now.tied
        },
        runners_up=rows(
            (pair, n)
            for pair, n in now.counts.items()
            if n < now.most and pair != merged
        ),
        n_joined=effect.n_joined,
        born=rows((pair, change[pair]) for pair in born),
        n_born=len(born),
        vanished=tuple(
            row._replace(times=0)
            for row in rows((pair, -change[pair]) for pair in gone)
        ),
        n_vanished=len(gone),
        n_changed=len(effect.words),
    )
