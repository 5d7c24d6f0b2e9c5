"""The corpus while it is being merged: unique pieces, the pairs in them, and what one more merge changes.

A piece is a `str` with one character a token, so that `str.split` finds every occurrence of a pair, left to right and
never overlapping, and `str.join` puts the new token in their place: the inner loop of training runs in C. A long piece
(a whole document, say) is kept in segments, so that a merge looks only where it has something to do; the segments are
still one piece, and an occurrence that lies across two of them is drawn into the first.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from operator import add
from typing import Final, TypeAlias

SEGMENT: Final = 1024
"""A piece of more symbols than this is kept in segments."""

LOOK_EVERY: Final = 1 << 16
"""Bytes of pieces between two looks up while pairs are counted: a few hundredths of a second."""

Pair = str
"""Two symbols, a symbol being one character that stands for a token."""

Places: TypeAlias = "list[int] | array[int]"
"""Numbers of pieces; an array where there are several, since there are millions of them in all."""


class Joining:
    """Pieces with counts, as symbols; `join` replaces a pair everywhere and keeps all pair counts exact.

    A pair counts once for each place where it stands, overlaps included (`aaa` holds `aa` twice). Pairs whose token
    would be longer than `max_length` bytes are not kept.
    """

    __slots__ = (
        "_max_length",
        "_next",
        "_previous",
        "_segments",
        "_starts",
        "counts",
        "lengths",
        "n_tokens",
        "pieces",
        "places",
        "weights",
    )

    def __init__(
        self,
        pieces: Iterable[tuple[str, int]],
        lengths: dict[str, int],
        max_length: int | None,
        look: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Count the pairs of `pieces`; `look` is told now and then how many bytes of them are done."""
        self.pieces: list[str] = []
        """The unique pieces in the order of their first appearance; those that are long, segment by segment."""
        self.weights: list[int] = []
        """How often each piece occurs in the corpus."""
        self.lengths = lengths
        """Symbol -> bytes."""
        self.counts: dict[Pair, int] = {}
        """How often each pair occurs in the corpus now; never 0."""
        self.places: dict[Pair, Places] = {}
        """The pieces in which a pair may stand, ascending, some of them twice. It once stood in each of them."""
        self.n_tokens = 0
        """Tokens in the corpus now."""
        self._starts: list[int] = []  # of each piece, in bytes from the beginning of the first
        self._next: dict[int, int] = {}  # the segment behind a segment; none of those in here is empty
        self._previous: dict[int, int] = {}
        self._segments: set[int] = set()  # those that have or had another one beside them
        self._max_length = max_length or 1 << 62
        self._count(pieces, look)

    def _count(self, pieces: Iterable[tuple[str, int]], look: Callable[[int], None]) -> None:
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, array[int]] = defaultdict(partial(array, "I"))
        start = looked = 0
        for piece, weight in pieces:
            self.n_tokens += len(piece) * weight
            for offset in range(0, len(piece), SEGMENT):
                number = self._append(piece[offset : offset + SEGMENT], weight, start + offset, joined=offset > 0)
                for pair in map(add, piece[offset : offset + SEGMENT], piece[offset + 1 : offset + SEGMENT + 1]):
                    counts[pair] += weight
                    numbers = places[pair]
                    if not numbers or numbers[-1] != number:
                        numbers.append(number)
                if start + offset - looked >= LOOK_EVERY:
                    looked = start + offset
                    look(looked)
            start += len(piece)
        if self._max_length >= 2:
            self.counts = dict(counts)
            self.places = dict(places)

    def _append(self, piece: str, weight: int, start: int, *, joined: bool) -> int:
        number = len(self.pieces)
        self.pieces.append(piece)
        self.weights.append(weight)
        self._starts.append(start)
        if joined:
            self._previous[number] = number - 1
            self._next[number - 1] = number
            self._segments |= {number - 1, number}
        return number

    def place(self, pair: Pair) -> int:
        """Where `pair` first stands now, in bytes from the beginning of the first piece. It never moves back."""
        places = self.places[pair]
        gone = 0
        while (offset := self._find(pair, places[gone])) < 0:
            gone += 1
        if gone:
            del places[:gone]
        number = places[0]
        return self._starts[number] + sum(map(self.lengths.__getitem__, self.pieces[number][:offset]))

    def _find(self, pair: Pair, number: int) -> int:
        """Where `pair` first begins in a piece, in symbols; -1 if nowhere."""
        piece = self.pieces[number]
        offset = piece.find(pair)
        return len(piece) - 1 if offset < 0 and self._lies_across(number, piece, pair) else offset

    def _lies_across(self, number: int, piece: str, pair: Pair) -> bool:
        """Whether `pair` begins with the last symbol of a segment that reads `piece`, and ends in the one behind it."""
        return number in self._next and piece[-1:] == pair[0] and self.pieces[self._next[number]][0] == pair[1]

    def _begins_with(self, number: int, pair: Pair) -> bool:
        piece = self.pieces[number]
        return piece.startswith(pair) or (len(piece) == 1 and self._lies_across(number, piece, pair))

    def _draw_in(self, number: int) -> None:
        """Take the first symbol away from the segment behind a segment."""
        behind = self._next[number]
        piece = self.pieces[behind]
        self.pieces[behind] = piece[1:]
        self._starts[behind] += self.lengths[piece[0]]
        if len(piece) > 1:
            return
        del self._next[number], self._previous[behind]
        if behind in self._next:
            self._next[number] = self._next.pop(behind)
            self._previous[self._next[number]] = number

    def join(self, pair: Pair, symbol: str, level: int) -> tuple[list[Pair], int]:
        """Put `symbol` in the place of `pair` everywhere.

        Returns the pairs this has made, and how many pairs besides `pair` had the count `level` and have it no more.
        """
        beside = _Beside()
        self.n_tokens -= self._replace(pair, symbol, beside)
        self.lengths[symbol] = self.lengths[pair[0]] + self.lengths[pair[1]]
        del self.counts[pair]
        left, right = pair[0], pair[1]
        made: list[Pair] = []
        fallen = 0
        for neighbor, numbers in beside.before.items():
            fallen += self._exchange(neighbor + left, neighbor + symbol, numbers, level, made)
        for neighbor, numbers in beside.after.items():
            fallen += self._exchange(right + neighbor, symbol + neighbor, numbers, level, made)
        if beside.between:
            fallen += self._exchange(right + left, symbol + symbol, beside.between, level, made)
        return made, fallen

    def _replace(self, pair: Pair, symbol: str, beside: "_Beside") -> int:
        """Put `symbol` in the place of `pair` in all pieces; how often that was done in the corpus.

        Notes each piece once for each occurrence.
        """
        pieces, weights, segments = self.pieces, self.weights, self._segments
        before, after = beside.before, beside.after
        joined = 0
        for number in self.places.pop(pair):
            parts = pieces[number].split(pair)
            if number in segments:
                joined += weights[number] * self._replace_in_segment(number, parts, pair, symbol, beside)
                continue
            n = len(parts) - 1
            if not n:
                continue
            head, tail = parts[0], parts[n]
            pieces[number] = head + symbol + tail if n == 1 else symbol.join(parts)
            joined += n * weights[number]
            if head:
                before[head[-1]].append(number)
            if tail:
                after[tail[0]].append(number)
            if n > 1:
                beside.note_between(number, parts)
        return joined

    def _replace_in_segment(self, number: int, parts: list[str], pair: Pair, symbol: str, beside: "_Beside") -> int:
        """The same in one segment, which `pair` cuts into `parts`; how often that was done in it."""
        pieces, following, previous = self.pieces, self._next, self._previous
        if number in following and self._lies_across(number, parts[-1], pair):
            parts[-1] = parts[-1][:-1]
            parts.append("")
            self._draw_in(number)
        n = len(parts) - 1
        if not n:
            return 0
        pieces[number] = symbol.join(parts)
        if head := parts[0]:
            beside.before[head[-1]].append(number)
        elif number in previous:
            front = previous[number]
            neighbor = pieces[front][-1]
            (beside.between if neighbor == symbol else beside.before[neighbor]).append(front)
        if tail := parts[n]:
            beside.after[tail[0]].append(number)
        elif number in following and not self._begins_with(following[number], pair):
            beside.after[pieces[following[number]][0]].append(number)  # otherwise it is noted when its turn comes
        beside.note_between(number, parts)
        return n

    def _exchange(self, old: Pair, new: Pair, numbers: list[int], level: int, made: list[Pair]) -> bool:
        """`old` has become `new`, in each numbered piece once; true if that has taken `old` below `level`."""
        counts, places, weights = self.counts, self.places, self.weights
        several = len(numbers) > 1
        weight = sum([weights[number] for number in numbers]) if several else weights[numbers[0]]
        if self.lengths[new[0]] + self.lengths[new[1]] <= self._max_length:
            counts[new] = weight
            # A word seldom holds a pair twice, and then is looked at twice; a segment holds some very often.
            places[new] = array("I", dict.fromkeys(numbers) if self._segments else numbers) if several else numbers
            made.append(new)
        count = counts.get(old)
        if count is None:
            return False
        if count > weight:
            counts[old] = count - weight
        else:
            del counts[old], places[old]
        return count == level


class _Beside:
    """What stood beside the occurrences of a pair: symbol -> the pieces, each once for each occurrence in it."""

    __slots__ = ("after", "before", "between")

    def __init__(self) -> None:
        self.before: defaultdict[str, list[int]] = defaultdict(list)
        self.after: defaultdict[str, list[int]] = defaultdict(list)
        self.between: list[int] = []
        """The pieces in which two occurrences touch."""

    def note_between(self, number: int, parts: list[str]) -> None:
        """Note what stands between the occurrences that part a piece."""
        for part in parts[1:-1]:
            if part:
                self.after[part[0]].append(number)
                self.before[part[-1]].append(number)
            else:
                self.between.append(number)
