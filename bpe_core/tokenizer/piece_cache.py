"""PieceCache: the ids of the pieces that were met before, within a bounded amount of memory."""

from itertools import chain
from typing import TYPE_CHECKING, Final

from bpe_core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from bpe_core.tokenizer.byte_pieces import BytePieces

_MOST_PIECES: Final = 1 << 17
_LONGEST: Final = 1 << 10
"""Characters of a piece that is cached."""
_ROOM: Final = 1 << 22
"""Characters plus ids of all cached pieces at most, about 60 MB; `_MOST_PIECES` long ones would be gigabytes."""


class PieceCache(dict[str, tuple[int, ...]]):
    """Piece -> ids, encoded at the first look-up; cleared when it is full.

    Raises `UnicodeEncodeError` for a piece with a surrogate in it, before which the text must be repaired and split.
    """

    __slots__ = ("_encode", "_room", "within")

    def __init__(self, vocabulary: Vocabulary, within: "BytePieces | None") -> None:
        self._encode = vocabulary.encode
        self.within = within
        """Splits the bytes of a piece again; None if they are encoded as a whole."""
        self._room = _ROOM

    def __missing__(self, piece: str) -> tuple[int, ...]:
        data = piece.encode()
        parts = self.within(data) if self.within else (data,)
        ids = tuple(chain.from_iterable(map(self._encode, parts)))
        if len(piece) <= _LONGEST:
            size = len(piece) + len(ids)
            if len(self) >= _MOST_PIECES or self._room < size:
                self.clear()
                self._room = _ROOM
            self._room -= size
            self[piece] = ids
        return ids
