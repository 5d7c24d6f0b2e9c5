"""Explain a merge: the counts and ties that it was chosen by, and the pieces before and after it.

All numbers are counted in the corpus at hand. The count of the merged pair, which the training record keeps, shows
whether this is the corpus that the vocabulary was learned from.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import Any, Final, NamedTuple

from bpe_core.explain.pair_counts import ChangedPiece, MergeEffect, Pair, PairCounts
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.tie_rules import TIES, sort_key
from bpe_core.weighted import Count

GIVEN: Final = "Given by the vocabulary that was extended, not chosen from these texts."
_FEW: Final = 8
"""Maximum number of listed runners-up, of new pairs and of vanished pairs."""
MOST_TIED: Final = 40
"""Maximum number of listed tied pairs, in the order of the tie rule."""
MOST_ROWS: Final = 2000
"""Maximum number of rows of a complete table of pairs. A longer table is cut to `TOP` rows."""
TOP: Final = 200
FEW_WORDS: Final = 40
"""If there are at most this many distinct pieces, all are shown; otherwise only changed ones."""
MOST_WORDS: Final = 12
"""Maximum number of shown changed pieces of a larger corpus, the most frequent first."""
LONGEST_WORD: Final = 400
"""Maximum number of tokens of a shown piece: nobody would read a longer one."""


class PairRow(NamedTuple):
    """A row of a table of pairs."""

    left: int
    right: int
    times: Count  # how often the pair occurs
    change: Count  # by how much the newest merge changed that


class CorpusPiece(NamedTuple):
    """A distinct piece of the corpus, and how often it occurs."""

    times: Count
    before: tuple[int, ...]  # its tokens before the merge
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PairRanking:
    """The most frequent pairs at a step."""

    rows: tuple[PairRow, ...]
    """In descending order of (count, pair). Pairs with the highest count are in the order of the tie rule."""
    n_pairs: int
    n_tied: int  # how many pairs have the highest count
    n_tokens: Count  # the length of the corpus


@dataclass(frozen=True, slots=True)
class MergeChoice:
    """A merge, and the pairs that it was chosen from."""

    left: int
    right: int
    token: int
    count: Count
    """How often the pair occurred. 0 if it does not occur in this corpus."""
    most: Count
    """The highest count of a pair; above `count` only if the vocabulary was learned from another corpus."""
    tied: tuple[Pair, ...]
    """The pairs with the highest count, at most `MOST_TIED`, in the order of the tie rule."""
    n_tied: int
    """How many pairs have the highest count. 1 if the tie rule was not needed."""
    by_rule: dict[str, Pair]  # tie rule -> the pair that it takes
    runners_up: tuple[PairRow, ...]  # the most frequent pairs below the highest count
    n_joined: Count
    """How many occurrences became the token. Fewer than `count` if some overlapped."""
    born: tuple[PairRow, ...]
    """Pairs that did not occur before the merge, the most frequent first."""
    n_born: int  # how many such pairs there are in all
    vanished: tuple[PairRow, ...]
    """Pairs that no longer occur after the merge, except the merged one. `change` is minus their last count."""
    n_vanished: int
    n_changed: int  # how many distinct pieces change


@dataclass(frozen=True, slots=True)
class Explanation:
    """A step: why its merge was chosen, and the pairs after it."""

    step: int
    choice: MergeChoice | None  # None for step 0
    table: PairRanking
    words: tuple[CorpusPiece, ...]
    """All pieces of a small corpus, in its order, or the most frequent changed pieces of a larger one."""


def explain(
    counts: PairCounts,
    step: int,
    ties: str = "first",
    max_token_length: int | None = None,
) -> Explanation:
    """Explain the merge of a step, and rank the pairs after it.

    Args:
        counts: The counts of the corpus. This function moves them to this step.
        step: The number of merges made, from 0.
        ties: The tie rule of the training.
        max_token_length: The limit of the training, in bytes. Pairs that make longer tokens were skipped.

    Raises:
        OptionError: There is no such step.
    """
    tokenizer = counts.tokenizer.at(step)
    choice = None
    effect = MergeEffect({}, 0, ())
    if step:
        counts.go_to(step - 1)
        effect = counts.effect(step)
        before = _Candidates(counts, ties, max_token_length)
        choice = _choice(counts, effect, before)
    counts.go_to(step)
    table = _Candidates(counts, ties, max_token_length).ranking(effect.changes)
    words = _words(counts, tokenizer, effect)
    return Explanation(step, choice, table, words)


class _Candidates:
    """The pairs that a training run can choose from at the step of `counts`."""

    def __init__(
        self, counts: PairCounts, ties: str, max_token_length: int | None
    ) -> None:
        self.counts = counts.counts
        self._n_tokens = counts.n_tokens
        self._vocabulary = counts.tokenizer.vocabulary
        if max_token_length is not None:
            self.counts = self._without_long_pairs(max_token_length)
        self.most = max(self.counts.values(), default=0)
        self.tied = [pair for pair, count in self.counts.items() if count == self.most]
        self._first_places = counts.first_places(self.tied)
        self.order = self.order_of(ties)

    def _without_long_pairs(self, longest: int) -> dict[Pair, Count]:
        """Return the counts of the pairs that make a token of at most `longest` bytes.

        An end-of-word marker counts as one byte.
        """
        vocabulary = self._vocabulary
        length_of = {
            token: len(vocabulary.text_bytes(token)) + int(vocabulary.ends_word(token))
            for token in vocabulary.ids()
        }
        return {
            (left, right): count
            for (left, right), count in self.counts.items()
            if length_of[left] + length_of[right] <= longest
        }

    def order_of(self, rule: str) -> Callable[[Pair], Any]:
        """Return a sort key for tied pairs: the rule takes the pair with the lowest key."""
        return sort_key(rule, self._vocabulary, self._first_places.__getitem__)

    def ranking(self, changes: Mapping[Pair, Count]) -> PairRanking:
        """Rank the pairs; `changes` shows by how much the newest merge changed their counts."""
        n_pairs = len(self.counts)
        n_rows = n_pairs if n_pairs <= MOST_ROWS else TOP
        pairs = nsmallest(n_rows, self.tied, key=self.order)
        others = (
            (count, pair) for pair, count in self.counts.items() if count < self.most
        )
        pairs += [pair for _, pair in nlargest(n_rows - len(pairs), others)]
        rows = [_row(pair, self.counts[pair], changes) for pair in pairs]
        return PairRanking(tuple(rows), n_pairs, len(self.tied), self._n_tokens)


def _row(pair: Pair, times: Count, changes: Mapping[Pair, Count]) -> PairRow:
    left, right = pair
    return PairRow(left, right, times, changes.get(pair, 0))


def _choice(
    counts: PairCounts, effect: MergeEffect, before: _Candidates
) -> MergeChoice:
    """Explain the next merge; `counts` and `before` are at the step before it."""
    left, right, token = counts.tokenizer.vocabulary.merge_of(counts.step + 1)
    merged = left, right

    def most_frequent(pairs: Iterable[tuple[Pair, Count]]) -> tuple[PairRow, ...]:
        rows = nlargest(_FEW, pairs, key=lambda row: (row[1], row[0]))
        return tuple(_row(pair, count, effect.changes) for pair, count in rows)

    runners_up = (
        (pair, count)
        for pair, count in before.counts.items()
        if count < before.most and pair != merged
    )
    born: list[tuple[Pair, Count]] = []
    vanished: list[tuple[Pair, Count]] = []
    for pair, change in effect.changes.items():
        count = counts.counts.get(pair, 0)
        if count == 0:
            born.append((pair, change))
        elif count + change == 0 and pair != merged:
            vanished.append((pair, count))
    by_rule: dict[str, Pair] = {}
    if before.tied:
        for rule in TIES:
            by_rule[rule] = min(before.tied, key=before.order_of(rule))
    return MergeChoice(
        left,
        right,
        token,
        count=counts.counts.get(merged, 0),
        most=before.most,
        tied=tuple(nsmallest(MOST_TIED, before.tied, key=before.order)),
        n_tied=len(before.tied),
        by_rule=by_rule,
        runners_up=most_frequent(runners_up),
        n_joined=effect.n_joined,
        born=most_frequent(born),
        n_born=len(born),
        vanished=tuple(row._replace(times=0) for row in most_frequent(vanished)),
        n_vanished=len(vanished),
        n_changed=len(effect.changed),
    )


def _words(
    counts: PairCounts, tokenizer: Tokenizer, effect: MergeEffect
) -> tuple[CorpusPiece, ...]:
    """Return the pieces to show: all of a small corpus, or the most frequent changed ones."""
    if len(counts.pieces) > FEW_WORDS:
        pieces = nlargest(
            MOST_WORDS,
            effect.changed,
            key=lambda piece: (counts.weights[piece.number], -piece.number),
        )
    else:
        changed = {piece.number: piece for piece in effect.changed}
        pieces = []
        for number, ids in enumerate(tokenizer.encode_pieces(counts.pieces)):
            pieces.append(changed.get(number, ChangedPiece(number, ids, ids)))
    return tuple(
        CorpusPiece(
            counts.weights[piece.number], tuple(piece.before), tuple(piece.after)
        )
        for piece in pieces
        if len(piece.before) <= LONGEST_WORD
    )
