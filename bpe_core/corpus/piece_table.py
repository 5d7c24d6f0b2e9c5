"""How often each piece of a corpus occurs, and in which documents, if those are few: the reference for the kernel."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat
from operator import add
from typing import Final

FEW: Final = 2
"""Documents of a piece that are remembered; what is in more is common."""


class PieceTable:
    """Counts pieces, document by document, in the order in which they first appear."""

    def __init__(self) -> None:
        """Nothing counted yet."""
        self.n_documents = 0
        """Documents that have ended."""
        self._counts: Counter[str] = Counter()
        self._documents: dict[str, tuple[int, ...]] = {}  # of each piece; none where they are many
        self._open: dict[str, None] = {}  # the pieces of the document at hand

    @property
    def n_pieces(self) -> int:
        """Pieces, with repetition."""
        return self._counts.total()

    def add(self, pieces: Sequence[str]) -> None:
        """Count some pieces of the document at hand."""
        self._counts.update(pieces)
        self._open.update(dict.fromkeys(pieces))

    def end_document(self) -> None:
        """What comes next belongs to another document."""
        self._note(self._open, (self.n_documents,))
        self._open.clear()
        self.n_documents += 1

    def append(self, other: "PieceTable") -> None:
        """Take in another table, whose documents follow."""
        self._take_in(other, self.n_documents)

    def append_to_last(self, other: "PieceTable") -> None:
        """Take in another table, whose first document goes on with the last one here."""
        self._take_in(other, max(self.n_documents - 1, 0))

    def _take_in(self, other: "PieceTable", first: int) -> None:
        here, there = self._counts, other._counts
        dict.update(here, zip(there, map(add, map(here.get, there, repeat(0)), there.values()), strict=True))
        for piece, documents in other._documents.items():
            self._note((piece,), tuple(first + document for document in documents))
        self.n_documents = first + other.n_documents

    def _note(self, pieces: Iterable[str], documents: tuple[int, ...]) -> None:
        """That these pieces occur in these documents, too; in many if there are none."""
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
        """Piece -> the one or two documents it occurs in. A piece that is not in here occurs in three or more."""
        return {piece: documents for piece, documents in self._documents.items() if documents}
