"""A long stretch of a text without a safe cut: a megabyte of letters, digits or spaces, a document without a pattern.

Call two tokens *compatible* if they can follow each other in a piece. A list of tokens is the result of merging a piece
exactly if all its neighbors are compatible (`vocabulary.merge_loop` has the proof). So an edit splits the whole text
again, at the kernel's speed, and encodes the pieces that changed. Of a long piece it encodes only a window around the
edit. The first and the last token of the window must be those that were there before; if they are not, the window grows.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from bpe_core.cached import cached_property
from bpe_core.common_ends import common_prefix
from bpe_core.live.change import Edit, Part, Span, without_gaps
from bpe_core.utf8 import CONTINUATIONS, n_characters, utf8

if TYPE_CHECKING:
    from bpe_core.live.plain import PlainReader

LONG: Final = 16_384
"""Bytes of a piece above which only a window of it is encoded again."""
SHORT: Final = 64
"""Average bytes of the changed pieces below which they are encoded in one call, up to a safe cut."""
WINDOW: Final = 6
"""Tokens on either side of an edit that are encoded again; eight times as many if that is not enough."""
LONGEST_TOKEN: Final = 1 << 16
"""Bytes of the longest token that a piece may become without merging."""
STRETCH: Final = 1 << 18
"""Bytes that are encoded at a time, at first."""
STEP: Final = 512
"""Tokens between two marks, about."""
_BEFORE: Final = 256
"""Characters around a range that are encoded to show it before the text is encoded."""


class Gap(str):
    """Text that the pattern drops, kept like a piece. In a row of tokens it is the negative number of its bytes."""


class Mark(NamedTuple):
    """A place where both a character and a token begin."""

    characters: int  # before it
    bytes: int
    tokens: int

    def moved(self, characters: int, bytes: int, tokens: int) -> Self:
        return type(self)(
            self.characters + characters, self.bytes + bytes, self.tokens + tokens
        )


_BY_CHARACTERS: Final = attrgetter("characters")
_BY_BYTES: Final = attrgetter("bytes")
_BY_TOKENS: Final = attrgetter("tokens")


class EditedGiant(NamedTuple):
    """A giant after an edit, and the nearest marks of the old one around all tokens that may change."""

    giant: "Giant"
    start: Mark
    end: Mark


class Giant:
    """A `Part` that keeps its text in UTF-8, all its tokens, and some marks to find them by."""

    def __init__(
        self,
        reader: "PlainReader",
        data: bytes,
        n_characters: int,
        row: "array[int] | None" = None,
    ) -> None:
        self.reader: Final = reader
        self.data: Final = data
        self.n_characters: Final = n_characters
        self.n_bytes: Final = len(data)
        self.n_tokens: int | None = None
        self._encoded_beginning: Giant | None = None
        if row is not None:
            self.row = row

    @cached_property
    def row(self) -> "array[int]":
        """Its tokens and gaps."""
        while not self._is_encoded:
            self._encode_stretch()
        return self.row

    @property
    def _is_encoded(self) -> bool:
        return "row" in vars(self)

    @cached_property
    def ends(self) -> "Ends":
        """Where its pieces end."""
        return Ends(self.reader, self.data)

    @cached_property
    def marks(self) -> list[Mark]:
        return [Mark(0, 0, 0), Mark(self.n_characters, self.n_bytes, len(self.row))]

    @classmethod
    def joined(cls, reader: "PlainReader", parts: "Sequence[Part | Giant]") -> "Giant":
        """Join adjacent parts."""
        if len(parts) == 1 and isinstance(parts[0], cls):
            return parts[0]
        data = [
            part.data if isinstance(part, Giant) else utf8(part.text) for part in parts
        ]
        n_characters = sum(part.n_characters for part in parts)
        return cls(reader, b"".join(data), n_characters, reader.joined_row(parts))

    @property
    def text(self) -> str:
        return self.data.decode()

    def between(self, start: int, end: int) -> str:
        if not self._is_encoded:
            return self.text[start:end]
        return self.data[self._byte_of(start) : self._byte_of(end)].decode()

    def _byte_of(self, character: int) -> int:
        """Return the byte offset at which a character begins."""
        mark, next_mark = self._marks_around(character, _BY_CHARACTERS)
        nearby = self.data[mark.bytes : next_mark.bytes].decode()
        return mark.bytes + len(nearby[: character - mark.characters].encode())

    def settle(self) -> None:
        """Encode one more stretch. At the end set `n_tokens`, and make all marks, so that no edit has to."""
        if not self._is_encoded:
            self._encode_stretch()
        if self._is_encoded:
            self.n_tokens = len(self.ids)
            for token in range(0, len(self.row), STEP):
                self._marks_around(token, _BY_TOKENS)

    def _encode_stretch(self) -> None:
        """Append a stretch to the beginning that is encoded."""
        beginning = self._encoded_beginning
        if beginning is None:
            beginning = Giant(self.reader, b"", 0, array(self.reader.typecode))
        n_done = beginning.n_bytes
        text = self.data[n_done : n_done + STRETCH].decode(errors="ignore")
        end = beginning.n_characters
        beginning = beginning.edited(Edit(end, end, text)).giant
        self._encoded_beginning = beginning
        if beginning.n_bytes == self.n_bytes:
            self.row = beginning.row
            self.ends = beginning.ends
            self._encoded_beginning = None

    @property
    def ids(self) -> Sequence[int]:
        return without_gaps(self.row)

    def _marks_around(
        self, value: int, unit: Callable[[Mark], int]
    ) -> tuple[Mark, Mark]:
        """Return the last mark with at most `value` characters, bytes or tokens before it, and the next mark.

        Makes more marks until these two are near each other.
        """
        marks = self.marks
        index = bisect_right(marks, value, key=unit) - 1
        while index + 1 < len(marks):
            mark = marks[index]
            next_mark = marks[index + 1]
            if unit(next_mark) <= value:
                index += 1
            elif next_mark.tokens - mark.tokens <= 2 * STEP:
                return mark, next_mark
            elif value - unit(mark) < unit(next_mark) - value:
                marks.insert(index + 1, self._mark_near(mark, STEP))
            else:
                marks.insert(index + 1, self._mark_near(next_mark, -STEP))
        return marks[index], marks[index]

    def _mark_near(self, mark: Mark, n_tokens: int) -> Mark:
        """Return a mark `n_tokens` after another, or before it if negative, or the next one in that direction."""
        data = self.data
        row = self.row
        length = self.reader.length
        token = mark.tokens + n_tokens
        if n_tokens > 0:
            byte = mark.bytes + sum(map(length, row[mark.tokens : token]))
            while byte < len(data) and data[byte] in CONTINUATIONS:
                byte += length(row[token])
                token += 1
            characters = mark.characters + n_characters(data[mark.bytes : byte])
        else:
            byte = mark.bytes - sum(map(length, row[token : mark.tokens]))
            while data[byte] in CONTINUATIONS:
                token -= 1
                byte -= length(row[token])
            characters = mark.characters - n_characters(data[byte : mark.bytes])
        return Mark(characters, byte, token)

    def _token_at(self, byte: int) -> int:
        """Return the index of the token that holds a byte."""
        mark, starts = self._token_starts_near(byte)
        return mark.tokens + bisect_right(starts, byte) - 1

    def _token_starts_near(self, byte: int) -> tuple[Mark, list[int]]:
        """Return the mark before a byte, and the bytes at which the tokens from there to the next mark begin."""
        mark, next_mark = self._marks_around(byte, _BY_BYTES)
        row = self.row[mark.tokens : next_mark.tokens]
        return mark, list(accumulate(map(self.reader.length, row), initial=mark.bytes))

    def byte_at(self, token: int) -> int:
        """Return the byte offset at which the token with this index begins."""
        mark, _ = self._marks_around(token, _BY_TOKENS)
        return mark.bytes + sum(map(self.reader.length, self.row[mark.tokens : token]))

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yield the spans that meet a range. They are provisional until all is encoded."""
        if self._is_encoded:
            first, _ = self._marks_around(start, _BY_CHARACTERS)
            _, last = self._marks_around(max(start, end - 1), _BY_CHARACTERS)
            offset = first.characters
            text = self.data[first.bytes : last.bytes].decode()
            row = self.row[first.tokens : last.tokens]
        else:
            offset = max(0, start - _BEFORE)
            text = self.between(offset, end + _BEFORE)
            row = self.reader.encode(text)
        if not text:
            return
        for span in self.reader.spans(text, row):
            placed = Span(offset + span.start, offset + span.end, span.ids)
            if placed.start < end and start < placed.end:
                yield placed

    def n_tokens_between(self, start: int, end: int) -> int:
        start_mark, _ = self._marks_around(start, _BY_CHARACTERS)
        end_mark, _ = self._marks_around(end, _BY_CHARACTERS)
        n_tokens = len(without_gaps(self.row[start_mark.tokens : end_mark.tokens]))
        for span in self.spans(start_mark.characters, start):
            if span.end <= start:
                n_tokens -= len(span.ids)
        for span in self.spans(end_mark.characters, end):
            if span.start < end:
                n_tokens += len(span.ids)
        return n_tokens

    def edited(self, edit: Edit) -> EditedGiant:
        """Return this part after an edit."""
        typed = utf8(edit.replacement)
        start = self._byte_of(edit.start)
        end = self._byte_of(edit.end)
        growth = len(typed) - (end - start)
        data = b"".join((self.data[:start], typed, self.data[end:]))
        ends = Ends(self.reader, data)
        changed_start, changed_end = ends.changed_from(self.ends, start, end, growth)
        first = self._token_at(changed_start)
        last = self._token_at(changed_end - growth)
        if self._is_simple(ends, data, changed_start, changed_end):
            new_row = self.reader.encode(data[changed_start:changed_end].decode())
        else:
            window = _EditedPieces(
                self, ends, data, start, end, growth, changed_start, changed_end
            )
            new_row = window.encode(first, last)
            first += window.n_kept_left
            last -= window.n_kept_right
        whole_row = array(self.row.typecode, self.row)
        whole_row[first:last] = new_row
        giant = Giant(self.reader, data, self.n_characters + edit.growth, whole_row)
        giant.ends = ends
        giant.marks = self._marks_after_edit(
            first, last, edit.growth, growth, len(whole_row) - len(self.row)
        )
        start_mark, _ = self._marks_around(first, _BY_TOKENS)
        end_mark, following = self._marks_around(last, _BY_TOKENS)
        if end_mark.tokens != last:
            end_mark = following
        return EditedGiant(giant, start_mark, end_mark)

    def _is_simple(self, ends: "Ends", data: bytes, start: int, end: int) -> bool:
        """Whether the changed pieces are many short ones, and the text may be cut after them."""
        n_pieces = len(ends.between(start, end))
        if not ends.are_ahead or end - start >= SHORT * n_pieces:
            return False
        before_cut = data[max(0, end - 4) : end].decode(errors="ignore")
        after_cut = data[end : end + 4].decode(errors="ignore")
        if not after_cut:
            return True
        return self.reader.splitter.is_safe_cut(before_cut[-1] + after_cut[0])

    def _marks_after_edit(
        self, first: int, last: int, characters: int, n_bytes: int, n_tokens: int
    ) -> list[Mark]:
        """Return the marks outside of the tokens from `first` to `last`, moved by the length that the edit added."""
        marks = [mark for mark in self.marks if mark.tokens <= first]
        for mark in self.marks:
            if mark.tokens >= last:
                moved = mark.moved(characters, n_bytes, n_tokens)
                if moved != marks[-1]:
                    marks.append(moved)
        return marks


class _OldTokens(NamedTuple):
    """The old tokens on one side of an edit in a long piece. The new piece may share some of them."""

    first: int  # index
    last: int  # index after the last
    border: int  # the byte where they end, if they are on the left, or begin, if they are on the right


class _EditedPieces:
    """Encodes the pieces that an edit changed. Of long pieces it keeps old tokens."""

    def __init__(
        self,
        giant: Giant,
        ends: "Ends",
        data: bytes,
        start: int,
        end: int,
        growth: int,
        changed_start: int,
        changed_end: int,
    ) -> None:
        """Take the giant before the edit, and the data and ends after it. All offsets are bytes.

        The edit replaced the old bytes from `start` to `end`. The changed pieces are those of `data` from
        `changed_start` to `changed_end`.
        """
        self._giant: Final = giant
        self._reader: Final = giant.reader
        self._ends: Final = ends
        self._data: Final = data
        self._start: Final = start
        self._end: Final = end
        self._growth: Final = growth
        self._changed_start: Final = changed_start
        self._changed_end: Final = changed_end
        self.n_kept_left = 0
        """Old tokens at the beginning of the changed pieces that stay."""
        self.n_kept_right = 0
        """Old tokens at their end that stay."""

    def encode(self, first: int, last: int) -> "array[int]":
        """Return the new tokens. The old ones have the indices from `first` to before `last`."""
        row = array(self._reader.typecode)
        piece_start = self._changed_start
        for piece_end in self._ends.between(self._changed_start, self._changed_end):
            is_gap = piece_end in self._ends.gaps
            data = self._data[piece_start:piece_end]
            if is_gap:
                row.extend(self._reader.ids(Gap(data.decode())))
            elif len(data) <= LONG:
                row.extend(self._reader.ids(data.decode()))
            else:
                left = self._old_tokens_left(piece_start, piece_end, first)
                right = self._old_tokens_right(piece_start, piece_end, last)
                row.extend(self._encode_long(data, piece_start, left, right))
            piece_start = piece_end
        return row

    def _old_tokens_left(self, start: int, end: int, first: int) -> _OldTokens:
        """Return the old tokens at the beginning of a piece: none unless it is the first changed piece."""
        if start != self._changed_start:
            return _OldTokens(first, first, start)
        # The old piece that began here has the same text up to the edit, as far as both pieces go.
        old_end = self._giant.ends.around(start)[1]
        same_until = min(self._start, end, old_end)
        mark, token_starts = self._giant._token_starts_near(same_until)
        index = bisect_right(token_starts, same_until) - 1
        return _OldTokens(first, mark.tokens + index, token_starts[index])

    def _old_tokens_right(self, start: int, end: int, last: int) -> _OldTokens:
        """Return the old tokens at the end of a piece: none unless it is the last changed piece."""
        if end != self._changed_end:
            return _OldTokens(last, last, end)
        old_start = self._giant.ends.around(end - self._growth - 1)[0]
        same_from = max(self._end, start - self._growth, old_start)
        mark, token_starts = self._giant._token_starts_near(same_from)
        index = bisect_left(token_starts, same_from)
        return _OldTokens(mark.tokens + index, last, token_starts[index] + self._growth)

    def _encode_long(
        self, piece: bytes, piece_start: int, left: _OldTokens, right: _OldTokens
    ) -> Sequence[int]:
        """Encode a window of a long piece and return its tokens. Count the old tokens that stay on both sides."""
        vocabulary = self._reader.tokenizer.vocabulary
        if len(piece) <= LONGEST_TOKEN:
            token = vocabulary.encoding.whole(piece)
            if token is not None:
                return (token,)
        row = self._giant.row
        length = self._reader.length
        most_left = left.last - left.first
        most_right = right.last - right.first
        n_left = min(WINDOW, most_left)
        n_right = min(WINDOW, most_right)
        while True:
            left_row = row[left.last - n_left : left.last]
            right_row = row[right.first : right.first + n_right]
            window_start = left.border - sum(map(length, left_row)) - piece_start
            window_end = right.border + sum(map(length, right_row)) - piece_start
            ids = vocabulary.join(piece[window_start:window_end])
            fits_left = n_left == most_left or ids[0] == left_row[0]
            fits_right = n_right == most_right or ids[-1] == right_row[-1]
            if fits_left and fits_right:
                self.n_kept_left += most_left - n_left
                self.n_kept_right += most_right - n_right
                return ids
            if not fits_left:
                n_left = min(8 * n_left, most_left)
            if not fits_right:
                n_right = min(8 * n_right, most_right)


class Ends:
    """Where the pieces of a text end, in bytes, with the gaps that a lossy pattern drops."""

    def __init__(self, reader: "PlainReader", data: bytes) -> None:
        splitter = reader.splitter
        self.gaps: Final = set[int]()
        """The ends of the gaps."""
        self.are_ahead: Final = splitter.scanner is not None
        """Whether the end of a piece depends only on where it begins and on the text from there."""
        self._ends: Final = array("Q")
        if not splitter.source:
            self._ends.append(len(data))
        elif splitter.scanner:
            self._ends.frombytes(splitter.scanner.ends(data))
        else:
            pieces = reader.split(data.decode())
            lengths = map(len, pieces)
            if not data.isascii():
                lengths = map(len, map(utf8, pieces))
            self._ends.extend(accumulate(lengths))
            if reader.lossy:
                for end, piece in zip(self._ends, pieces, strict=True):
                    if isinstance(piece, Gap):
                        self.gaps.add(end)

    def around(self, byte: int) -> tuple[int, int]:
        """Return (start, end) of the piece that holds a byte; an empty range at the end of the text."""
        index = bisect_right(self._ends, byte)
        start = self._end_before(index)
        if index == len(self._ends):
            return start, start
        return start, self._ends[index]

    def _end_before(self, index: int) -> int:
        """Return where the piece with this index begins."""
        if index == 0:
            return 0
        return self._ends[index - 1]

    def between(self, start: int, end: int) -> Sequence[int]:
        """Return the ends of the pieces between two ends, with the second one."""
        first = bisect_right(self._ends, start)
        return self._ends[first : bisect_right(self._ends, end)]

    def changed_from(
        self, old: "Ends", start: int, end: int, growth: int
    ) -> tuple[int, int]:
        """Return (start, end) of the pieces that an edit changed.

        The edit replaced the bytes of `old` from `start` to `end` by `growth` more bytes.
        """
        n_before_edit = bisect_right(self._ends, start)
        n_same = min(common_prefix(self._ends, old._ends), n_before_edit)
        if self.are_ahead:
            last = self._last_changed_ahead(old, end, growth)
        else:
            # A gap may have become a piece that ends at the same place.
            for gap in self.gaps ^ old.gaps:
                n_same = min(n_same, bisect_left(self._ends, gap))
            last = self._last_changed(old, end, growth)
        return self._end_before(n_same), self._ends[last]

    def _last_changed_ahead(self, old: "Ends", end: int, growth: int) -> int:
        """Return the index of the last changed piece by binary search: all pieces after an equal end are equal."""
        first = bisect_left(self._ends, end + growth)
        last = len(self._ends) - 1
        while first < last:
            middle = (first + last) // 2
            old_place = self._ends[middle] - growth
            if old._ends[bisect_left(old._ends, old_place)] == old_place:
                last = middle
            else:
                first = middle + 1
        return last

    def _last_changed(self, old: "Ends", end: int, growth: int) -> int:
        """Return the index of the last changed piece, going back from the end of the text."""
        first = bisect_left(self._ends, end + growth)
        last = len(self._ends) - 1
        old_last = len(old._ends) - 1
        while last > first and old_last:
            old_place = old._ends[old_last - 1]
            has_same_start = self._ends[last - 1] - growth == old_place >= end
            is_gap = self._ends[last] in self.gaps
            was_gap = old._ends[old_last] in old.gaps
            if not has_same_start or is_gap != was_gap:
                break
            last -= 1
            old_last -= 1
        return last
