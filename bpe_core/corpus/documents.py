"""Which documents pieces occur in, remembered only while these are few: what is in three or more is common.

All of it is set against set, inside of the interpreter: no loop looks at a piece more than once or twice.
"""

from collections.abc import Iterator, Mapping, Set
from itertools import chain, islice, pairwise, repeat
from operator import not_


class Documents:
    """Grows by one document at a time, or by those that somebody else has looked at.

    The pieces that were known before are always given: their order, in which they first appeared, tells the rest.
    """

    __slots__ = ("_common", "_second", "_starts", "n")

    def __init__(self) -> None:
        self.n = 0
        """How many documents there are."""
        self._starts: list[int] = []
        """Document -> how many pieces had been seen before it."""
        self._second: dict[str, int] = {}
        """Piece -> the second document it occurs in, while there is no third."""
        self._common: set[str] = set()
        """Pieces that occur in three documents or more."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Documents) and all(
            getattr(self, name) == getattr(other, name) for name in Documents.__slots__
        )

    def add(self, pieces: Set[str], known: Mapping[str, int]) -> None:
        """Take in one more document, of these pieces."""
        again = known.keys() & (pieces - self._common)
        third = again & self._second.keys()
        self._make_common(third)
        self._second.update(dict.fromkeys(again - third, self.n))
        self._starts.append(len(known))
        self.n += 1

    def append(self, other: "Documents", pieces: Mapping[str, int], known: Mapping[str, int]) -> None:
        """Take in the documents that follow, which are those of other `pieces`."""
        rest = pieces.keys() - self._common
        again = known.keys() & rest
        third = (rest & other._common) | (again & self._second.keys()) | (again & other._second.keys())
        self._make_common(third)
        first = dict(zip(pieces, other.first(len(pieces)), strict=True))
        self._second.update((piece, self.n + first[piece]) for piece in again - third)
        self._second.update((piece, self.n + other._second[piece]) for piece in (other._second.keys() & rest) - third)
        self._starts += self._starts_of(other, pieces, known)
        self.n += other.n

    def _make_common(self, pieces: Set[str]) -> None:
        self._common |= pieces
        for piece in pieces & self._second.keys():
            del self._second[piece]

    @staticmethod
    def _starts_of(other: "Documents", pieces: Mapping[str, int], known: Mapping[str, int]) -> Iterator[int]:
        """For each document of the other, how many pieces will have been seen before it."""
        are_new = map(not_, map(known.__contains__, pieces))
        n_known = len(known)
        for before, start in pairwise((0, *other._starts)):
            n_known += sum(islice(are_new, start - before))
            yield n_known

    def first(self, n_pieces: int) -> Iterator[int]:
        """For each of so many pieces, all there are, the number of the document it appeared in first."""
        spans = pairwise((*self._starts, n_pieces))
        return chain.from_iterable(repeat(document, end - start) for document, (start, end) in enumerate(spans))

    def few(self, pieces: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
        """Piece -> the one or two documents it occurs in, of those of `pieces` that are not common."""
        second, common = self._second, self._common
        return {
            piece: (first, second[piece]) if piece in second else (first,)
            for piece, first in zip(pieces, self.first(len(pieces)), strict=True)
            if piece not in common
        }
