"""How often each piece of a corpus occurs, and in which documents, if they are one or two.

The implementation in Python, and the reference for `kernel.PieceTable`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add
from typing import Final

FEW: Final = 2
"""A piece in more documents than this is only known to be in many."""


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self.n_documents = 0
        """Documents that have ended."""
        self._counts: Counter[str] = Counter()
        self._documents: dict[str, tuple[int, ...]] = {}  # of each piece; () where they are many
        self._open: dict[str, None] = {}  # the pieces of the document that has not ended

    @property
    def n_pieces(self) -> int:
        """Pieces, with repetition."""
        return self._counts.total()

    def add(self, pieces: Sequence[str]) -> None:
        """Count pieces of the current document, the one that began after the last `end_document`."""
        self._counts.update(pieces)
        self._open.update(dict.fromkeys(pieces))

    def end_document(self) -> None:
        """End the current document; pieces added from now on belong to the next one."""
        self._note(self._open, (self.n_documents,))
        self._open.clear()
        self.n_documents += 1

    def append(self, other: "PieceTable") -> None:
        """Add the counts of another table, whose documents come after those here."""
        self._append(other, self.n_documents)

    def append_to_last(self, other: "PieceTable") -> None:
        """Add the counts of another table, whose first document is the rest of the last one here."""
        self._append(other, max(self.n_documents - 1, 0))

    def _append(self, other: "PieceTable", first: int) -> None:
        here, there = self._counts, other._counts
        dict.update(here, zip(there, map(add, map(here.get, there, repeat(0)), there.values()), strict=True))
        for piece, documents in other._documents.items():
            self._note((piece,), tuple(first + document for document in documents))
        self.n_documents = first + other.n_documents

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
