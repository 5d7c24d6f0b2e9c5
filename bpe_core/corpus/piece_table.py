"""How often each piece of a corpus occurs, and in which documents, if they are one or two.

The implementation in Python, and the reference for `kernel.PieceTable`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

FEW: Final = 2
"""A piece in more documents than this is only known to be in many."""


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear."""

    def __init__(self) -> None:
        """Nothing counted yet."""
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
