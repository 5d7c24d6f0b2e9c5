"""A long stretch of a text without a safe cut: a megabyte of letters, digits or spaces, a document without a pattern.

Call two tokens *compatible* if they may follow each other in a piece. A list of tokens is what merging a piece leaves
exactly when all neighbors in it are compatible (`vocabulary.merge_loop` says why). So an edit splits all of the text
again, at the kernel's speed, and encodes the pieces that changed; of a long one only a window around the edit, whose
first and last token must be those that stood there before. Where they are not, the window grows.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from bpe_core.common_ends import common_prefix
from bpe_core.live.change import Edit, Part, Span, without_gaps
from bpe_core.utf8 import CONTINUATIONS, n_characters, utf8

if TYPE_CHECKING:
    from bpe_core.live.plain import PlainReader

LONG: Final = 16_384  # bytes of a piece above which not all of it is encoded again
SHORT: Final = 64  # bytes of a piece, on average, below which all that changed are encoded at once, up to a safe cut
WINDOW: Final = 6  # tokens on either side of an edit that are encoded again; if not enough, eight times as many
LONGEST_TOKEN: Final = (
    1 << 16
)  # bytes of the longest token that a piece may become without merging
STRETCH: Final = 1 << 18  # bytes that are encoded at a time, at first
STEP: Final = 512  # tokens between two marks, about
_BEFORE: Final = 256  # characters before a range from which on it is encoded to show it before all is encoded


class Gap(str):
    """Text that the pattern drops, kept like a piece; a negative number, of its bytes, stands for it among tokens."""


Mark = tuple[int, int, int]
"""A place where a character and a token begin: how many characters, bytes and tokens are before it."""
_CHARACTER, _BYTE, _TOKEN = 0, 1, 2


class Giant:
    """A `Part` that keeps its text in UTF-8, all of its tokens, and some marks that say where these stand."""

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
        self._begun: Giant | None = None  # its beginning, as far as it is encoded
        if row is not None:
            self.row = row

    @cached_property
    def row(self) -> "array[int]":
        """Its tokens, gaps included."""
        while not self._is_encoded:
            self._encode_on()
        return self.row

    @property
    def _is_encoded(self) -> bool:
        return "row" in vars(self)

    @cached_property
    def ends(self) -> "Ends":
        return Ends(self.reader, self.data)

    @cached_property
    def marks(self) -> list[Mark]:
        return [(0, 0, 0), (self.n_characters, self.n_bytes, len(self.row))]

    @classmethod
    def joined(cls, reader: "PlainReader", parts: "Sequence[Part | Giant]") -> "Giant":
        if len(parts) == 1 and isinstance(parts[0], cls):
            return parts[0]
        data = b"".join(
            [
                part.data if isinstance(part, Giant) else utf8(part.text)
                for part in parts
            ]
        )
        return cls(
            reader,
            data,
            sum(part.n_characters for part in parts),
            reader.joined_row(parts),
        )

    @property
    def text(self) -> str:
        return self.data.decode()

    def between(self, start: int, end: int) -> str:
        if not self._is_encoded:
            return self.text[start:end]
        return self.data[self._byte_of(start) : self._byte_of(end)].decode()

    def _byte_of(self, character: int) -> int:
        mark, following = self._find(_CHARACTER, character)
        near = self.data[mark[_BYTE] : following[_BYTE]].decode()
        return mark[_BYTE] + len(near[: character - mark[_CHARACTER]].encode())

    def settle(self) -> None:
        """Encode one stretch more of it; when all is encoded, set `n_tokens`, and mark all, so that no edit must."""
        if not self._is_encoded:
            self._encode_on()
        if self._is_encoded:
            self.n_tokens = len(self.ids)
            for token in range(0, len(self.row), STEP):
                self._find(_TOKEN, token)

    def _encode_on(self) -> None:
        begun = self._begun or Giant(self.reader, b"", 0, array(self.reader.typecode))
        text = self.data[begun.n_bytes : begun.n_bytes + STRETCH].decode(
            errors="ignore"
        )
        self._begun, _, _ = begun.edited(
            Edit(begun.n_characters, begun.n_characters, text)
        )
        if self._begun.n_bytes == self.n_bytes:
            self.row, self.ends, self._begun = self._begun.row, self._begun.ends, None

    @property
    def ids(self) -> Sequence[int]:
        return without_gaps(self.row)

    def _find(self, what: int, value: int) -> tuple[Mark, Mark]:
        """The last mark at which no more than `value` characters, bytes or tokens are before it, and the next one."""
        marks = self.marks
        index = bisect_right(marks, value, key=itemgetter(what)) - 1
        while index + 1 < len(marks):
            mark, following = marks[index], marks[index + 1]
            if following[what] <= value:
                index += 1
            elif following[_TOKEN] - mark[_TOKEN] <= 2 * STEP:
                return mark, following
            else:
                is_left = value - mark[what] < following[what] - value
                near = (
                    self._mark_beside(mark, STEP)
                    if is_left
                    else self._mark_beside(following, -STEP)
                )
                marks.insert(index + 1, near)
        return marks[index], marks[index]

    def _mark_beside(self, mark: Mark, n: int) -> Mark:
        """A mark `n` tokens behind another, or before it if `n` is negative, or the next one in that direction."""
        characters, byte, token = mark
        side, index = 1 if n > 0 else -1, token + n
        place = byte + side * sum(
            map(self.reader.length, self.row[min(token, index) : max(token, index)])
        )
        while place < len(self.data) and self.data[place] in CONTINUATIONS:
            place += side * self.reader.length(self.row[min(index, index + side)])
            index += side
        return (
            characters
            + side * n_characters(self.data[min(byte, place) : max(byte, place)]),
            place,
            index,
        )

    def _token_at(self, byte: int, *, behind: bool = False) -> tuple[int, int]:
        """(index, first byte) of the token that holds a byte; `behind`: of the first that begins there or later."""
        mark, following = self._find(_BYTE, byte)
        row = self.row[mark[_TOKEN] : following[_TOKEN]]
        begins = list(accumulate(map(self.reader.length, row), initial=mark[_BYTE]))
        index = bisect_left(begins, byte) if behind else bisect_right(begins, byte) - 1
        return mark[_TOKEN] + index, begins[index]

    def byte_at(self, token: int) -> int:
        """The byte at which a token begins, given by its index."""
        _, byte, first = self._find(_TOKEN, token)[0]
        return byte + sum(map(self.reader.length, self.row[first:token]))

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """The spans that meet a range of it; provisional before it is encoded."""
        if not self._is_encoded:
            begin = max(0, start - _BEFORE)
            text = self.between(begin, end + _BEFORE)
            row = self.reader.encode(text)
        else:
            first, _ = self._find(_CHARACTER, start)
            _, last = self._find(_CHARACTER, max(start, end - 1))
            begin = first[_CHARACTER]
            text = self.data[first[_BYTE] : last[_BYTE]].decode()
            row = self.row[first[_TOKEN] : last[_TOKEN]]
        for span in self.reader.spans(text, row) if text else ():
            if span.start + begin < end and start < span.end + begin:
                yield Span(begin + span.start, begin + span.end, span.ids)

    def n_tokens_between(self, start: int, end: int) -> int:
        begin, _ = self._find(_CHARACTER, start)
        stop, _ = self._find(_CHARACTER, end)
        n_before = sum(
            len(span.ids)
            for span in self.spans(begin[_CHARACTER], start)
            if span.end <= start
        )
        n_behind = sum(
            len(span.ids)
            for span in self.spans(stop[_CHARACTER], end)
            if span.start < end
        )
        return (
            len(without_gaps(self.row[begin[_TOKEN] : stop[_TOKEN]]))
            - n_before
            + n_behind
        )

    def edited(self, edit: Edit) -> "tuple[Giant, Mark, Mark]":
        """This part after an edit, and the nearest marks of it around all tokens that may not stay."""
        reader, old, typed = self.reader, self.ends, utf8(edit.replacement)
        start, stop = self._byte_of(edit.start), self._byte_of(edit.end)
        growth = len(typed) - (stop - start)
        data = b"".join((self.data[:start], typed, self.data[stop:]))
        ends = Ends(reader, data)
        lo, hi = ends.changed(old, start, stop, growth)
        first, last = self._token_at(lo)[0], self._token_at(hi - growth)[0]
        row, changed = array(reader.typecode), ends.between(lo, hi)
        ended, begun = (
            data[a:b].decode(errors="ignore")
            for a, b in ((max(0, hi - 4), hi), (hi, hi + 4))
        )
        is_cut = not begun or reader.splitter.is_safe_cut(ended[-1] + begun[0])
        if ends.are_ahead and is_cut and hi - lo < SHORT * len(changed):
            row = reader.encode(data[lo:hi].decode())
        else:
            begin, low, high = lo, first, last
            for end in changed:
                if end - begin <= LONG or end in ends.gaps:
                    piece = data[begin:end].decode()
                    row.extend(reader.ids(Gap(piece) if end in ends.gaps else piece))
                else:
                    left, right = (first, first, begin), (last, last, end)
                    if (
                        begin == lo
                    ):  # its first tokens are those of the old piece that began here, as far as it goes
                        left = (
                            first,
                            *self._token_at(min(start, end, old.around(lo)[1])),
                        )
                    if end == hi:
                        at = max(stop, begin - growth, old.around(hi - growth - 1)[0])
                        token, byte = self._token_at(at, behind=True)
                        right = token, last, byte + growth
                    n_left, ids, n_right = self._encoded(
                        data[begin:end], begin, left, right
                    )
                    row.extend(ids)
                    low, high = low + n_left, high - n_right
                begin = end
            first, last = low, high
        whole = array(row.typecode, self.row)
        whole[first:last] = row
        by = edit.growth, growth, len(whole) - len(self.row)
        marks = [mark for mark in self.marks if mark[_TOKEN] <= first]
        behind = [
            (c + by[0], b + by[1], t + by[2]) for c, b, t in self.marks if t >= last
        ]
        marks += behind[behind[:1] == marks[-1:] :]
        giant = Giant(reader, data, self.n_characters + edit.growth, whole)
        giant.ends, giant.marks = ends, marks
        mark, following = self._find(_TOKEN, last)
        return (
            giant,
            self._find(_TOKEN, first)[0],
            mark if mark[_TOKEN] == last else following,
        )

    def _encoded(
        self,
        piece: bytes,
        begin: int,
        left: tuple[int, int, int],
        right: tuple[int, int, int],
    ) -> tuple[int, Sequence[int], int]:
        """(how many of the old tokens on its left are those of a long piece, its tokens behind them, and on its right).
        The piece begins at byte `begin`. `left` is (index of the first old token, index behind the last, where that
        ends), `right` (index of the first, index behind the last, where the first begins)."""
        reader, row, size = self.reader, self.row, self.reader.length
        token = (
            reader.tokenizer.vocabulary.encoding.whole(piece)
            if len(piece) <= LONGEST_TOKEN
            else None
        )
        if token is not None:
            return 0, (token,), 0
        (first, low, start), (high, last, stop) = left, right
        n_left, n_right = min(WINDOW, low - first), min(WINDOW, last - high)
        while True:
            lo = start - sum(map(size, row[low - n_left : low])) - begin
            hi = stop + sum(map(size, row[high : high + n_right])) - begin
            ids = reader.tokenizer.vocabulary.join(piece[lo:hi])
            fits_left = n_left == low - first or ids[0] == row[low - n_left]
            fits_right = n_right == last - high or ids[-1] == row[high + n_right - 1]
            if fits_left and fits_right:
                return low - first - n_left, ids, last - high - n_right
            if not fits_left:
                n_left = min(8 * n_left, low - first)
            if not fits_right:
                n_right = min(8 * n_right, last - high)


class Ends:
    """Where the pieces of a text end, in bytes, those included that a lossy pattern drops."""

    def __init__(self, reader: "PlainReader", data: bytes) -> None:
        splitter = reader.splitter
        self.gaps: Final = set[int]()  # the ends of those that are dropped
        self.are_ahead: Final = splitter.scanner is not None
        self._ends: Final = array("Q")
        if not splitter.source:
            self._ends.append(len(data))
        elif splitter.scanner:
            self._ends.frombytes(splitter.scanner.ends(data))
        else:
            pieces = reader.split(data.decode())
            self._ends.extend(
                accumulate(map(len, pieces if data.isascii() else map(utf8, pieces)))
            )
            if reader.lossy:
                self.gaps.update(
                    end
                    for end, piece in zip(self._ends, pieces, strict=True)
                    if isinstance(piece, Gap)
                )

    def around(self, byte: int) -> tuple[int, int]:
        """(begin, end) of the piece that holds a byte; empty at the end of the text."""
        index = bisect_right(self._ends, byte)
        begin = self._ends[index - 1] if index else 0
        return begin, self._ends[index] if index < len(self._ends) else begin

    def between(self, lo: int, hi: int) -> Sequence[int]:
        """Where the pieces end that lie between two ends."""
        return self._ends[bisect_right(self._ends, lo) : bisect_right(self._ends, hi)]

    def changed(
        self, old: "Ends", start: int, stop: int, growth: int
    ) -> tuple[int, int]:
        """(begin, end) of the pieces that an edit changed, which replaced the bytes of `old` from `start` to `stop`."""
        ends, before, n = self._ends, old._ends, len(self._ends)
        n_same = min(common_prefix(ends, before), bisect_right(ends, start))
        first = bisect_left(ends, stop + growth)
        last = n - 1
        if self.are_ahead:  # where a piece ends follows from where it begins and what comes then: so do all behind it
            while first < last:
                middle = (first + last) // 2
                place = ends[middle] - growth
                if before[bisect_left(before, place)] == place:
                    last = middle
                else:
                    first = middle + 1
        else:
            n_same = min(
                [n_same, *(bisect_left(ends, gap) for gap in self.gaps ^ old.gaps)]
            )
            index = len(before) - 1
            while (
                last > first
                and index
                and ends[last - 1] - growth == before[index - 1] >= stop
            ):
                if (ends[last] in self.gaps) != (before[index] in old.gaps):
                    break
                last, index = last - 1, index - 1
        return ends[n_same - 1] if n_same else 0, ends[last]
