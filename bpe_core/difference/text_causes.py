"""Find the part of two tokenizers that makes them encode a stretch of a text differently."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from bpe_core.difference.stretches import Stretch
from bpe_core.difference.surroundings import added_tokens
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import Cut, PieceAt
from bpe_core.metrics.text_parts import TextPart, drops_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, utf8
from bpe_core.vocabulary.symbols import CharacterSymbols

_LONGEST_CACHED: Final = 64  # characters of a window
_MOST_CACHED: Final = 1 << 14  # windows


class CauseFinder:
    """Finds the part of two tokenizers that makes their ids of a stretch different."""

    def __init__(
        self, a: Tokenizer, b: Tokenizer, cut_at: Callable[[str], Sequence[Cut]]
    ) -> None:
        """`cut_at`: two adjacent characters -> the kind of cut of each tokenizer between them."""
        self.tokenizers: Final = (a, b)
        self.added: Final = [_added_tokens(tokenizer) for tokenizer in (a, b)]
        """For each tokenizer, the texts of the added tokens that are found in any text, with their ids."""
        self.split_drops_text: Final = drops_text(a) or drops_text(b)
        self._added_ids: Final = [frozenset(added.values()) for added in self.added]
        self._cut_at: Final = cut_at
        # Text is repetitive: most windows and most pairs of token lists occur many times.
        self.may_cut: Final = cache(self._may_cut)
        self.pieces_of: Final = lru_cache(_MOST_CACHED)(self._pieces_of)
        self.only_ids_differ: Final = lru_cache(_MOST_CACHED)(self._only_ids_differ)

    def _may_cut(self, pair: str) -> bool:
        """Whether both split every text between two adjacent characters."""
        return self._cut_at(pair) == (Cut.PIECES, Cut.PIECES)

    def _pieces_of(self, text: str) -> "_PiecesOfBoth":
        """Return the pieces of a window at whose ends both split every text."""
        between_pieces = (Cut.PIECES, Cut.PIECES)
        return _PiecesOfBoth(self, text, between_pieces, between_pieces)

    def _only_ids_differ(self, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        """Whether ids of A and of B have the same bytes, token by token, and none is an added token."""
        added_of_a, added_of_b = self._added_ids
        if not (added_of_a.isdisjoint(a) and added_of_b.isdisjoint(b)):
            return False
        first, second = self.tokenizers
        return list(map(first.token_bytes, a)) == list(map(second.token_bytes, b))

    def cause_of_tokens(self, stretch: Stretch) -> str:
        """Return why both encode the same pieces to tokens with other bytes."""
        a, b = self.tokenizers
        if _has_unknown(a, stretch.a) or _has_unknown(b, stretch.b):
            return "byte fallback"
        tokens_of_a = list(map(a.token_bytes, stretch.a))
        tokens_of_b = list(map(b.token_bytes, stretch.b))
        if not (_has_all(b, tokens_of_a) and _has_all(a, tokens_of_b)):
            return "vocabulary"
        if b"".join(tokens_of_a) != b"".join(tokens_of_b):
            return "normalizer"  # it adds text before the next piece
        return "merges"


def _added_tokens(tokenizer: Tokenizer) -> dict[str, int]:
    """Return the added tokens that are found in any text: text -> id."""
    return {
        text: token.token
        for text, token in added_tokens(tokenizer).items()
        if not token.special
    }


def _has_all(tokenizer: Tokenizer, tokens: Iterable[bytes]) -> bool:
    """Whether a tokenizer has tokens with these bytes."""
    return all(token in tokenizer.vocabulary.id_by_bytes for token in tokens)


def _has_unknown(tokenizer: Tokenizer, ids: Sequence[int]) -> bool:
    symbols = tokenizer.vocabulary._symbols
    return isinstance(symbols, CharacterSymbols) and symbols.unknown in ids


class CausesInPart:
    """Finds the causes of differences in a part of a text, which come in order.

    Only small windows around the differences are split into pieces.
    """

    def __init__(self, finder: CauseFinder, part: TextPart) -> None:
        self._finder: Final = finder
        self._part: Final = part
        self._offsets: Final = byte_offsets(part.text)
        self._start = 0  # of the window, in characters
        self._end = 0
        self._pieces: _PiecesOfBoth | None = None

    def of(self, stretch: Stretch) -> str:
        """Return the cause of a difference, one of `PARTS`."""
        if self._finder.only_ids_differ(stretch.a, stretch.b):
            return "ids"
        start = bisect_right(self._offsets, stretch.start) - 1
        end = bisect_left(self._offsets, stretch.end)
        pieces = self._pieces_around(start, end)
        cause = pieces.cause(start - self._start, end - self._start)
        return cause or self._finder.cause_of_tokens(stretch)

    def _pieces_around(self, start: int, end: int) -> "_PiecesOfBoth":
        """Return the pieces of the smallest window around a range of characters."""
        if self._pieces is not None and start < self._end:
            return self._pieces  # no difference crosses the end of a window
        text = self._part.text
        may_cut = self._finder.may_cut
        first = start
        while first > self._end and not may_cut(text[first - 1 : first + 1]):
            first -= 1
        self._start = first
        last = end
        while last < len(text) and not may_cut(text[last - 1 : last + 1]):
            last += 1
        self._end = last
        self._pieces = self._pieces_between(self._start, last)
        return self._pieces

    def _pieces_between(self, start: int, end: int) -> "_PiecesOfBoth":
        part = self._part
        text = part.text[start:end]
        is_inside = start > 0 and end < len(part.text)
        if is_inside and len(text) <= _LONGEST_CACHED:
            return self._finder.pieces_of(text)
        between_pieces = (Cut.PIECES, Cut.PIECES)
        return _PiecesOfBoth(
            self._finder,
            text,
            before=between_pieces if start else part.before,
            behind=between_pieces if end < len(part.text) else part.behind,
        )


class _PiecesOfBoth:
    """The pieces of a window in both tokenizers."""

    def __init__(
        self,
        finder: CauseFinder,
        text: str,
        before: Sequence[Cut | None],
        behind: Sequence[Cut | None],
    ) -> None:
        """`before` and `behind` are the kinds of cut of A and B at the ends of the window."""
        self._text: Final = text
        self._split_drops_text: Final = finder.split_drops_text
        a, b = (
            _Pieces(tokenizer, added, text, cut_before, cut_behind)
            for tokenizer, added, cut_before, cut_behind in zip(
                finder.tokenizers, finder.added, before, behind, strict=True
            )
        )
        self._a: Final = a
        self._b: Final = b
        self._shared: Final = sorted((a.borders & b.borders) | {0, len(text)})
        """The places at which both have a border between two pieces, and the ends of the window."""

        self.cause: Final = cache(self._cause)

    def _cause(self, start: int, end: int) -> str | None:
        """Return the cause of a difference in this range; None if both encode the same pieces there."""
        first = self._shared[bisect_right(self._shared, start) - 1]
        last = self._shared[bisect_left(self._shared, end)]
        a = self._a.within(first, last)
        b = self._b.within(first, last)
        both = (*a, *b)
        if any(not piece.prepared_text for piece in both):
            return "added tokens"
        text_of_a = "".join(piece.prepared_text for piece in a)
        text_of_b = "".join(piece.prepared_text for piece in b)
        if text_of_a != text_of_b and (
            not self._split_drops_text or any(map(self._is_changed, both))
        ):
            return "normalizer"
        if self._a.encoded(a) != self._b.encoded(b):
            return "split pattern"
        return None

    def _is_changed(self, piece: PieceAt) -> bool:
        """Whether a piece is not encoded as it is written in the text."""
        return piece.prepared_text != self._text[piece.start : piece.end]


class _Pieces:
    """The pieces of a window in one tokenizer."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        added: Container[str],
        text: str,
        before: Cut | None,
        behind: Cut | None,
    ) -> None:
        if tokenizer.by_piece:
            pieces = []
            for start, end in tokenizer.splitter.places(text):
                piece = text[start:end]
                pieces.append(PieceAt(start, end, "" if piece in added else piece))
        else:
            pieces = Alignment(tokenizer, text, before, behind).pieces
        self._pieces: Final = pieces
        self._ends: Final = [piece.end for piece in pieces]
        preparation = tokenizer.preparation
        self._within: Final = preparation.within if preparation else None
        self.borders: Final = {piece.start for piece in pieces} | set(self._ends)

    def within(self, start: int, end: int) -> list[PieceAt]:
        """Return the pieces between two borders."""
        first = bisect_right(self._ends, start)
        last = bisect_right(self._ends, end)
        return self._pieces[first:last]

    def encoded(self, pieces: Sequence[PieceAt]) -> list[bytes]:
        """Return the byte strings that are encoded separately."""
        texts = [utf8(piece.prepared_text) for piece in pieces]
        if self._within is None:
            return texts
        return [part for text in texts for part in self._within(text)]
