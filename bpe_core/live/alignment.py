"""Find the characters that each token covers, for tokenizers that change a text before they encode it.

The bytes of such a token are not those of the text: spaces are added, letters become lowercase, accents are composed, the
end of a word gets a marker. A `SourceMap` records which characters became which, and maps tokens back to the characters
they came from. A token without any, such as a space added before the text, has an empty range.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from bpe_core.cached import cached_property
from bpe_core.live.change import Cut, PieceAt, Span
from bpe_core.patterns.expression import enough_for, patience
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.normalizers import SourceMap
from bpe_core.tokenizer.preparation import (
    METASPACE,
    FoundPart,
    Passage,
    PlacedPiece,
    PrefixStep,
    Preparation,
    SplitStep,
)
from bpe_core.utf8 import byte_offsets, utf8

Range = tuple[int, int]
"""(start, end) in the original text, in code points."""


@dataclass(slots=True)
class _EncodedPiece:
    """A piece of the prepared text, or an added token, with its ids."""

    prepared: PlacedPiece
    ids: tuple[int, ...]
    is_added: bool  # whether it is an added token, which is not encoded


class _MeetingSpan(NamedTuple):
    """A span, and the characters by which it meets a range: at least one, even if the span itself is empty."""

    span: Span
    start: int
    end: int


class Alignment:
    """The tokens of a text, or of a part of one, and the characters that each covers.

    The text holds no surrogate. Special tokens in it are encoded as ordinary text.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        text: str,
        before: Cut | None = None,
        behind: Cut | None = None,
    ) -> None:
        """Encode the text.

        Args:
            tokenizer: Usually one with a preparation.
            text: The text, or a part of one.
            before: The kind of cut before it; None at the beginning of the whole text.
            behind: The kind of cut after it; None at the end of the whole text.

        Raises:
            UnknownTokenError: A character has no token.
            PatternError: The pattern takes too long.
        """
        self.tokenizer: Final = tokenizer
        self.text: Final = text
        self._map: Final = SourceMap()
        self._pieces: Final[list[_EncodedPiece]] = []
        preparation = tokenizer.preparation
        if preparation is None:
            preparation = Preparation((), None, (SplitStep(tokenizer.splitter),))
        with patience(enough_for(len(text))):
            self._prepare(preparation, before is None, behind is None)
        # A part of a piece must not be looked up as a whole piece.
        if before is Cut.INSIDE:
            self._merge_again(self._pieces[0])
        if behind is Cut.INSIDE:
            self._merge_again(self._pieces[-1])

    def _merge_again(self, piece: _EncodedPiece) -> None:
        piece.ids = self.tokenizer.vocabulary.join(utf8(piece.prepared.text))

    def _prepare(self, preparation: Preparation, begins: bool, ends: bool) -> None:
        """Prepare and encode the text. `begins`, `ends`: whether it is at the beginning and at the end of the whole text."""

        def normalize(part: str, place: FoundPart) -> str:
            if place.token is not None or preparation.normalize is None:
                return self._map.add(part, ())
            starts_text = begins or place.start > 0
            ends_text = ends or place.end < len(self.text)
            rules = [
                rule.part(starts_text, ends_text) for rule in preparation.normalize
            ]
            return self._map.add(part, rules)

        is_first = begins
        for passage in preparation.passages(
            self.text, frozenset(), normalize, starts=begins
        ):
            if passage.token is None:
                for piece in _split(preparation, passage, is_first):
                    ids = self.tokenizer.encode_piece(piece.text)
                    self._pieces.append(_EncodedPiece(piece, ids, is_added=False))
            else:
                added = PlacedPiece(passage.text, passage.start)
                ids = (passage.token,)
                self._pieces.append(_EncodedPiece(added, ids, is_added=True))
                is_first = False

    @property
    def ids(self) -> list[int]:
        return list(chain.from_iterable(piece.ids for piece in self._pieces))

    def spans(self, start: int, end: int) -> list[Span]:
        """Return the spans that meet a range of characters. They may reach beyond the range.

        A span may be empty: its tokens cover no character. It meets a range that holds the character after it or, if it
        is at the end of a piece or of the text, the character before it.
        """
        first = bisect_right(self._spans, start, key=attrgetter("end"))
        last = bisect_left(self._spans, end, key=attrgetter("start"))
        return [meeting.span for meeting in self._spans[first:last]]

    @cached_property
    def _spans(self) -> list[_MeetingSpan]:
        spans: list[_MeetingSpan] = []
        for piece, piece_range, token_ranges in zip(
            self._pieces, self._piece_ranges, self._token_ranges, strict=True
        ):
            for token, (start, end) in zip(piece.ids, token_ranges, strict=True):
                if spans and start < spans[-1].span.end:
                    # The token shares a character with the one before, so both are in one span.
                    before = spans.pop().span
                    end = max(end, before.end)
                    span = Span(before.start, end, (*before.ids, token))
                    spans.append(_MeetingSpan(span, before.start, end))
                    continue
                span = Span(start, end, (token,))
                if start < end:
                    spans.append(_MeetingSpan(span, start, end))
                else:
                    ends_piece = piece_range[0] < start or start == len(self.text)
                    character = start - 1 if ends_piece else start
                    spans.append(_MeetingSpan(span, character, character + 1))
        return spans

    @cached_property
    def _piece_ranges(self) -> list[Range]:
        """The characters that each piece came from."""
        ranges: list[Range] = []
        for piece in self._pieces:
            text, start, n_inserted = piece.prepared
            ranges.append(self._map.before(start, start + len(text) - n_inserted))
        return ranges

    @cached_property
    def _token_ranges(self) -> list[list[Range]]:
        """For each token of each piece, the characters of the text that it covers, even partially."""
        found: list[list[Range]] = []
        for piece, piece_range in zip(self._pieces, self._piece_ranges, strict=True):
            if len(piece.ids) == 1:
                found.append([piece_range])
            else:
                # Text that was dropped after the piece does not belong to its last token.
                limit = piece_range[1]
                ranges = self._ranges_in(piece)
                found.append([(min(a, limit), min(b, limit)) for a, b in ranges])
        return found

    def _ranges_in(self, piece: _EncodedPiece) -> Iterator[Range]:
        text, piece_start, n_inserted = piece.prepared
        for start_in_piece, end_in_piece in _shares(text, piece.ids, self.tokenizer):
            start = piece_start + max(0, start_in_piece - n_inserted)
            end = piece_start + max(0, end_in_piece - n_inserted)
            if start < end or start == piece_start:
                yield self._map.before(start, end)
            else:
                # A token without a character, such as a marker, comes after the character before it.
                place = self._map.before(start - 1, end)[1]
                yield place, place

    def piece_at(self, offset: int) -> PieceAt | None:
        """Return the piece that holds a character; None if no piece does."""
        index = bisect_right(self._piece_ranges, offset, key=lambda place: place[1])
        if index == len(self._pieces):
            return None
        piece = self._piece(index)
        return None if piece.start > offset else piece

    @property
    def pieces(self) -> list[PieceAt]:
        """The pieces of the text, in order."""
        return list(map(self._piece, range(len(self._pieces))))

    def _piece(self, index: int) -> PieceAt:
        piece = self._pieces[index]
        start, end = self._piece_ranges[index]
        return PieceAt(start, end, "" if piece.is_added else piece.prepared.text)

    @property
    def places(self) -> list[Range]:
        """The characters that each token covers, even partially."""
        return list(chain.from_iterable(self._token_ranges))


def _split(
    preparation: Preparation, passage: Passage, is_first: bool
) -> list[PlacedPiece]:
    """Apply the steps to a text. Nothing is inserted before it if it does not start there."""
    pieces = [PlacedPiece(passage.text, passage.start)]
    was_split = False
    for step in preparation.steps:
        if isinstance(step, SplitStep):
            was_split = True
        inserts_at_start = isinstance(step, PrefixStep) and not was_split
        if passage.starts or not inserts_at_start:
            pieces = step.placed(pieces, is_first)
    if not preparation.has_metaspace:
        return pieces
    return [piece._replace(text=piece.text.replace(METASPACE, " ")) for piece in pieces]


def _shares(piece: str, ids: Sequence[int], tokenizer: Tokenizer) -> list[Range]:
    """Return the characters of a prepared piece that each of its tokens covers, even partially.

    An unknown token covers a run of characters that have no token, or one character if the next token is unknown too.
    An end-of-word marker covers none. If the tokens cannot be matched with the piece, each token covers all of it.
    """
    data = utf8(piece)
    starts = list(byte_offsets(piece))
    all_of_piece = [(0, len(piece))] * len(ids)
    ranges: list[Range] = []
    byte = 0
    for token, next_token in pairwise([*ids, None]):
        assert token is not None
        token_bytes = tokenizer.token_bytes(token)
        first = bisect_right(starts, byte) - 1
        begins_at_character = starts[first] == byte < len(data)
        is_last = next_token is None
        if begins_at_character and _is_unknown(piece[first], token, tokenizer):
            last = first + 1
            # If the next token is unknown too, each unknown character has its own token.
            if next_token != token:
                while last < len(piece) and _is_unknown(piece[last], token, tokenizer):
                    last += 1
            end = starts[last]
        elif data.startswith(token_bytes, byte):
            end = byte + len(token_bytes)
        elif is_last and token_bytes.startswith(data[byte:]):  # it ends with a marker
            end = len(data)
        else:
            return all_of_piece
        ranges.append((first, bisect_left(starts, end)))
        byte = end
    return ranges if byte == len(data) else all_of_piece


def _is_unknown(character: str, token: int, tokenizer: Tokenizer) -> bool:
    """Whether `token` is the unknown token, for this character."""
    data = utf8(character)
    if tokenizer.vocabulary.symbols(data) != [token]:
        return False
    return tokenizer.token_bytes(token) != data
