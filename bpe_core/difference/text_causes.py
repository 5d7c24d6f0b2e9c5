"""Find the stretches of a text that two tokenizers, A and B, encode differently, and the part of them that causes each."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from bpe_core.difference.surroundings import added_tokens
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import PieceAt
from bpe_core.metrics.boundaries import EncodedText
from bpe_core.metrics.text_parts import drops_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, utf8


class Stretch(NamedTuple):
    """A part of a text between neighboring offsets at which both tokenizers have a boundary."""

    start: int  # offset in bytes
    end: int
    a: tuple[int, ...]
    b: tuple[int, ...]


class TextCauses:
    """Finds the differences in texts, and the cause of each, which is the first of these that applies:

    - "added tokens": one of its pieces is an added token in A or B;
    - "ids": the tokens have the same bytes, and only their ids differ;
    - "normalizer": the texts of the pieces differ, and not only because a split drops some text;
    - "split pattern": the pieces differ;
    - "byte fallback": an unknown token is in it;
    - "vocabulary": a token exists only in A or only in B;
    - "merges": both have all tokens, but merge them differently.

    The pieces are those between the nearest places before and after it where both have a border between two pieces.
    """

    def __init__(self, a: Tokenizer, b: Tokenizer) -> None:
        self._a: Final = a
        self._b: Final = b
        self._added: Final = {""} | {
            token.text
            for tokenizer in (a, b)
            for token in added_tokens(tokenizer).values()
            if not token.special
        }
        self._split_drops_text: Final = drops_text(a) or drops_text(b)
        tokens_of_b = b.vocabulary.id_by_bytes.keys()
        self._shared_tokens: Final = a.vocabulary.id_by_bytes.keys() & tokens_of_b

    def in_part(self, a: EncodedText, b: EncodedText) -> Iterator[tuple[Stretch, str]]:
        """Yield the differences in a part of a text, in order, and the cause of each, one of `PARTS`."""
        text = a.data.decode()
        offsets = byte_offsets(text)
        pieces_of_a = _pieces(self._a, text, a.alignment)
        pieces_of_b = _pieces(self._b, text, b.alignment)
        shared = _borders(pieces_of_a) & _borders(pieces_of_b)
        borders = sorted(shared | {0, len(text)})
        for stretch in differences(a, b):
            start = bisect_right(offsets, stretch.start) - 1
            end = bisect_left(offsets, stretch.end)
            start = borders[bisect_right(borders, start) - 1]
            end = borders[bisect_left(borders, end)]
            around_in_a = _between(pieces_of_a, start, end)
            around_in_b = _between(pieces_of_b, start, end)
            yield stretch, self._cause(text, stretch, around_in_a, around_in_b)

    def _cause(
        self,
        text: str,
        stretch: Stretch,
        pieces_of_a: Sequence[PieceAt],
        pieces_of_b: Sequence[PieceAt],
    ) -> str:
        texts_of_a = [piece.prepared_text for piece in pieces_of_a]
        texts_of_b = [piece.prepared_text for piece in pieces_of_b]
        # `self._added` contains "", which is the text of an added token in an `Alignment`.
        if not self._added.isdisjoint(texts_of_a + texts_of_b):
            return "added tokens"
        tokens_of_a = list(map(self._a.token_bytes, stretch.a))
        tokens_of_b = list(map(self._b.token_bytes, stretch.b))
        if tokens_of_a == tokens_of_b:
            return "ids"
        if "".join(texts_of_a) != "".join(texts_of_b):
            is_changed = any(
                piece.prepared_text != text[piece.start : piece.end]
                for piece in chain(pieces_of_a, pieces_of_b)
            )
            if is_changed or not self._split_drops_text:
                return "normalizer"
        if _split_again(self._a, texts_of_a) != _split_again(self._b, texts_of_b):
            return "split pattern"
        unknown_of_a = self._a.vocabulary._symbols.unknown
        unknown_of_b = self._b.vocabulary._symbols.unknown
        if unknown_of_a in stretch.a or unknown_of_b in stretch.b:
            return "byte fallback"
        if not self._shared_tokens.issuperset(tokens_of_a + tokens_of_b):
            return "vocabulary"
        if b"".join(tokens_of_a) != b"".join(tokens_of_b):
            # The pieces are equal. So one of the normalizers adds text before the next piece.
            return "normalizer"
        return "merges"


def differences(a: EncodedText, b: EncodedText) -> Iterator[Stretch]:
    """Yield the stretches of a text with different ids, in order.

    A token that covers no byte, such as a space that is added before the text, belongs to the stretch
    that ends at its place, or to the first one.
    """
    shared_ends = set(a.ends).intersection(b.ends)
    for start, end in pairwise(sorted(shared_ends | {0, len(a.data)})):
        ids_of_a = a.tokens(start, end)
        ids_of_b = b.tokens(start, end)
        if ids_of_a != ids_of_b:
            yield Stretch(start, end, tuple(ids_of_a), tuple(ids_of_b))


def _pieces(
    tokenizer: Tokenizer, text: str, alignment: Alignment | None
) -> list[PieceAt]:
    if alignment:
        return alignment.pieces
    places = tokenizer.splitter.places(text)
    return [PieceAt(start, end, text[start:end]) for start, end in places]


def _borders(pieces: Sequence[PieceAt]) -> set[int]:
    return {place for piece in pieces for place in (piece.start, piece.end)}


def _between(pieces: Sequence[PieceAt], start: int, end: int) -> Sequence[PieceAt]:
    """Return the pieces between two borders."""
    first = bisect_right(pieces, start, key=attrgetter("end"))
    last = bisect_right(pieces, end, key=attrgetter("end"))
    return pieces[first:last]


def _split_again(tokenizer: Tokenizer, pieces: Sequence[str]) -> list[bytes]:
    """Return the byte strings that are encoded separately: pieces, or parts of them if their bytes are split, too."""
    parts = [utf8(piece) for piece in pieces]
    preparation = tokenizer.preparation
    if preparation and preparation.within:
        return [part for piece in parts for part in preparation.within(piece)]
    return parts
