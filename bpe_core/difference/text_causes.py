"""Find the part of two tokenizers that makes them encode a stretch of a text differently."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from bpe_core.cached import cached_property
from bpe_core.difference.stretches import Stretch
from bpe_core.difference.surroundings import added_tokens
from bpe_core.live.change import PieceAt
from bpe_core.metrics.boundaries import EncodedText
from bpe_core.metrics.text_parts import drops_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, utf8
from bpe_core.vocabulary.symbols import CharacterSymbols


class CausesInPart:
    """Finds the causes of differences in a part of a text."""

    def __init__(
        self, tokenizers: tuple[Tokenizer, Tokenizer], a: EncodedText, b: EncodedText
    ) -> None:
        """`a` and `b` are the part as both tokenizers encode it."""
        first, second = tokenizers
        self._text: Final = a.data.decode()
        self._offsets: Final = byte_offsets(self._text)
        self._a: Final = _Side(first, self._text, a)
        self._b: Final = _Side(second, self._text, b)
        self._split_drops_text: Final = drops_text(first) or drops_text(second)

    def of(self, stretch: Stretch) -> str:
        """Return the cause of a difference, one of `PARTS`."""
        tokens_of_a = self._a.tokens(stretch.a)
        tokens_of_b = self._b.tokens(stretch.b)
        has_added = self._a.has_added(stretch.a) or self._b.has_added(stretch.b)
        if tokens_of_a == tokens_of_b and not has_added:
            return "ids"
        cause = self._cause_before_merging(stretch)
        if cause:
            return cause
        if self._a.has_unknown(stretch.a) or self._b.has_unknown(stretch.b):
            return "byte fallback"
        if not (self._b.has_all(tokens_of_a) and self._a.has_all(tokens_of_b)):
            return "vocabulary"
        if b"".join(tokens_of_a) != b"".join(tokens_of_b):
            return "normalizer"  # it adds text before the next piece
        return "merges"

    def _cause_before_merging(self, stretch: Stretch) -> str:
        """Return why the pieces around a stretch are different; "" if they are the same."""
        start = bisect_right(self._offsets, stretch.start) - 1
        end = bisect_left(self._offsets, stretch.end)
        first = self._shared_borders[bisect_right(self._shared_borders, start) - 1]
        last = self._shared_borders[bisect_left(self._shared_borders, end)]
        a = self._a.pieces_between(first, last)
        b = self._b.pieces_between(first, last)
        pieces = a + b
        if any(not piece.prepared_text for piece in pieces):
            return "added tokens"
        texts_of_a = [piece.prepared_text for piece in a]
        texts_of_b = [piece.prepared_text for piece in b]
        if "".join(texts_of_a) != "".join(texts_of_b) and (
            not self._split_drops_text or any(map(self._is_changed, pieces))
        ):
            return "normalizer"
        if self._a.encoded_parts(texts_of_a) != self._b.encoded_parts(texts_of_b):
            return "split pattern"
        return ""

    @cached_property
    def _shared_borders(self) -> list[int]:
        """The places at which both have a border between two pieces, and the ends of the text."""
        shared = self._a.borders & self._b.borders
        return sorted(shared | {0, len(self._text)})

    def _is_changed(self, piece: PieceAt) -> bool:
        """Whether a piece is not encoded as it is written in the text."""
        return piece.prepared_text != self._text[piece.start : piece.end]


class _Side:
    """One of the two tokenizers, and the pieces of the part in it."""

    def __init__(self, tokenizer: Tokenizer, text: str, encoded: EncodedText) -> None:
        self._tokenizer: Final = tokenizer
        self._text: Final = text
        self._alignment: Final = encoded.alignment
        self._added: Final = {
            text: token.token
            for text, token in added_tokens(tokenizer).items()
            if not token.special
        }
        """The added tokens that are found in any text, with their ids."""
        self._added_ids: Final = frozenset(self._added.values())

    def tokens(self, ids: Iterable[int]) -> list[bytes]:
        return list(map(self._tokenizer.token_bytes, ids))

    def has_added(self, ids: Sequence[int]) -> bool:
        return not self._added_ids.isdisjoint(ids)

    def has_all(self, tokens: Iterable[bytes]) -> bool:
        """Whether the vocabulary has tokens with these bytes."""
        return all(token in self._tokenizer.vocabulary.id_by_bytes for token in tokens)

    def has_unknown(self, ids: Sequence[int]) -> bool:
        symbols = self._tokenizer.vocabulary._symbols
        return isinstance(symbols, CharacterSymbols) and symbols.unknown in ids

    @cached_property
    def _pieces(self) -> list[PieceAt]:
        if self._alignment and not self._tokenizer.by_piece:
            return self._alignment.pieces
        pieces = []
        for start, end in self._tokenizer.splitter.places(self._text):
            piece = self._text[start:end]
            pieces.append(PieceAt(start, end, "" if piece in self._added else piece))
        return pieces

    @cached_property
    def _ends(self) -> list[int]:
        return [piece.end for piece in self._pieces]

    @cached_property
    def borders(self) -> set[int]:
        """The places in the text at which a piece begins or ends."""
        return {piece.start for piece in self._pieces}.union(self._ends)

    def pieces_between(self, start: int, end: int) -> list[PieceAt]:
        """Return the pieces between two borders."""
        first = bisect_right(self._ends, start)
        last = bisect_right(self._ends, end)
        return self._pieces[first:last]

    def encoded_parts(self, pieces: Iterable[str]) -> list[bytes]:
        """Return the byte strings that are encoded separately."""
        parts = [utf8(piece) for piece in pieces]
        preparation = self._tokenizer.preparation
        if preparation is None or preparation.within is None:
            return parts
        return [part for piece in parts for part in preparation.within(piece)]
