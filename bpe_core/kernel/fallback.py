"""What the kernel does, in Python and under its names: `bpe_core.kernel` has these where it is not compiled."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate, chain, islice, pairwise
from typing import Any, Final

from bpe_core.utf8 import utf8

FEW: Final = (
    2  # documents of a piece that are kept; of more it is only known how many they are
)
END: Final = 0xFFFFFFFF  # in the slots between pieces; no symbol has this number
SLOTS_PER_REPORT: Final = (
    1 << 16
)  # slots counted between two reports of progress: a few hundredths of a second
FIRST, LOWEST, LARGEST = range(3)
"""Which of several equally frequent pairs is next: the first in the corpus, the lowest symbols, the largest bytes."""

Pair = tuple[int, int]  # (left symbol, right symbol)
Step = tuple[int, int, int, int, int]
"""A merge: left and right symbol, count of the pair, pairs with this count (0: it was given), tokens after it."""


def decimals(ids: bytes, between: str) -> str:
    return between.join(map(str, memoryview(ids).cast("I")))


def nothing(*_: object) -> None:
    """None: what the kernel does not know of is done elsewhere in Python, and so is all without a kernel."""


Encoder = Scanner = read_ranks = nothing


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear; without a kernel no scanner is."""

    def __init__(self, scanner: None) -> None:
        self.n_pieces = self.long_bytes = 0
        # Piece -> its count, in how many documents it occurs, the first of them if these are one or two, the last.
        self._rows: dict[str, tuple[int, int, int, int]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, other: "PieceTable", document: int, weight: int = 1) -> None:
        n_pieces = self.n_pieces + other.n_pieces
        self.extend(*other.columns(0, len(other))[:2], document, weight)
        self.n_pieces = n_pieces

    def columns(self, start: int, stop: int) -> tuple[bytes, bytes, bytes]:
        pieces = list(islice(self._rows, start, stop))
        data = [utf8(piece) for piece in pieces]
        columns = (
            accumulate(map(len, data), initial=0),
            *zip(*map(self._rows.__getitem__, pieces), strict=True),
        )
        return (
            b"".join(data),
            array("Q", chain(*columns)).tobytes(),
            bytes(hash(piece) & 255 for piece in pieces),
        )

    def extend(
        self, pieces: bytes, columns: Any, document: int, weight: int = 1
    ) -> bytes:
        data, numbers, is_new = (
            bytes(pieces),
            memoryview(columns).cast("B").cast("Q"),
            bytearray(),
        )
        n = len(numbers) // 5
        rows = zip(
            *(numbers[i : i + n] for i in range(1, 5 * n + 1, n or 1)), strict=True
        )
        for start, (end, count, n_documents, first, last) in zip(
            numbers, rows, strict=False
        ):
            if not (piece := data[start:end].decode()):
                raise ValueError("these are no rows of pieces")
            is_new.append(piece not in self._rows)
            known, before, *ends = self._rows.get(piece, (0, 0, document + first, -1))
            n_documents += before - (
                n_documents <= FEW and document + first == ends[-1]
            )
            begun = ends[0] if n_documents <= FEW else 0
            self._rows[piece] = (
                known + count * weight,
                n_documents,
                begun,
                document + last,
            )
            self.n_pieces += count
        return bytes(is_new)

    def counts(self) -> dict[str, int]:
        return {piece: row[0] for piece, row in self._rows.items()}


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
        self._initial = [alphabet[n : n + 1] for n in range(256)] + (
            [end_of_word] if end_of_word else []
        )
        self._steps: list[Step] = []
        self._count(progress)

    def _count(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Count the pairs, and make the merges again that were made."""
        self._is_whole = False
        self._bytes = list(self._initial)  # symbol -> its bytes
        self._spans = [1] * len(self._initial)  # symbol -> initial symbols
        self._slots, self._weights, self._n_tokens = (
            array("I", (END,)),
            [0],
            0,
        )  # weights of the pieces, by slot
        numbers = bytes(map(b"".join(self._initial[:256]).index, range(256)))
        end = range(256, len(self._initial))
        for piece, weight in self._table.counts().items():
            symbols = (*utf8(piece).translate(numbers), *end, END)
            self._slots.extend(symbols)
            self._weights += [weight] * len(symbols)
            self._n_tokens += weight * (len(symbols) - 1)
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("I"))
        for place, (pair, weight) in enumerate(
            zip(pairwise(self._slots), self._weights, strict=False)
        ):
            if progress and not place % SLOTS_PER_REPORT:
                progress(place, len(self._slots))
            if END not in pair:
                counts[pair] += weight
                places[pair].append(place)
        self._counts, self._places = dict(counts), dict(places)
        self._n_tied = Counter(
            count for pair, count in counts.items() if self._is_short(pair)
        )
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
        while len(self._steps) < until and self._make():
            pass

    def merge(self, left: int, right: int) -> None:
        self._make((left, right))

    def _make(self, given: Pair | None = None) -> bool:
        """Make the merge that is given, or the next one; False if none is left."""
        self._mend()
        self._is_whole = False
        if pair := given or self._next():
            count = self._counts.get(pair, 0)
            n_tied = 0 if given else self._n_tied[count]
            self._merge(pair)
            self._steps.append((*pair, count, n_tied, self._n_tokens))
        self._is_whole = True
        return pair is not None

    def pairs(self) -> list[tuple[int, int, int]]:
        self._mend()
        return [
            (*pair, count)
            for pair, count in self._counts.items()
            if self._is_short(pair)
        ]

    def symbol_counts(self) -> list[int]:
        self._mend()
        counts, place = [0] * len(self._spans), 1
        while place < len(self._slots):
            if (symbol := self._slots[place]) != END:
                counts[symbol] += self._weights[place]
            place += 1 if symbol == END else self._spans[symbol]
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
        del places[
            : next(n for n, place in enumerate(places) if self._occurs_at(pair, place))
        ]
        return places[0]

    def _occurs_at(self, pair: Pair, place: int) -> bool:
        """Whether `pair` occurs at a slot where its left symbol once began."""
        slots, left = self._slots, pair[0]
        behind = place + self._spans[left]
        return slots[place] == left == slots[behind - 1] and slots[behind] == pair[1]

    def _merge(self, pair: Pair) -> None:
        """Replace `pair` by a new symbol everywhere, from left to right."""
        slots, spans, new = self._slots, self._spans, len(self._spans)
        spans.append(spans[pair[0]] + spans[pair[1]])
        self._bytes.append(self._bytes[pair[0]] + self._bytes[pair[1]])
        changed: defaultdict[tuple[Pair, Pair], list[int]] = defaultdict(
            list
        )  # (old pair, new pair) -> where
        for place in self._places.pop(pair, ()):
            if self._occurs_at(pair, place):
                behind = place + spans[new]
                slots[place] = slots[behind - 1] = new
                self._n_tokens -= self._weights[place]
                if (left := slots[place - 1]) != END:
                    was = (
                        pair[1] if left == new else left
                    )  # adjacent occurrences share a pair; it is counted here only
                    changed[(was, pair[0]), (left, new)].append(place - spans[left])
                if (right := slots[behind]) != END and not self._occurs_at(
                    pair, behind
                ):
                    changed[(pair[1], right), (new, right)].append(place)
        self._set(pair, 0)
        for (old, made), places in changed.items():
            weight = sum(map(self._weights.__getitem__, places))
            self._places[made] = array("I", places)
            self._set(made, weight)
            if weight >= self._min_count and self._is_short(made):
                heappush(self._heap, (-weight, self._key(made), made))
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


def descending(token: bytes) -> tuple[int, ...]:
    """A sort key by which tokens come in descending order of their bytes, behind those that they are a prefix of.

    >>> descending(b"ab") < descending(b"a") < descending(b"Z")
    True
    """
    return (*(-byte for byte in token), 1)
