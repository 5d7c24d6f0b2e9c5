"""The corpus while it is being merged: unique pieces, the pairs in them, and what one more merge changes.

A piece is a `str` with one character a token, so that `str.split` finds every occurrence of a pair, left to right and
never overlapping, and `str.join` puts the new token in their place: the inner loop of training runs in C.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

Pair = str
"""Two symbols, a symbol being one character that stands for a token."""


class Joining:
    """Pieces with counts, as symbols; `join` replaces a pair everywhere and keeps all pair counts exact.

    A pair counts once for each place where it stands, overlaps included (`aaa` holds `aa` twice). Pairs whose token
    would be longer than `max_length` bytes are not kept.
    """

    __slots__ = ("_max_length", "_starts", "counts", "lengths", "n_tokens", "pieces", "places", "weights")

    def __init__(self, pieces: Iterable[tuple[str, int]], lengths: dict[str, int], max_length: int | None) -> None:
        self.pieces: list[str] = []
        """The unique pieces in the order of their first appearance."""
        self.weights: list[int] = []
        """How often each piece occurs in the corpus."""
        self.lengths = lengths
        """Symbol -> bytes."""
        self.counts: dict[Pair, int] = {}
        """How often each pair occurs in the corpus now; never 0."""
        self.places: dict[Pair, list[int]] = {}
        """The pieces in which a pair may stand, ascending. It once stood in each of them."""
        self.n_tokens = 0
        """Tokens in the corpus now."""
        self._starts: list[int] = []
        self._max_length = max_length or 1 << 62
        self._count(pieces)

    def _count(self, pieces: Iterable[tuple[str, int]]) -> None:
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, list[int]] = defaultdict(list)
        start = 0
        for number, (piece, weight) in enumerate(pieces):
            self.pieces.append(piece)
            self.weights.append(weight)
            self._starts.append(start)
            self.n_tokens += len(piece) * weight
            start += len(piece)
            pairs = list(map("".join, pairwise(piece)))
            for pair in pairs:
                counts[pair] += weight
            for pair in set(pairs):
                places[pair].append(number)
        if self._max_length >= 2:
            self.counts, self.places = dict(counts), dict(places)

    def place(self, pair: Pair) -> int:
        """Where `pair` first stands now, in bytes from the beginning of the first piece. It never moves back."""
        places, pieces = self.places[pair], self.pieces
        gone = 0
        while (offset := pieces[places[gone]].find(pair)) < 0:
            gone += 1
        if gone:
            del places[:gone]
        number = places[0]
        return self._starts[number] + sum(map(self.lengths.__getitem__, pieces[number][:offset]))

    def join(self, pair: Pair, symbol: str, level: int) -> tuple[list[Pair], int]:
        """Put `symbol` in the place of `pair` everywhere.

        Returns the pairs this has made, and how many pairs besides `pair` had the count `level` and have it no more.
        """
        pieces, weights = self.pieces, self.weights
        before: defaultdict[str, list[int]] = defaultdict(list)
        after: defaultdict[str, list[int]] = defaultdict(list)
        between: list[int] = []
        joined = 0
        repeated = False
        for number in self.places.pop(pair):
            parts = pieces[number].split(pair)
            n = len(parts) - 1
            if not n:
                continue
            pieces[number] = symbol.join(parts)
            joined += n * weights[number]
            if parts[0]:
                before[parts[0][-1]].append(number)
            if parts[-1]:
                after[parts[-1][0]].append(number)
            if n > 1:
                repeated = True
                for part in parts[1:-1]:
                    if part:
                        after[part[0]].append(number)
                        before[part[-1]].append(number)
                    else:
                        between.append(number)
        self.n_tokens -= joined
        self.lengths[symbol] = self.lengths[pair[0]] + self.lengths[pair[1]]
        del self.counts[pair]
        made: list[Pair] = []
        fallen = 0
        left, right = pair[0], pair[1]
        for neighbor, numbers in before.items():
            fallen += self._exchange(neighbor + left, neighbor + symbol, numbers, repeated, level, made)
        for neighbor, numbers in after.items():
            fallen += self._exchange(right + neighbor, symbol + neighbor, numbers, repeated, level, made)
        if between:
            fallen += self._exchange(right + left, symbol + symbol, between, repeated, level, made)
        return made, fallen

    def _exchange(self, old: Pair, new: Pair, numbers: list[int], repeated: bool, level: int, made: list[Pair]) -> bool:
        """`old` has become `new` at one place in each of the numbered pieces; true if that took `old` below `level`."""
        weight = sum(map(self.weights.__getitem__, numbers))
        if self.lengths[new[0]] + self.lengths[new[1]] <= self._max_length:
            self.counts[new] = weight
            self.places[new] = list(dict.fromkeys(numbers)) if repeated else numbers
            made.append(new)
        count = self.counts.get(old)
        if count is None:
            return False
        if count > weight:
            self.counts[old] = count - weight
        else:
            del self.counts[old], self.places[old]
        return count == level
