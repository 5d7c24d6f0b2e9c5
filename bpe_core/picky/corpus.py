"""The corpus while tokens in it are merged, and split again: its tokens in slots, and where each pair stands.

As in `bpe_core.trainer.pair_index`, all pieces lie in one row of slots, END before, between and behind them, and a
token made of n tokens of the base takes n slots, with its id in the first and the last of them. Other than there,
counts can grow again when tokens are split, so the places of all pairs are kept exactly.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from bpe_core.trainer.learner import Look
from bpe_core.trainer.pair_index import END, SLOTS_PER_REPORT, Pair


class Corpus:
    """Counts of tokens and pairs, kept exact by `merge` and `split`. Memory is linear in the slots.

    A pair counts once for each place where it stands, overlaps included. Pairs of more than `max_length` slots are not
    kept. A merge or split takes O(log pieces) for each place where it happens.
    """

    def __init__(
        self,
        pieces: Iterable[tuple[list[int], int]],
        base: Iterable[int],
        max_length: float,
        look: Look | None,
    ) -> None:
        """Count the tokens and pairs of `pieces`: (tokens of the base, how often the piece occurs).

        `look` is called now and then with the slots counted and their number; what it raises is passed on.
        """
        self.counts: defaultdict[Pair, int] = defaultdict(int)
        """How often each pair occurs now; never 0."""
        self.places: defaultdict[Pair, set[int]] = defaultdict(set)
        """The first slots of each pair; never empty."""
        self.token_counts: defaultdict[int, int] = defaultdict(int)
        """How often each token occurs now."""
        self.changed: set[Pair] = set()
        """Pairs whose counts or places have changed; who reads it empties it."""
        self.n_tokens = 0
        """Tokens now."""
        self._max_length = max_length
        self._base = frozenset(base)
        self._spans = dict.fromkeys(self._base, 1)
        self._where: defaultdict[int, set[int]] = defaultdict(set)  # first slots of the tokens that a merge made
        self._slots = [END]
        lengths, self._weights = [1], []
        for piece, weight in pieces:
            self._slots += piece
            self._slots.append(END)
            lengths.append(len(piece) + 1)
            self._weights.append(weight)
        self._starts = list(accumulate(lengths))
        self._count(look)

    def _count(self, look: Look | None) -> None:
        slots, starts, looked = self._slots, self._starts, 0
        for start, stop, weight in zip(starts, starts[1:], self._weights, strict=False):
            if look and start - looked >= SLOTS_PER_REPORT:
                looked = start
                look(start, len(slots))
            self.n_tokens += weight * (stop - 1 - start)
            for place in range(start, stop - 1):
                self.token_counts[slots[place]] += weight
                self._add(slots[place], slots[place + 1], place, weight)

    def _add(self, left: int, right: int, place: int, weight: int) -> None:
        if left != END != right and self._spans[left] + self._spans[right] <= self._max_length:
            pair = left, right
            self.counts[pair] += weight
            self.places[pair].add(place)
            self.changed.add(pair)

    def _take(self, left: int, right: int, place: int, weight: int) -> None:
        pair = left, right
        if pair not in self.counts:  # END, or too long
            return
        self.counts[pair] -= weight
        self.places[pair].discard(place)
        self.changed.add(pair)
        if not self.counts[pair]:
            del self.counts[pair], self.places[pair]

    def _weight(self, place: int) -> int:
        return self._weights[bisect(self._starts, place) - 1]

    def merge(self, pair: Pair, token: int) -> int:
        """Replace `pair` by `token` everywhere, from left to right; returns how many pairs that were."""
        left, right = pair
        slots, spans = self._slots, self._spans
        to_right = spans[left]
        length = spans[token] = to_right + spans[right]
        merged = 0
        for place in sorted(self.places[pair]):
            second, behind = place + to_right, place + length
            if place not in self.places.get(pair, ()):
                continue  # it shared a token with the one before
            weight = self._weight(place)
            before, after = slots[place - 1], slots[behind]
            self._take(before, left, place - spans.get(before, 0), weight)
            self._take(left, right, place, weight)
            self._take(right, after, second, weight)
            slots[place] = slots[behind - 1] = token
            self._add(before, token, place - spans.get(before, 0), weight)
            self._add(token, after, place, weight)
            self._where[left].discard(place)
            self._where[right].discard(second)
            self._where[token].add(place)
            merged += weight
        self.token_counts[left] -= merged
        self.token_counts[right] -= merged
        self.token_counts[token] += merged
        self.n_tokens -= merged
        return merged

    def split(self, token: int, parts: tuple[int, ...]) -> None:
        """Replace `token` by `parts` everywhere; its id may be that of another token then."""
        slots, spans = self._slots, self._spans
        for place in self._where.pop(token, ()):
            weight = self._weight(place)
            behind = place + spans[token]
            before, after = slots[place - 1], slots[behind]
            self._take(before, token, place - spans.get(before, 0), weight)
            self._take(token, after, place, weight)
            for part in parts:
                self._add(before, part, place - spans.get(before, 0), weight)
                slots[place] = slots[place + spans[part] - 1] = part
                if part not in self._base:
                    self._where[part].add(place)
                self.token_counts[part] += weight
                before, place = part, place + spans[part]
            self._add(before, after, place - spans[before], weight)
            self.n_tokens += weight * (len(parts) - 1)
        del spans[token], self.token_counts[token]
