"""The corpus while it is being merged: the symbols of its pieces, where each pair stands, and what a merge changes.

All pieces lie in one array of slots, END before, between and behind them. A symbol made of n first symbols takes n
slots and stands in the first and the last of them. So the neighbors of a place are found without links, and a place
where a symbol once began still holds it in both these slots only if it has not been merged since.
"""

from array import array
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

END: Final = 0xFFFFFFFF
"""Stands in the slots where no piece is."""

LOOK_EVERY: Final = 1 << 16
"""Slots between two looks up while pairs are counted: a few hundredths of a second."""

Pair = tuple[int, int]
"""Two symbols that stand beside each other."""


class PairIndex:
    """The count of every pair, kept exact while `merge` replaces one pair after another.

    A pair counts once for each place where it stands, overlaps included (`aaa` holds `aa` twice). Pairs that would be
    longer than `max_length` first symbols are not kept. Time and memory are linear in the slots.
    """

    def __init__(
        self,
        pieces: Iterable[tuple[bytes, int]],
        n_symbols: int,
        end: tuple[int, ...],
        max_length: float,
        look: Callable[[int, int], None] | None,
    ) -> None:
        """Count the pairs of `pieces`, bytes with their weights; `look` is told now and then the slots done and in all.

        `n_symbols` is how many there are at first, of which `end` holds the one that ends every piece, if there is one.
        """
        self.counts: dict[Pair, int] = {}
        """How often each pair stands in the corpus now; never 0."""
        self.n_tokens = 0
        """Symbols in the corpus now."""
        self._places: dict[Pair, array[int]] = {}  # where a pair stands or once stood, ascending
        self._slots = array("I", (END,))
        self._starts = array("Q", (1,))  # of the pieces, and of the one that would come next
        self._weights: list[int] = []
        self._spans = [1] * n_symbols
        self._max_length = max_length
        for piece, weight in pieces:
            self._weights.append(weight)
            self._slots.extend(piece)
            self._slots.extend((*end, END))
            self._starts.append(len(self._slots))
            self.n_tokens += weight * (len(piece) + len(end))
        self._count(look)

    def _count(self, look: Callable[[int, int], None] | None) -> None:
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("I"))
        slots, looked = self._slots, 0
        for (start, stop), weight in zip(pairwise(self._starts), self._weights, strict=True):
            for first in range(start, stop - 2, LOOK_EVERY):
                if look and first - looked >= LOOK_EVERY:
                    looked = first
                    look(first, len(slots))
                for place in range(first, min(first + LOOK_EVERY, stop - 2)):
                    pair = slots[place], slots[place + 1]
                    counts[pair] += weight
                    places[pair].append(place)
        if self._max_length >= 2:
            self.counts, self._places = dict(counts), dict(places)

    def first_place(self, pair: Pair) -> int:
        """The slot where `pair` stands first. It never moves back."""
        places = self._places[pair]
        n_gone = next(n for n, place in enumerate(places) if self._stands_at(pair, place))
        del places[:n_gone]
        return places[0]

    def _stands_at(self, pair: Pair, place: int) -> bool:
        """Whether `pair` stands at a place where its left symbol once began."""
        slots, left = self._slots, pair[0]
        behind = place + self._spans[left]
        return slots[place] == left == slots[behind - 1] and slots[behind] == pair[1]

    def _weight(self, place: int) -> int:
        return self._weights[bisect(self._starts, place) - 1]

    def merge(self, pair: Pair, symbol: int, level: int) -> tuple[list[Pair], int]:
        """Put `symbol`, the number of symbols so far, in the place of `pair` everywhere.

        Returns the pairs this has made, and how many pairs besides `pair` had the count `level` and have it no more.
        """
        slots, spans = self._slots, self._spans
        spans.append(spans[pair[0]] + spans[pair[1]])
        before: defaultdict[int, list[int]] = defaultdict(list)
        after: defaultdict[int, list[int]] = defaultdict(list)
        for place in self._places.pop(pair):
            if self._stands_at(pair, place):
                behind = place + spans[symbol]
                slots[place] = slots[behind - 1] = symbol
                self.n_tokens -= self._weight(place)
                if (neighbor := slots[place - 1]) != END:
                    before[neighbor].append(place - spans[neighbor])
                if (neighbor := slots[behind]) != END and not self._stands_at(pair, behind):
                    after[neighbor].append(place)
        del self.counts[pair]
        made: list[Pair] = []
        fallen = 0
        for neighbor, places in before.items():
            was = pair[1] if neighbor == symbol else neighbor  # two that touch: the pair between them is noted only now
            fallen += self._exchange((was, pair[0]), (neighbor, symbol), places, level, made)
        for neighbor, places in after.items():
            fallen += self._exchange((pair[1], neighbor), (symbol, neighbor), places, level, made)
        return made, fallen

    def _exchange(self, old: Pair, new: Pair, places: list[int], level: int, made: list[Pair]) -> bool:
        """`old` has become `new`, which stands at these `places`; true if that has taken `old` below `level`."""
        weight = sum(map(self._weight, places))
        if self._spans[new[0]] + self._spans[new[1]] <= self._max_length:
            self.counts[new] = weight
            self._places[new] = array("I", places)
            made.append(new)
        count = self.counts.get(old)
        if count is None:
            return False
        if count > weight:
            self.counts[old] = count - weight
        else:
            del self.counts[old], self._places[old]
        return count == level
