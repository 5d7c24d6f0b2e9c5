"""Why a merge was chosen and what it changed: its count and those of the others, the ties, the words before and after.

All numbers are those of the corpus at hand. That it is the one which the vocabulary was learned from can be seen from
the count of the merged pair, which the training record keeps.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import Any, Final, NamedTuple

from bpe_core.explain.pair_counts import MergeEffect, Pair, PairCounts
from bpe_core.kernel.fallback import descending
from bpe_core.tokenizer.training_record import TIES
from bpe_core.trainer.start import alphabet

GIVEN: Final = "Given by the vocabulary that was extended, and not chosen in these texts."
_FEW: Final = 8  # runners-up that are named, and pairs born and vanished
MOST_TIED: Final = 40  # tied pairs that are named; of more, those that the tie rule takes first
MOST_ROWS: Final = 2000  # rows up to which a table of pairs is given whole; of a larger one only `TOP` rows are
TOP: Final = 200
FEW_WORDS: Final = 40  # distinct pieces up to which a corpus is given whole; of a larger one only those that changed
MOST_WORDS: Final = 12  # changed pieces given of a larger corpus, the most frequent first
LONGEST_WORD: Final = 400  # tokens of the longest piece that is given; nobody would read longer ones
_END_OF_WORD: Final = 256  # the number of the end-of-word marker as a symbol: behind the bytes, before what merges make


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
    rows: tuple[PairRow, ...]  # all or the first, by falling (count, pair); those tied at the top by the tie rule
    n_pairs: int
    n_tied: int  # how many have the highest count
    n_tokens: int  # tokens of the corpus


@dataclass(frozen=True, slots=True)
class MergeChoice:
    left: int
    right: int
    token: int
    count: int  # how often the pair occurred; 0 if it did not occur at all in this corpus
    most: int  # the highest count; higher than `count` only in another corpus than the one that was learned from
    tied: tuple[Pair, ...]  # the pairs with the highest count, or the first of them, as the tie rule takes them
    n_tied: int  # how many pairs have the highest count; 1 if there was nothing to choose
    by_rule: dict[str, Pair]  # tie rule -> the pair that it takes
    runners_up: tuple[PairRow, ...]  # the most frequent pairs below the highest count
    n_joined: int  # how many occurrences became the token; fewer than `count` where occurrences overlapped
    born: tuple[PairRow, ...]  # pairs that did not occur before, the most frequent first; `n_born` in all
    n_born: int
    vanished: tuple[PairRow, ...]  # pairs that are gone, without the merged one; `change` says how many there were
    n_vanished: int
    n_changed: int  # how many distinct pieces change


@dataclass(frozen=True, slots=True)
class Explanation:
    """A step: why its merge was chosen (None for step 0), and the table of pairs after it."""

    step: int
    choice: MergeChoice | None
    table: PairRanking
    words: tuple[CorpusPiece, ...]  # all of a small corpus, in its order; of a larger one the most frequent that change


def explain(counts: PairCounts, step: int, ties: str = "first", max_token_length: int | None = None) -> Explanation:
    """The merge of `step`, and the pairs after it; `counts` is at that step then. `OptionError` for no step.

    `ties` and `max_token_length` are the options of the training, which skipped pairs that make longer tokens.
    """
    counts.tokenizer.at(step)
    choice, effect = None, MergeEffect(0, {}, 0, ())
    if step:
        counts.go_to(step - 1)
        effect = counts.effect(step)
        choice = _choice(counts, effect, _Candidates(counts, ties, max_token_length))
    counts.go_to(step)
    table = _table(counts, effect, _Candidates(counts, ties, max_token_length))
    return Explanation(step, choice, table, tuple(_words(counts, effect)))


class _Candidates:
    """The pairs that a training may choose from at the step of `counts`."""

    def __init__(self, counts: PairCounts, ties: str, longest: int | None) -> None:
        self.counts = counts.counts  # without the pairs that make a longer token than is allowed
        if longest is not None:
            self.counts = {pair: count for pair, count in counts.counts.items() if counts.size_of(*pair) <= longest}
        self.most = max(self.counts.values(), default=0)
        self.tied = [pair for pair, count in self.counts.items() if count == self.most]
        single = dict.fromkeys(self.tied, (0, 0))
        self._places = counts.first_places(self.tied) if len(self.tied) > 1 else single  # where each begins first
        self._vocabulary = counts.tokenizer.vocabulary
        self.order = self.order_of(ties)

    def order_of(self, rule: str) -> Callable[[Pair], Any]:
        """A sort key of tied pairs: the rule takes the one with the smallest."""
        if rule == "first":
            return self._places.__getitem__
        vocabulary = self._vocabulary
        number_of = {bytes([byte]): number for number, byte in enumerate(alphabet(rule))}

        def number(token: int) -> int:
            """As the trainer numbers symbols: bytes in the rule's alphabet, the end-of-word marker, merges in order."""
            step = vocabulary.step_of(token)
            return _END_OF_WORD + step if step else number_of.get(vocabulary.token_bytes(token), _END_OF_WORD)

        if rule == "largest":
            return lambda pair: (*(descending(vocabulary.token_bytes(part)) for part in pair), *map(number, pair))
        return lambda pair: tuple(map(number, pair))


def _choice(counts: PairCounts, effect: MergeEffect, now: _Candidates) -> MergeChoice:
    merge = counts.tokenizer.vocabulary.merge_of(effect.step)
    merged, change = merge[:2], effect.pairs

    def rows(pairs: Iterable[tuple[Pair, int]]) -> tuple[PairRow, ...]:
        first = nlargest(_FEW, pairs, key=lambda row: (row[1], row[0]))
        return tuple(PairRow(*pair, count, change.get(pair, 0)) for pair, count in first)

    born = [pair for pair, by in change.items() if by > 0 and pair not in counts.counts]
    gone = [pair for pair, by in change.items() if pair != merged and by == -counts.counts.get(pair, 0)]
    return MergeChoice(
        *merge,
        count=counts.counts.get(merged, 0),
        most=now.most,
        tied=tuple(nsmallest(MOST_TIED, now.tied, key=now.order)),
        n_tied=len(now.tied),
        by_rule={rule: min(now.tied, key=now.order_of(rule)) for rule in TIES if now.tied},
        runners_up=rows((pair, n) for pair, n in now.counts.items() if n < now.most and pair != merged),
        n_joined=effect.n_joined,
        born=rows((pair, change[pair]) for pair in born),
        n_born=len(born),
        vanished=tuple(row._replace(times=0) for row in rows((pair, -change[pair]) for pair in gone)),
        n_vanished=len(gone),
        n_changed=len(effect.words),
    )


def _table(counts: PairCounts, effect: MergeEffect, now: _Candidates) -> PairRanking:
    n_rows = len(now.counts) if len(now.counts) <= MOST_ROWS else TOP
    first = nsmallest(n_rows, now.tied, key=now.order)
    rest = ((count, pair) for pair, count in now.counts.items() if count < now.most)
    first += [pair for _, pair in nlargest(n_rows - len(first), rest)]
    rows = tuple(PairRow(*pair, now.counts[pair], effect.pairs.get(pair, 0)) for pair in first)
    return PairRanking(rows, len(now.counts), len(now.tied), counts.n_tokens)


def _words(counts: PairCounts, effect: MergeEffect) -> Iterator[CorpusPiece]:
    changed = {number: (before, after) for number, before, after in effect.words}
    if len(counts.pieces) <= FEW_WORDS:
        numbers: Iterable[int] = range(len(counts.pieces))
        changed = {number: (ids, ids) for number, ids in enumerate(counts.tokens(effect.step))} | changed
    else:
        numbers = nlargest(MOST_WORDS, changed, key=lambda number: (counts.weights[number], -number))
    for number in numbers:
        before, after = changed[number]
        if len(before) <= LONGEST_WORD:
            yield CorpusPiece(counts.weights[number], tuple(before), tuple(after))
