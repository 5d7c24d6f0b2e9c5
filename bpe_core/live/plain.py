"""The parts of a text whose tokenizer only splits it: the tokens of a part are the tokens of its pieces, in order.

A split pattern provably never looks across a *safe cut* (see `patterns.automaton`), and whether two characters are a
safe cut depends only on these two. So a part between two safe cuts has the same tokens wherever it is.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain, zip_longest
from operator import attrgetter
from typing import Final, NamedTuple

from bpe_core import kernel
from bpe_core.common_ends import same_ends
from bpe_core.live.change import (
    GAPPED,
    Change,
    Edit,
    Part,
    PieceAt,
    Span,
    layout,
    without_gaps,
)
from bpe_core.live.giant import Gap, Giant, Mark
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import n_characters, utf8

SIZE: Final = 512
"""Characters after which a part ends at the next safe cut."""
REST: Final = 1_024
"""Characters at the end of a text that are one part."""
LONGEST: Final = 16_384 if kernel.available else 2_048
"""Characters of a part above which it is a `Giant`. An edit encodes a shorter part again, in a millisecond."""
_CACHED: Final = (
    64  # parts whose tokens and spans are cached: on a screen, or edited last
)


class PlainReader:
    """Divides texts into parts, and splits and encodes them. Its rows of tokens are arrays of one type."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self.splitter: Final = tokenizer.splitter
        self.lossy: Final = self.splitter.lossy  # whether there can be gaps
        self.local: Final = not self.splitter.source or self.splitter.blockwise
        """Whether it is known how far an edit can change the pieces. If not, the whole text is split again."""
        self.typecode: Final = GAPPED if self.lossy else "I"
        """Type code of the rows."""
        self.length: Final = _Lengths(self).__getitem__
        """Returns the number of bytes of a token or a gap."""
        self.row: Final = lru_cache(_CACHED)(self.encode)
        self.layout: Final = lru_cache(_CACHED)(self._spans_of_text)

    def read(
        self, text: str, before: None = None, behind: None = None
    ) -> "list[Part | Giant]":
        """Divide a text between two safe cuts into parts."""
        parts: list[Part | Giant] = []
        start = 0
        while start < len(text):
            end = len(text)
            if end - start > REST:
                end = self.splitter.cut(text, start + SIZE)
            parts.append(self.part(text[start:end]))
            start = end
        return parts

    def part(self, text: str) -> "Part | Giant":
        if len(text) > LONGEST:
            return Giant(self, utf8(text), len(text))
        return Part(self, text)

    def edited(
        self, old_parts: "Sequence[Part | Giant]", edit: Edit
    ) -> "tuple[list[Part | Giant], Change]":
        """Edit adjacent parts. Return the new parts, with all tokens computed, and how the tokens changed.

        Offsets count from the first part. The first and the last character of the parts must stay, except at the
        beginning and the end of the text.
        """
        has_giant = any(isinstance(part, Giant) for part in old_parts)
        n_old_bytes = sum(part.n_bytes for part in old_parts)
        giant = Giant.joined(self, old_parts) if has_giant else None
        if giant and giant.n_characters + edit.growth > LONGEST:
            edited = giant.edited(edit)
            new_parts: list[Part | Giant] = [edited.giant]
            # Compare the tokens between two marks only: those outside of them stay.
            old = _Passage.of_giant(giant, edited.start, edited.end)
        else:
            old = _Passage.of_parts(self, old_parts)
            new_parts = self.read(edit.of(old.text))
        new_row = self.joined_row(new_parts)
        n_tokens_after = len(old.whole_row) - old.last_token
        edit_in_passage = Edit(
            edit.start - old.start, edit.end - old.start, edit.replacement
        )
        change = self._change(
            old,
            new_row[old.first_token : len(new_row) - n_tokens_after],
            edit_in_passage,
            sum(part.n_bytes for part in new_parts) - n_old_bytes,
        )
        for part in new_parts:
            part.n_tokens = len(part.ids)
        return new_parts, change.moved(old.start)

    def _change(
        self, old: "_Passage", new_row: "array[int]", edit: Edit, n_bytes: int
    ) -> Change:
        """Return how the tokens of a passage changed.

        `new_row` has its tokens after the edit, whose offsets count from the passage. The text grew by `n_bytes`.
        """
        old_row = old.row
        n_first, n_last = same_ends(old_row, new_row)
        removed = old_row[n_first : len(old_row) - n_last]
        inserted = new_row[n_first : len(new_row) - n_last]
        if not removed and not inserted:
            return Change(edit.start, (), (), edit.start, n_bytes)
        text = edit.of(old.text)
        data = utf8(text)
        # Bytes of `data`: the changed tokens, and the text that was typed.
        first_byte = old.byte_at(n_first)
        last_byte = old.byte_at(len(old_row) - n_last) + n_bytes
        typed_start = len(utf8(text[: edit.start]))
        typed_end = len(utf8(text[: edit.stop]))
        # Borders may have moved farther away than the ids changed. The maps are lazy: slices would be copies.
        first_border = _next_border(
            map(old_row.__getitem__, range(n_first, len(old_row))),
            map(new_row.__getitem__, range(n_first, len(new_row))),
            self.length,
            first_byte,
            typed_start,
        )
        border_from_end = _next_border(
            map(old_row.__getitem__, range(len(old_row) - n_last - 1, -1, -1)),
            map(new_row.__getitem__, range(len(new_row) - n_last - 1, -1, -1)),
            self.length,
            len(data) - last_byte,
            len(data) - typed_end,
        )
        last_border = len(data) - border_from_end
        start = len(data[:first_byte].decode(errors="ignore"))
        return Change(
            start=start,
            removed=tuple(without_gaps(removed)),
            inserted=tuple(without_gaps(inserted)),
            stop=max(start, n_characters(data[:last_byte])),
            n_bytes=n_bytes,
            head=first_byte - len(utf8(text[:start])),
            ripple=max(0, typed_start - first_border, last_border - typed_end),
        )

    def split(self, text: str) -> list[str]:
        """Return the pieces of `text` and the gaps between them. Joined they are `text`."""
        if not self.lossy:
            return self.splitter.split(text)
        pieces: list[str] = []
        done = 0
        for start, end in self.splitter.places(text):
            pieces += Gap(text[done:start]), text[start:end]
            done = end
        pieces.append(Gap(text[done:]))
        return [piece for piece in pieces if piece]

    def ids(self, piece: str) -> Sequence[int]:
        """Return the tokens of a piece, or the negative number that represents a gap."""
        if isinstance(piece, Gap):
            return (-len(utf8(piece)),)
        return self.tokenizer.encode_piece(piece)

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token. A gap has as many zeros as it has bytes."""
        return self.tokenizer.token_bytes(token) if token >= 0 else bytes(-token)

    def encode(self, text: str) -> "array[int]":
        """Return the tokens and gaps of a text between two safe cuts."""
        if self.lossy:
            return array(GAPPED, chain.from_iterable(map(self.ids, self.split(text))))
        return self.tokenizer.encode_to_array(text)

    def joined_row(self, parts: "Sequence[Part | Giant]") -> "array[int]":
        """Return the tokens of several parts."""
        rows = [
            part.row if isinstance(part, Giant) else self.row(part.text)
            for part in parts
        ]
        if len(rows) == 1:
            return rows[0]
        return array(self.typecode, b"".join(rows))

    def tokens(self, part: Part) -> Sequence[int]:
        return without_gaps(self.row(part.text))

    def spans_of(self, part: Part, start: int, end: int) -> Sequence[Span]:
        spans = self.layout(part.text)
        first = bisect_right(spans, start, key=attrgetter("end"))
        last = bisect_left(spans, end, key=attrgetter("start"))
        return spans[first:last]

    def piece_at(
        self, parts: "Sequence[Part | Giant]", index: int, offset: int
    ) -> PieceAt:
        """Return the piece at `offset` of `parts[index]`. Offsets are relative to that part."""
        part = parts[index]
        if isinstance(part, Giant):
            first_byte, last_byte = part.ends.around(len(utf8(part.between(0, offset))))
            start = n_characters(part.data[:first_byte])
            end = n_characters(part.data[:last_byte])
        else:
            ends = list(accumulate(map(len, self.split(part.text)), initial=0))
            piece = bisect_right(ends, offset)
            start = ends[piece - 1]
            end = ends[piece]
        return PieceAt(start, end, part.between(start, end))

    def _spans_of_text(self, text: str) -> tuple[Span, ...]:
        return self.spans(text, self.row(text))

    def spans(self, text: str, row: "array[int]") -> tuple[Span, ...]:
        """Return the spans of a text with these tokens, without its gaps."""
        spans = layout(text, row, self.token_bytes)
        if not self.lossy:
            return spans
        return tuple(span for span in spans if span.ids[0] >= 0)


class _Passage(NamedTuple):
    """The stretch of adjacent parts whose tokens an edit may change."""

    text: str
    start: int  # code points of the parts before it
    whole_row: "array[int]"  # the tokens of all parts
    first_token: int  # index in `whole_row`
    last_token: int  # index after the last token
    byte_of_token: Callable[[int], int]  # index in `whole_row` -> byte of the passage

    @classmethod
    def of_parts(
        cls, reader: PlainReader, parts: "Sequence[Part | Giant]"
    ) -> "_Passage":
        row = reader.joined_row(parts)
        return cls(
            text="".join([part.text for part in parts]),
            start=0,
            whole_row=row,
            first_token=0,
            last_token=len(row),
            byte_of_token=lambda token: sum(map(reader.length, row[:token])),
        )

    @classmethod
    def of_giant(cls, giant: Giant, start: Mark, end: Mark) -> "_Passage":
        return cls(
            text=giant.between(start.characters, end.characters),
            start=start.characters,
            whole_row=giant.row,
            first_token=start.tokens,
            last_token=end.tokens,
            byte_of_token=lambda token: giant.byte_at(token) - start.bytes,
        )

    @property
    def row(self) -> "array[int]":
        """Its tokens."""
        return self.whole_row[self.first_token : self.last_token]

    def byte_at(self, token: int) -> int:
        """Return the byte of the passage at which one of its tokens begins."""
        return self.byte_of_token(self.first_token + token)


class _Lengths(dict[int, int]):
    """How many bytes tokens have. Twice as fast as a cached function; an edit may need a hundred thousand."""

    def __init__(self, reader: PlainReader) -> None:
        self._reader: Final = reader

    def __missing__(self, token: int) -> int:
        return self.setdefault(token, len(self._reader.token_bytes(token)))


def _next_border(
    one: Iterable[int],
    other: Iterable[int],
    length: Callable[[int], int],
    start: int,
    limit: int,
) -> int:
    """Return the first border that only one of two rows of tokens has; at most `limit`. Both rows begin at `start`."""

    def borders(row: Iterable[int]) -> Iterator[int]:
        return accumulate(map(length, row), initial=start)

    for border, other_border in zip_longest(
        borders(one), borders(other), fillvalue=limit
    ):
        if border != other_border or border >= limit:
            return min(border, other_border, limit)
    return limit
