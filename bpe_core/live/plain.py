"""The parts of a text whose tokenizer only splits it: their tokens are those of their pieces, one after the other.

A split pattern is proved to look across no *safe cut* (see `patterns.automaton`), and whether two characters are
one depends on nothing but the two. So a part between two safe cuts has the same tokens wherever it stands.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, zip_longest
from operator import attrgetter
from typing import Final

from bpe_core import kernel
from bpe_core.common_ends import same_ends
from bpe_core.live.change import GAPPED, Change, Edit, Part, Span, layout, without_gaps
from bpe_core.live.giant import Gap, Giant
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import n_characters, utf8

SIZE: Final = 512  # characters after which a part ends at the next safe cut
REST: Final = 1_024  # characters at the end of a text, or of what is read of one, that are one part
LONGEST: Final = 16_384 if kernel.available else 2_048
"""Characters of a part above which it is a `Giant`; a shorter one is encoded anew at each edit, in a millisecond."""
_CACHED: Final = 64  # parts of which the tokens and spans are cached: those on a screen, and those edited lately


class PlainReader:
    """Divides texts into parts, and splits and encodes them; its rows of tokens are arrays of one type."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Final = tokenizer
        self.splitter: Final = tokenizer.splitter
        self.lossy: Final = self.splitter.lossy  # whether there can be gaps
        self.local: Final = not self.splitter.source or self.splitter.blockwise
        """Whether it is known how far an edit can change the pieces; if not, all of the text is split again."""
        self.typecode: Final = GAPPED if self.lossy else "I"  # of the rows
        self.length: Final = _Lengths(self).__getitem__  # token or gap -> its bytes
        self.row: Final = lru_cache(_CACHED)(self.encode)  # `encode`, cached
        self.layout: Final = lru_cache(_CACHED)(
            lambda text: self.spans(text, self.row(text))
        )
        """The spans of a part, counted from its beginning."""

    def read(
        self, text: str, before: None = None, behind: None = None
    ) -> "list[Part | Giant]":
        """A text between two safe cuts in parts."""
        parts: list[Part | Giant] = []
        at, n = 0, len(text)
        while at < n:
            end = n if n - at <= REST else self.splitter.cut(text, at + SIZE)
            parts.append(self.part(text[at:end]))
            at = end
        return parts

    def part(self, text: str) -> "Part | Giant":
        return (
            Part(self, text)
            if len(text) <= LONGEST
            else Giant(self, utf8(text), len(text))
        )

    def edited(
        self, old: "Sequence[Part | Giant]", edit: Edit
    ) -> "tuple[list[Part | Giant], Change]":
        """What an edit makes of adjacent parts, all tokens known, and how these changed; offsets count from the first.
        The first and the last character of the parts must stay, but where the text ends there."""
        n_bytes, row = sum(part.n_bytes for part in old), self.joined_row(old)
        giant = (
            Giant.joined(self, old)
            if any(isinstance(part, Giant) for part in old)
            else None
        )
        if giant and giant.n_characters + edit.growth > LONGEST:
            whole, begin, end = giant.edited(edit)
            new: list[Part | Giant] = [whole]
            text = giant.between(begin[0], end[0])
        else:
            giant, text = None, "".join([part.text for part in old])
            new = self.read(edit.of(text))
            begin, end = (0, 0, 0), (len(text), n_bytes, len(row))
        at, before, first = begin
        new_row, edit = (
            self.joined_row(new),
            Edit(edit.start - at, edit.end - at, edit.replacement),
        )
        old_row, new_row = (
            row[first : end[2]],
            new_row[first : end[2] + len(new_row) - len(row)],
        )
        n_bytes = sum(part.n_bytes for part in new) - n_bytes

        def byte_at(n: int) -> int:
            return (
                giant.byte_at(first + n) - before
                if giant
                else sum(map(self.length, row[:n]))
            )

        change = self._change(old_row, new_row, byte_at, edit, edit.of(text), n_bytes)
        for part in new:
            part.n_tokens = len(part.ids)
        return new, change.moved(at)

    def _change(
        self,
        old: "array[int]",
        new: "array[int]",
        byte_at: Callable[[int], int],
        edit: Edit,
        text: str,
        n_bytes: int,
    ) -> Change:
        """The change from tokens of a text, or of a part of one, to those after an edit; `byte_at` says where one of
        `old` begins. `text` is what the text became, and grew by `n_bytes`."""
        head, tail = same_ends(old, new)
        removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
        if not removed and not inserted:
            return Change(edit.start, (), (), edit.start, n_bytes)
        data, left, right = (
            utf8(text),
            len(utf8(text[: edit.start])),
            len(utf8(text[: edit.stop])),
        )
        begin, end = byte_at(head), byte_at(len(old) - tail) + n_bytes
        start = len(data[:begin].decode(errors="ignore"))
        # Not slices, which would be copies.
        one, other = (map(row.__getitem__, range(head, len(row))) for row in (old, new))
        first = _next_border(one, other, self.length, begin, left)
        before, after = (
            map(row.__getitem__, range(len(row) - tail - 1, -1, -1))
            for row in (old, new)
        )
        last = len(data) - _next_border(
            before, after, self.length, len(data) - end, len(data) - right
        )
        return Change(
            start,
            tuple(without_gaps(removed)),
            tuple(without_gaps(inserted)),
            max(start, n_characters(data[:end])),
            n_bytes,
            begin - len(utf8(text[:start])),
            max(0, left - first, last - right),
        )

    def split(self, text: str) -> list[str]:
        """The pieces of `text`, each `Gap` included: joined they are `text`."""
        if not self.lossy:
            return self.splitter.split(text)
        found: list[str] = []
        end = 0
        for start, stop in self.splitter.places(text):
            found += Gap(text[end:start]), text[start:stop]
            end = stop
        return list(filter(None, (*found, Gap(text[end:]))))

    def ids(self, piece: str) -> Sequence[int]:
        """The tokens of a piece; of a gap, a negative number."""
        return (
            (-len(utf8(piece)),)
            if isinstance(piece, Gap)
            else self.tokenizer.encode_piece(piece)
        )

    def token_bytes(self, token: int) -> bytes:
        """The bytes of a token; of a negative number, which stands for a gap, as many zeros."""
        return self.tokenizer.token_bytes(token) if token >= 0 else bytes(-token)

    def encode(self, text: str) -> "array[int]":
        """The tokens of a text between two safe cuts, gaps included."""
        if self.lossy:
            return array(GAPPED, chain.from_iterable(map(self.ids, self.split(text))))
        return self.tokenizer.encode_to_array(text)

    def joined_row(self, parts: "Sequence[Part | Giant]") -> "array[int]":
        rows = [
            part.row if isinstance(part, Giant) else self.row(part.text)
            for part in parts
        ]
        return rows[0] if len(rows) == 1 else array(self.typecode, b"".join(rows))

    def tokens(self, part: Part) -> Sequence[int]:
        return without_gaps(self.row(part.text))

    def spans_of(self, part: Part, start: int, end: int) -> Sequence[Span]:
        spans = self.layout(part.text)
        return spans[
            bisect_right(spans, start, key=attrgetter("end")) : bisect_left(
                spans, end, key=attrgetter("start")
            )
        ]

    def piece_at(
        self, parts: "Sequence[Part | Giant]", index: int, offset: int
    ) -> tuple[int, int, str]:
        """(start, end, text) of the piece at `offset` of a part."""
        part = parts[index]
        if isinstance(part, Giant):
            first, last = part.ends.around(len(utf8(part.between(0, offset))))
            start, end = n_characters(part.data[:first]), n_characters(part.data[:last])
        else:
            ends = list(accumulate(map(len, self.split(part.text)), initial=0))
            start, end = ends[(behind := bisect_right(ends, offset)) - 1], ends[behind]
        return start, end, part.between(start, end)

    def spans(self, text: str, row: "array[int]") -> tuple[Span, ...]:
        """The spans of a text with these tokens, without its gaps."""
        found = layout(text, row, self.token_bytes)
        return (
            tuple(span for span in found if span.ids[0] >= 0) if self.lossy else found
        )


class _Lengths(dict[int, int]):
    """How many bytes tokens have. Twice as fast as a cached function, and an edit may ask for a hundred thousand."""

    def __init__(self, reader: PlainReader) -> None:
        self._reader: Final = reader

    def __missing__(self, token: int) -> int:
        return self.setdefault(token, len(self._reader.token_bytes(token)))


def _next_border(
    one: Iterable[int],
    other: Iterable[int],
    length: Callable[[int], int],
    at: int,
    stop: int,
) -> int:
    """The first border from `at` on that only one of two rows of tokens has, both beginning there; at most `stop`."""
    borders = (accumulate(map(length, row), initial=at) for row in (one, other))
    pairs = zip_longest(*borders, fillvalue=stop)
    return next(
        (
            min(here, there, stop)
            for here, there in pairs
            if here != there or here >= stop
        ),
        stop,
    )
