"""The corpus while it is being merged: its symbols in slots, the count of each pair, and the slots where it occurs.

All pieces lie in one array of slots, END before, between and behind them. A symbol that was merged from n initial
symbols takes n slots, and its number is written into the first and the last of them. So both neighbors of a symbol are
found without links, and whether a pair still occurs at a slot where it once did is seen from these slots alone.
"""

from array import array
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Final

END: Final = 0xFFFFFFFF
"""In the slots between pieces; no symbol has this number."""

SLOTS_PER_REPORT: Final = 1 << 16
"""Slots counted between two reports of progress: a few hundredths of a second."""

Pair = tuple[int, int]
"""(left symbol, right symbol)."""


class PairIndex:
    """The count of every pair, kept exact while `merge` replaces one pair after another.

    A pair counts once for each slot where it occurs, overlaps included (`aaa` holds `aa` twice). Pairs that would make
    a symbol of more than `max_length` initial symbols are not kept. Memory is linear in the slots, and so is the time
    to build it; `merge` looks only at the slots where its pair occurs or once did.
    """

    def __init__(
        self,
        pieces: Iterable[tuple[bytes, int]],
        n_symbols: int,
        end: tuple[int, ...],
        max_length: float,
        look: Callable[[int, int], None] | None,
    ) -> None:
        """Count the pairs of `pieces`: (initial symbols, a byte each; how often the piece occurs).

        `n_symbols` is the number of initial symbols; `end` has the one that is put behind every piece, or is empty.
        `look` is called now and then with the slots counted and their number; what it raises is passed on.
        """
        self.counts: dict[Pair, int] = {}
        """How often each pair occurs in the corpus now; never 0."""
        self.n_tied: Counter[int] = Counter()
        """How many pairs occur as often as that."""
        self.n_tokens = 0
        """Symbols in the corpus now."""
        self._places: dict[Pair, array[int]] = {}  # slots where a pair occurs or once did, ascending
        self._slots = array("I", (END,))
        self._starts = array("Q", (1,))  # the first slot of each piece, and of one more behind the last
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
            for first in range(start, stop - 2, SLOTS_PER_REPORT):
                if look and first - looked >= SLOTS_PER_REPORT:
                    looked = first
                    look(first, len(slots))
                for place in range(first, min(first + SLOTS_PER_REPORT, stop - 2)):
                    pair = slots[place], slots[place + 1]
                    counts[pair] += weight
                    places[pair].append(place)
        if self._max_length >= 2:
            self.counts, self._places, self.n_tied = dict(counts), dict(places), Counter(counts.values())

    def first_place(self, pair: Pair) -> int:
        """The first slot where `pair` occurs, which never decreases. Forgets earlier slots, where the pair is gone."""
        places = self._places[pair]
        n_gone = next(n for n, place in enumerate(places) if self._stands_at(pair, place))
        del places[:n_gone]
        return places[0]

    def _stands_at(self, pair: Pair, place: int) -> bool:
        """Whether `pair` occurs at a slot where its left symbol once began."""
        slots, left = self._slots, pair[0]
        behind = place + self._spans[left]
        return slots[place] == left == slots[behind - 1] and slots[behind] == pair[1]

    def _weight(self, place: int) -> int:
        return self._weights[bisect(self._starts, place) - 1]

    def symbol_counts(self) -> list[int]:
        """How often each symbol occurs in the corpus now; linear in the slots."""
        counts = [0] * len(self._spans)
        slots, spans = self._slots, self._spans
        for (place, stop), weight in zip(pairwise(self._starts), self._weights, strict=True):
            while place < stop - 1:
                symbol = slots[place]
                counts[symbol] += weight
                place += spans[symbol]
        return counts

    def merge(self, pair: Pair, symbol: int) -> list[Pair]:
        """Replace `pair` by the new `symbol` (the number of symbols before it) everywhere, from left to right.

        A pair that occurs nowhere gets its symbol all the same. Returns the pairs that this has made. Takes
        O(log pieces) for each slot where the pair occurs or once did.
        """
        slots, spans = self._slots, self._spans
        spans.append(spans[pair[0]] + spans[pair[1]])
        before: defaultdict[int, list[int]] = defaultdict(list)
        after: defaultdict[int, list[int]] = defaultdict(list)
        for place in self._places.pop(pair, ()):
            if self._stands_at(pair, place):
                behind = place + spans[symbol]
                slots[place] = slots[behind - 1] = symbol
                self.n_tokens -= self._weight(place)
                if (neighbor := slots[place - 1]) != END:
                    before[neighbor].append(place - spans[neighbor])
                if (neighbor := slots[behind]) != END and not self._stands_at(pair, behind):
                    after[neighbor].append(place)
        self._set(pair, 0)
        made: list[Pair] = []
        for neighbor, places in before.items():
            was = (
                pair[1] if neighbor == symbol else neighbor
            )  # of two that touch, the pair between is counted here only
            self._exchange((was, pair[0]), (neighbor, symbol), places, made)
        for neighbor, places in after.items():
            self._exchange((pair[1], neighbor), (symbol, neighbor), places, made)
        return made

    def limit(self, max_length: float) -> None:
        """Keep no pairs from now on that would make a symbol of more than `max_length` initial symbols."""
        self._max_length = max_length
        for pair in [pair for pair in self.counts if self._spans[pair[0]] + self._spans[pair[1]] > max_length]:
            self._set(pair, 0)

    def _exchange(self, old: Pair, new: Pair, places: list[int], made: list[Pair]) -> None:
        """Replace the pair `old` by `new` at these `places`."""
        weight = sum(map(self._weight, places))
        if self._spans[new[0]] + self._spans[new[1]] <= self._max_length:
            self._places[new] = array("I", places)
            self._set(new, weight)
            made.append(new)
        if old in self.counts:
            self._set(old, self.counts[old] - weight)

    def _set(self, pair: Pair, count: int) -> None:
        """Change how often a pair occurs."""
        self.n_tied[self.counts.get(pair, 0)] -= 1
        self.n_tied[count] += 1
        if count:
            self.counts[pair] = count
        else:
            self.counts.pop(pair, None)
            self._places.pop(pair, None)
