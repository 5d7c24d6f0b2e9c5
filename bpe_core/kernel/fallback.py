"""What the kernel does, in Python and under the kernel's names: `bpe_core.kernel` has these where it is not compiled.

`Encoder` and `Scanner` are not here: `bpe_core.vocabulary.encoder` merges and `bpe_core.patterns` splits in Python,
also what the kernel does not know of.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

FEW: Final = 2
"""A piece in more documents than this is only known to be in many."""
_SLICE: Final = 1 << 16
"""Ids that are made into text at a time, to bound the memory."""


def decimals(ids: bytes, between: str) -> str:
    """Unsigned 32-bit numbers in decimal digits, with `between` between them."""
    numbers = memoryview(ids).cast("I")
    slices = (numbers[start : start + _SLICE] for start in range(0, len(numbers), _SLICE))
    return between.join(between.join(map(str, some)) for some in slices)


def read_ranks(data: bytes) -> None:
    """None: a rank file is read line by line, as in the kernel one that is not wholly right."""


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear."""

    def __init__(self, scanner: None) -> None:
        """Nothing counted yet; without the kernel there is no scanner."""
        self.n_pieces = 0
        """Pieces, with repetition and without weights."""
        self._counts: Counter[str] = Counter()
        self._documents: dict[str, tuple[int, ...]] = {}  # of each piece; () where they are many

    def __len__(self) -> int:
        """How many different pieces there are."""
        return len(self._counts)

    def add_pieces(self, pieces: Sequence[str], document: int) -> None:
        """Count pieces of the document of this number; later ones have higher numbers."""
        self._counts.update(pieces)
        self.n_pieces += len(pieces)
        self._note(set(pieces), (document,))

    def append(self, other: "PieceTable", document: int, weight: int = 1) -> None:
        """Add the counts of another table, each `weight` times; its documents are numbered from `document` on."""
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
        """Piece -> how often it occurs."""
        return self._counts

    def few_documents(self) -> dict[str, tuple[int, ...]]:
        """Piece -> numbers of the one or two documents it occurs in. A piece that is missing is in three or more."""
        return {piece: documents for piece, documents in self._documents.items() if documents}
