"""The kernel's counting and learning in Python, for use without the compiled kernel.

The names and results are those of the C sources; `_kernel.pyi` documents them.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate, chain, islice, pairwise
from typing import Any, Final, NamedTuple

from bpe_core.utf8 import utf8

FEW: Final = 2
"""A piece that occurs in at most this many documents keeps the number of its first document."""
END: Final = 0xFFFFFFFF
"""Fills the slots between pieces. No symbol has this number."""
SLOTS_PER_REPORT: Final = 1 << 16
"""Slots counted between two reports of progress, which takes a few hundredths of a second."""
FIRST, LOWEST, LARGEST = range(3)
"""Which of several equally frequent pairs is next: the first in the corpus, the one with the lowest
symbols, or the one with the largest bytes."""

Pair = tuple[int, int]
"""The symbols (left, right)."""
Step = tuple[int, int, int, int, int]
"""A merge: left and right symbol, count of the pair, number of pairs with this count (0 if the merge
was given), and number of tokens after it."""
Candidate = tuple[int, Any, Pair]
"""A pair in the heap, after its negative count and the key of the tie rule: the smallest is merged
first. A plain tuple, since a heap compares it faster than a record."""


def decimals(ids: bytes, between: str) -> str:
    return between.join(map(str, memoryview(ids).cast("I")))


def nothing(*_: object, **_options: object) -> None:
    """Return None, as the kernel does for unsupported input. The caller then uses its Python code."""


Encoder = nothing
Scanner = nothing
read_ranks = nothing


class _Row(NamedTuple):
    """The counts of a piece."""

    n_occurrences: int
    n_documents: int
    first: int
    """The first document, if there are at most `FEW` documents; else 0."""
    last: int


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear."""

    def __init__(self, scanner: None) -> None:
        """`scanner` is None: only the kernel has scanners."""
        self.n_pieces = 0
        self.long_bytes = 0
        self._rows: dict[str, _Row] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, other: "PieceTable", document: int, weight: int = 1) -> None:
        n_pieces = self.n_pieces + other.n_pieces
        pieces, columns, _ = other.columns(0, len(other))
        self.extend(pieces, columns, document, weight)
        # `extend` adds the counts, but the counts in `other` include the weights of its documents.
        self.n_pieces = n_pieces

    def columns(self, start: int, stop: int) -> tuple[bytes, bytes, bytes]:
        pieces = list(islice(self._rows, start, stop))
        rows = [self._rows[piece] for piece in pieces]
        data = [utf8(piece) for piece in pieces]
        # Column after column: where the pieces end, after a first 0, then each field of the rows.
        offsets = accumulate(map(len, data), initial=0)
        fields = zip(*rows, strict=True)
        numbers = array("Q", chain(offsets, *fields))
        hashes = bytes(hash(piece) & 255 for piece in pieces)
        return b"".join(data), numbers.tobytes(), hashes

    def extend(
        self, pieces: bytes, columns: Any, document: int, weight: int = 1
    ) -> bytes:
        data = bytes(pieces)
        numbers = memoryview(columns).cast("B").cast("Q")
        n_rows = len(numbers) // 5
        is_new = bytearray()
        for number in range(n_rows):
            start = numbers[number]
            row = numbers[number + 1 :: n_rows]  # one number of each column
            end, count, n_documents, first, last = row
            piece = data[start:end].decode()
            if not piece:
                raise ValueError(
                    "Invalid rows of pieces: a piece is empty. Pass the result of `columns`."
                )
            added = _Row(
                n_occurrences=count * weight,
                n_documents=n_documents,
                first=document + first if n_documents <= FEW else 0,
                last=document + last,
            )
            known = self._rows.get(piece)
            is_new.append(known is None)
            self._rows[piece] = added if known is None else self._sum(known, added)
            self.n_pieces += count
        return bytes(is_new)

    @staticmethod
    def _sum(known: _Row, added: _Row) -> _Row:
        """Add the counts of later documents to a row. The first of them may be the last document of the row."""
        n_documents = known.n_documents + added.n_documents
        if added.n_documents <= FEW and added.first == known.last:
            n_documents -= 1  # both have this document
        return _Row(
            n_occurrences=known.n_occurrences + added.n_occurrences,
            n_documents=n_documents,
            first=known.first if n_documents <= FEW else 0,
            last=added.last,
        )

    def counts(self) -> dict[str, int]:
        return {piece: row.n_occurrences for piece, row in self._rows.items()}


class Learner:
    """Learns merges of symbols.

    The symbols are the 256 bytes in the order of an alphabet, then the end-of-word marker if there
    is one, then one for each merge.

    All pieces are in one array of slots, with END before, between and after them. A symbol merged
    from n initial symbols takes n slots, and its number is in the first and the last of them. So
    both neighbors of a symbol are found without links, and these slots alone show whether a pair
    still occurs at a slot where it once did. An example: `low` as one piece is [END, l, o, w, END];
    after merging l + o into symbol 256, then 256 + w into 257, it is [END, 257, 256, 257, END].

    Memory is linear in the slots, and so is the time to count the pairs. A merge looks only at the
    slots where its pair occurs or once did. If an exception interrupts the learner, it makes each
    merge completely or not at all: the next call counts the pairs again and repeats the merges.
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
        self._ties = ties
        self._min_count = min_count
        self._max_length = max_length
        self._alphabet = alphabet
        self._initial = [alphabet[n : n + 1] for n in range(256)]
        if end_of_word:
            self._initial.append(end_of_word)
        self._steps: list[Step] = []
        self._start(progress)

    def _start(self, progress: Callable[[int, int], object] | None = None) -> None:
        """Count the pairs, and repeat the merges that were made."""
        self._is_whole = False
        self._bytes = list(self._initial)  # symbol -> its bytes
        self._spans = [1] * len(self._initial)  # symbol -> initial symbols
        self._fill_slots()
        self._count_pairs(progress)
        self._n_tied = Counter(
            count for pair, count in self._counts.items() if self._is_short(pair)
        )
        self._heap: list[Candidate] = [
            (-count, self._key(pair), pair)
            for pair, count in self._counts.items()
            if count >= self._min_count and self._is_short(pair)
        ]
        heapify(self._heap)
        for left, right, *_ in self._steps:
            self._merge((left, right))
        self._is_whole = True

    def _fill_slots(self) -> None:
        self._slots = array("I", (END,))
        self._weights = [0]  # slot -> weight of its piece
        self._n_tokens = 0
        symbol_of_byte = bytes(self._alphabet.index(byte) for byte in range(256))
        end_of_word = range(256, len(self._initial))
        for piece, weight in self._table.counts().items():
            symbols = (*utf8(piece).translate(symbol_of_byte), *end_of_word, END)
            self._slots.extend(symbols)
            self._weights += [weight] * len(symbols)
            self._n_tokens += weight * (len(symbols) - 1)

    def _count_pairs(self, progress: Callable[[int, int], object] | None) -> None:
        counts: defaultdict[Pair, int] = defaultdict(int)
        places: defaultdict[Pair, array[int]] = defaultdict(lambda: array("I"))
        pairs = zip(pairwise(self._slots), self._weights, strict=False)
        for place, (pair, weight) in enumerate(pairs):
            if progress and not place % SLOTS_PER_REPORT:
                progress(place, len(self._slots))
            if END not in pair:
                counts[pair] += weight
                places[pair].append(place)
        self._counts = dict(counts)
        self._places = dict(places)  # pair -> the slots where it begins or once began

    def _repair(self) -> None:
        """Start again if the last call was interrupted."""
        if not self._is_whole:
            self._start()

    @property
    def n_tokens(self) -> int:
        self._repair()
        return self._n_tokens

    @property
    def n_merges(self) -> int:
        return len(self._steps)

    def merges(self, start: int) -> list[Step]:
        return self._steps[start:]

    def learn(self, until: int) -> None:
        while len(self._steps) < until:
            if not self._make_merge():
                break

    def merge(self, left: int, right: int) -> None:
        self._make_merge((left, right))

    def _make_merge(self, given: Pair | None = None) -> bool:
        """Make the given merge, or the next one; return False if no merge is left."""
        self._repair()
        self._is_whole = False
        pair = given or self._take_next()
        if pair:
            left, right = pair
            count = self._counts.get(pair, 0)
            n_tied = 0 if given else self._n_tied[count]
            self._merge(pair)
            self._steps.append((left, right, count, n_tied, self._n_tokens))
        self._is_whole = True
        return pair is not None

    def pairs(self) -> list[tuple[int, int, int]]:
        self._repair()
        return [
            (left, right, count)
            for (left, right), count in self._counts.items()
            if self._is_short((left, right))
        ]

    def symbol_counts(self) -> list[int]:
        self._repair()
        counts = [0] * len(self._spans)
        place = 1
        while place < len(self._slots):
            symbol = self._slots[place]
            if symbol == END:
                place += 1
            else:
                counts[symbol] += self._weights[place]
                place += self._spans[symbol]
        return counts

    def _is_short(self, pair: Pair) -> bool:
        return self._spans[pair[0]] + self._spans[pair[1]] <= self._max_length

    def _key(self, pair: Pair) -> Any:
        """Return a sort key: of equally frequent pairs, the one with the smallest key is next."""
        if self._ties == FIRST:
            # `_take_next` computes the first place, since merges move it to the right.
            return 0
        left, right = pair
        if self._ties == LARGEST:
            return descending(self._bytes[left]), descending(self._bytes[right])
        return pair

    def _take_next(self) -> Pair | None:
        """Remove the next pair to merge from the heap, and return the pair.

        The heap may have an older count and key of a pair. Counts only fall and keys only rise, so
        the pair then comes too early, never too late, and is put back with its current count and
        key.
        """
        while self._heap:
            negative_count, key, pair = self._heap[0]
            count = self._counts.get(pair, 0)
            current_key = key
            is_current = count == -negative_count
            if self._ties == FIRST and is_current and self._n_tied[count] > 1:
                current_key = self._first_place(pair)
            if is_current and key == current_key:
                heappop(self._heap)
                return pair
            if count >= self._min_count:
                heapreplace(self._heap, (-count, current_key, pair))
            else:
                heappop(self._heap)
        return None

    def _first_place(self, pair: Pair) -> int:
        """Return the first slot at which a pair occurs, and forget the slots before it."""
        places = self._places[pair]
        n_gone = 0
        while not self._occurs_at(pair, places[n_gone]):
            n_gone += 1
        del places[:n_gone]
        return places[0]

    def _occurs_at(self, pair: Pair, place: int) -> bool:
        """Whether `pair` occurs at a slot at which its left symbol once began."""
        slots = self._slots
        left, right = pair
        after = place + self._spans[left]
        return slots[place] == left == slots[after - 1] and slots[after] == right

    def _merge(self, pair: Pair) -> None:
        """Replace `pair` by a new symbol everywhere, from left to right, and count the new pairs."""
        left, right = pair
        self._spans.append(self._spans[left] + self._spans[right])
        self._bytes.append(self._bytes[left] + self._bytes[right])
        changes = self._replace(pair, new=len(self._spans) - 1)
        self._set_count(pair, 0)
        for (old_pair, new_pair), places in changes.items():
            weight = sum(map(self._weights.__getitem__, places))
            self._places[new_pair] = array("I", places)
            self._set_count(new_pair, weight)
            if weight >= self._min_count and self._is_short(new_pair):
                heappush(self._heap, (-weight, self._key(new_pair), new_pair))
            if old_pair in self._counts:
                self._set_count(old_pair, self._counts[old_pair] - weight)

    def _replace(self, pair: Pair, new: int) -> dict[tuple[Pair, Pair], list[int]]:
        """Write a new symbol over `pair` in the slots.

        Returns:
            (old pair, new pair) -> the slots where the new pair replaces the old one.
        """
        slots = self._slots
        spans = self._spans
        changes: defaultdict[tuple[Pair, Pair], list[int]] = defaultdict(list)
        for place in self._places.pop(pair, ()):
            if not self._occurs_at(pair, place):
                continue
            after = place + spans[new]
            slots[place] = slots[after - 1] = new
            self._n_tokens -= self._weights[place]
            left = slots[place - 1]
            if left != END:
                # If the left neighbor was just merged too, its right part was the neighbor before.
                old_left = pair[1] if left == new else left
                changes[(old_left, pair[0]), (left, new)].append(place - spans[left])
            right = slots[after]
            # If the pair occurs again right after this, that occurrence counts the pair between them.
            if right != END and not self._occurs_at(pair, after):
                changes[(pair[1], right), (new, right)].append(place)
        return changes

    def _set_count(self, pair: Pair, count: int) -> None:
        if self._is_short(pair):
            self._n_tied[self._counts.get(pair, 0)] -= 1
            self._n_tied[count] += 1
        if count:
            self._counts[pair] = count
        else:
            self._counts.pop(pair, None)
            self._places.pop(pair, None)


def descending(token: bytes) -> tuple[int, ...]:
    """Return a sort key that orders tokens by descending bytes; a prefix comes after the longer token.

    >>> descending(b"ab") < descending(b"a") < descending(b"Z")
    True
    """
    return (*(-byte for byte in token), 1)
