"""What the kernel does, in Python and under the kernel's names: `bpe_core.kernel` has these where it is not compiled.

`Encoder` and `Scanner` are not here: `bpe_core.vocabulary` merges and `bpe_core.patterns` splits in Python,
also what the kernel does not know of.
"""

from array import array
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import pairwise
from typing import Any, Final

from bpe_core.utf8 import utf8

FEW: Final = 2  # a piece in more documents than this is only known to be in many
END: Final = 0xFFFFFFFF  # in the slots between pieces; no symbol has this number
SLOTS_PER_REPORT: Final = 1 << 16  # slots counted between two reports of progress: a few hundredths of a second
FIRST, LOWEST, LARGEST = range(3)
"""Which of several equally frequent pairs is next: the first in the corpus, the lowest symbols, the largest bytes."""
_INVERTED: Final = bytes(reversed(range(256)))
_END_OF_TOKEN: Final = "\u0100"

Pair = tuple[int, int]  # (left symbol, right symbol)
Step = tuple[int, int, int, int, int]
"""A merge: left and right symbol, count of the pair, pairs with this count (0: it was given), tokens after it."""


def decimals(ids: bytes, between: str) -> str:
    return between.join(map(str, memoryview(ids).cast("I")))


def read_ranks(data: bytes) -> None:
    """None: a rank file is read line by line, as in the kernel one that is not wholly right."""


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear; without a kernel no scanner is."""

    def __init__(self, scanner: None) -> None:
        self.n_pieces = 0
        self._counts: Counter[str] = Counter()
        self._documents: dict[str, tuple[int, ...]] = {}  # of each piece; () where they are many

    def __len__(self) -> int:
        return len(self._counts)

    def add_pieces(self, pieces: Sequence[str], document: int) -> None:
        self._counts.update(pieces)
        self.n_pieces += len(pieces)
        self._note(set(pieces), (document,))

    def append(self, other: "PieceTable", document: int, weight: int = 1) -> None:
        for piece, count in other._counts.items():
            self._counts[piece] += count * weight
            self._note((piece,), tuple(document + number for number in other._documents[piece]))
        self.n_pieces += other.n_pieces

    def _note(self, pieces: Iterable[str], documents: tuple[int, ...]) -> None:
        """Record that these pieces also occur in these documents; () means in many."""
        known = self._documents
        for piece in pieces:
            before = known.setdefault(piece, documents)
            if before != documents:
                both = tuple(dict.fromkeys(before + documents))
                known[piece] = both if before and documents and len(both) <= FEW else ()

    def counts(self) -> dict[str, int]:
        return self._counts

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        return {piece: documents for piece, documents in self._documents.items() if documents}


class Learner:
    """Learns merges of symbols: the 256 bytes in the order of an alphabet, the end-of-word marker, one for each merge.

    All pieces lie in one array of slots, END before, between and behind them. A symbol that was merged from n initial
    symbols takes n slots, and its number is written into the first and the last of them. So both neighbors of a symbol
    are found without links, and whether a pair still occurs at a slot where it once did is seen from these slots alone.

    Memory is linear in the slots, and so is the time to count the pairs; a merge looks only at the slots where its pair
    occurs or once did. Whatever an exception interrupts, the learner has made each merge whole or not at all: what was
    half changed is counted anew when it is next asked.
    """

    def __init__(
        self,
        table: PieceTable,
        ties: int,
        min_count: int,
        max_length: int,
        alphabet: bytes,
        end_of_word: bytes,
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        self._table = table
        self._ties, self._min_count, self._max_length = ties, min_count, max_length
        self._initial = [alphabet[n : n + 1] for n in range(256)] + ([end_of_word] if end_of_word else [])
        self._steps: list[Step] = []
        self._count(progress)

    def _count(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Count the pairs, and make the merges again that were made."""
        self._is_whole = False
        self._bytes = list(self._initial)  # symbol -> its bytes
        self._spans = [1] * len(self._initial)  # symbol -> initial symbols
        self._slots = array("I", (END,))
        self._starts = array("Q", (1,))  # the first slot of each piece, and of one more behind the last
        self._weights: list[int] = []
        self._n_tokens = 0
        numbers = bytes(map(b"".join(self._initial[:256]).index, range(256)))
        end = range(256, len(self._initial))
        for piece, weight in self._table.counts().items():
            symbols = utf8(piece).translate(numbers)
            self._slots.extend(symbols)
            self._slots.extend((*end, END))
            self._starts.append(len(self._slots))
            self._weights.append(weight)
            self._n_tokens += weight * (len(symbols) + len(end))
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("I"))
        slots, reported = self._slots, 0
        for (start, stop), weight in zip(pairwise(self._starts), self._weights, strict=True):
            for first in range(start, stop - 2, SLOTS_PER_REPORT):
                if progress and first - reported >= SLOTS_PER_REPORT:
                    reported = first
                    progress(first, len(slots))
                for place in range(first, min(first + SLOTS_PER_REPORT, stop - 2)):
                    pair = slots[place], slots[place + 1]
                    counts[pair] += weight
                    places[pair].append(place)
        self._counts, self._places = dict(counts), dict(places)
        self._n_tied = Counter(count for pair, count in counts.items() if self._is_short(pair))
        self._heap: list[tuple[int, Any, Pair]] = [
            (-count, self._key(pair), pair)
            for pair, count in counts.items()
            if count >= self._min_count and self._is_short(pair)
        ]
        heapify(self._heap)
        for left, right, *_ in self._steps:
            self._merge((left, right))
        self._is_whole = True

    def _mend(self) -> None:
        if not self._is_whole:
            self._count()

    @property
    def n_tokens(self) -> int:
        self._mend()
        return self._n_tokens

    @property
    def n_merges(self) -> int:
        return len(self._steps)

    def merges(self, start: int) -> list[Step]:
        return self._steps[start:]

    def learn(self, until: int) -> None:
        while len(self._steps) < until:
            self._mend()
            self._is_whole = False
            if (pair := self._next()) is not None:
                count = self._counts[pair]
                n_tied = self._n_tied[count]
                self._merge(pair)
                self._steps.append((*pair, count, n_tied, self._n_tokens))
            self._is_whole = True
            if pair is None:
                return

    def merge(self, left: int, right: int) -> None:
        self._mend()
        self._is_whole = False
        count = self._counts.get((left, right), 0)
        self._merge((left, right))
        self._steps.append((left, right, count, 0, self._n_tokens))
        self._is_whole = True

    def pairs(self) -> list[tuple[int, int, int]]:
        self._mend()
        return [(*pair, count) for pair, count in self._counts.items() if self._is_short(pair)]

    def symbol_counts(self) -> list[int]:
        self._mend()
        counts = [0] * len(self._spans)
        for (place, stop), weight in zip(pairwise(self._starts), self._weights, strict=True):
            while place < stop - 1:
                symbol = self._slots[place]
                counts[symbol] += weight
                place += self._spans[symbol]
        return counts

    def _is_short(self, pair: Pair) -> bool:
        return self._spans[pair[0]] + self._spans[pair[1]] <= self._max_length

    def _key(self, pair: Pair) -> Any:
        """Of equally frequent pairs the one with the smallest key comes first."""
        if self._ties == FIRST:
            return 0  # where it occurs first moves right as it is merged: computed when it is next
        if self._ties == LARGEST:
            return tuple([descending(self._bytes[symbol]) for symbol in pair])
        return pair

    def _next(self) -> Pair | None:
        """Remove the next pair to merge from the heap, whose counts and keys may be older, and so only come earlier."""
        while self._heap:
            was, key, pair = self._heap[0]
            count = self._counts.get(pair, 0)
            if self._ties == FIRST and count == -was and self._n_tied[count] > 1:
                key = self._first_place(pair)
            if (-count, key) == self._heap[0][:2]:
                heappop(self._heap)
                return pair
            if count < self._min_count:
                heappop(self._heap)
            else:
                heapreplace(self._heap, (-count, key, pair))
        return None

    def _first_place(self, pair: Pair) -> int:
        """The first slot where a pair occurs, which never decreases. Forgets earlier slots, where the pair is gone."""
        places = self._places[pair]
        del places[: next(n for n, place in enumerate(places) if self._occurs_at(pair, place))]
        return places[0]

    def _occurs_at(self, pair: Pair, place: int) -> bool:
        """Whether `pair` occurs at a slot where its left symbol once began."""
        slots, left = self._slots, pair[0]
        behind = place + self._spans[left]
        return slots[place] == left == slots[behind - 1] and slots[behind] == pair[1]

    def _weight(self, place: int) -> int:
        return self._weights[bisect(self._starts, place) - 1]

    def _merge(self, pair: Pair) -> None:
        """Replace `pair` by a new symbol everywhere, from left to right. O(log pieces) for each slot looked at."""
        slots, spans, new = self._slots, self._spans, len(self._spans)
        spans.append(spans[pair[0]] + spans[pair[1]])
        self._bytes.append(self._bytes[pair[0]] + self._bytes[pair[1]])
        before: defaultdict[int, list[int]] = defaultdict(list)
        after: defaultdict[int, list[int]] = defaultdict(list)
        for place in self._places.pop(pair, ()):
            if self._occurs_at(pair, place):
                behind = place + spans[new]
                slots[place] = slots[behind - 1] = new
                self._n_tokens -= self._weight(place)
                if (neighbor := slots[place - 1]) != END:
                    before[neighbor].append(place - spans[neighbor])
                if (neighbor := slots[behind]) != END and not self._occurs_at(pair, behind):
                    after[neighbor].append(place)
        self._set(pair, 0)
        for neighbor, places in before.items():
            was = pair[1] if neighbor == new else neighbor  # adjacent occurrences share a pair; it is counted here only
            self._exchange((was, pair[0]), (neighbor, new), places)
        for neighbor, places in after.items():
            self._exchange((pair[1], neighbor), (new, neighbor), places)

    def _exchange(self, old: Pair, new: Pair, places: list[int]) -> None:
        weight = sum(map(self._weight, places))
        self._places[new] = array("I", places)
        self._set(new, weight)
        if weight >= self._min_count and self._is_short(new):
            heappush(self._heap, (-weight, self._key(new), new))
        if old in self._counts:
            self._set(old, self._counts[old] - weight)

    def _set(self, pair: Pair, count: int) -> None:
        if self._is_short(pair):
            self._n_tied[self._counts.get(pair, 0)] -= 1
            self._n_tied[count] += 1
        if count:
            self._counts[pair] = count
        else:
            self._counts.pop(pair, None)
            self._places.pop(pair, None)


def descending(token: bytes) -> str:
    """A sort key by which tokens come in descending order of their bytes, behind those that they are a prefix of.

    >>> descending(b"ab") < descending(b"a") < descending(b"Z")
    True
    """
    return token.translate(_INVERTED).decode("latin-1") + _END_OF_TOKEN
