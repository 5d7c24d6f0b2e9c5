"""Find the stretches of a text that two tokenizers encode differently, and the part of them that causes each."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from bpe_core.difference.surroundings import added_tokens
from bpe_core.live.alignment import Alignment
from bpe_core.live.change import Cut, PieceAt
from bpe_core.metrics.boundaries import EncodedText
from bpe_core.metrics.text_parts import TextPart, drops_text
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import byte_offsets, utf8
from bpe_core.vocabulary.symbols import CharacterSymbols

_LONGEST_RUN: Final = 1 << 12
"""Maximum number of tokens that are compared at once."""
_LONGEST_CACHED: Final = 64  # characters of a window
_MOST_CACHED: Final = 1 << 14  # windows


class Stretch(NamedTuple):
    """A part of a text between neighboring offsets at which both tokenizers have a boundary."""

    start: int  # offset in bytes
    end: int
    a: tuple[int, ...]
    b: tuple[int, ...]


def differences(a: EncodedText, b: EncodedText) -> Iterator[Stretch]:
    """Yield the stretches of a text with different ids, in order. Takes O(n) time for n tokens.

    A token that covers no byte, such as a space that is added before the text, belongs to the stretch
    that ends at its place, or to the first one.
    """
    n_a = 0  # tokens of A before the next stretch
    n_b = 0
    start = 0
    while n_a < len(a.ids) or n_b < len(b.ids):
        n_equal = _n_equal_tokens(a, b, n_a, n_b)
        if n_equal:
            n_a += n_equal
            n_b += n_equal
            start = a.ends[n_a - 1]
            continue
        end_a = n_a
        end_b = n_b
        end = _next_shared_end(a, b, n_a, n_b, start)
        while end_a < len(a.ids) and a.ends[end_a] <= end:
            end_a += 1
        while end_b < len(b.ids) and b.ends[end_b] <= end:
            end_b += 1
        ids_of_a = tuple(a.ids[n_a:end_a])
        ids_of_b = tuple(b.ids[n_b:end_b])
        if ids_of_a != ids_of_b:
            yield Stretch(start, end, ids_of_a, ids_of_b)
        n_a = end_a
        n_b = end_b
        start = end


def _n_equal_tokens(a: EncodedText, b: EncodedText, n_a: int, n_b: int) -> int:
    """Return how many tokens are equal from `n_a` and `n_b` on, up to a boundary of both.

    Runs of tokens are compared: twice as many after each equal run, then half as many after each other one.
    """
    n_equal = 0
    size = 1
    is_growing = True
    while size:
        from_a = n_a + n_equal
        from_b = n_b + n_equal
        has_run = from_a + size <= len(a.ids) and from_b + size <= len(b.ids)
        if (
            has_run
            and a.ids[from_a : from_a + size] == b.ids[from_b : from_b + size]
            and a.ends[from_a : from_a + size] == b.ends[from_b : from_b + size]
        ):
            n_equal += size
            if is_growing and size < _LONGEST_RUN:
                size *= 2
        else:
            is_growing = False
            size //= 2
    # The run has to end at a boundary, after all tokens that end there.
    while n_equal and not (
        _is_boundary(a, n_a + n_equal) and _is_boundary(b, n_b + n_equal)
    ):
        n_equal -= 1
    return n_equal


def _is_boundary(text: EncodedText, n: int) -> bool:
    """Whether the first `n` tokens cover a part of the text, and the next one covers more."""
    end = text.ends[n - 1]
    return end > 0 and (n == len(text.ids) or text.ends[n] > end)


def _next_shared_end(
    a: EncodedText, b: EncodedText, n_a: int, n_b: int, start: int
) -> int:
    """Return the first offset after `start` at which both have a boundary, or else the end of the text."""
    while n_a < len(a.ids) and n_b < len(b.ids):
        end_a = a.ends[n_a]
        end_b = b.ends[n_b]
        if end_a == end_b and end_a > start:
            return end_a
        if end_a <= end_b:
            n_a += 1
        if end_b <= end_a:
            n_b += 1
    return len(a.data)


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
