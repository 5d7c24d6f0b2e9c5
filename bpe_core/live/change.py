"""A part of a text, an edit, and the change of the tokens: those removed, those inserted, how far from the edit."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from bpe_core.common_ends import common_prefix, common_suffix
from bpe_core.live.spans import Span
from bpe_core.utf8 import n_characters, utf8

if TYPE_CHECKING:
    from bpe_core.live.plain import PlainReader
    from bpe_core.live.prepared import PreparedReader

GAPPED: Final = "q"
"""The type code of rows of tokens in which there may be negative numbers, for what a lossy pattern drops."""


class Cut(IntEnum):
    """The kind of safe cut between two adjacent characters: none, between two pieces, between two tokens of a piece."""

    NONE = 0
    PIECES = 1
    INSIDE = 2


class Part:
    """A stretch of a text that its reader encodes without the rest. Of its tokens only their number is kept.

    `before` and `behind` are the kinds of cuts around it where these matter; None at the beginning and end of the text.
    """

    def __init__(
        self, reader: "PlainReader | PreparedReader", text: str, before: Cut | None = None, behind: Cut | None = None
    ) -> None:
        self.reader: Final = reader
        self.text: Final = text
        self.before: Final = before
        self.behind: Final = behind
        self.n_characters: Final = len(text)
        self.n_bytes: Final = len(text) if text.isascii() else len(utf8(text))
        self.n_tokens: int | None = None  # if that is known

    def between(self, start: int, end: int) -> str:
        return self.text[start:end]

    @property
    def ids(self) -> Sequence[int]:
        return self.reader.tokens(self)

    def spans(self, start: int, end: int) -> Iterable[Span]:
        """The spans that meet a range of it."""
        return self.reader.spans_of(self, start, end)

    def settle(self) -> None:
        """Set `n_tokens`, or encode one stretch more of a very long part."""
        self.n_tokens = len(self.ids)

    def n_tokens_between(self, start: int, end: int) -> int:
        """How many tokens meet a range of it."""
        return sum(len(span.ids) for span in self.spans(start, end))


class Edit(NamedTuple):
    """The replacement of the characters from `start` up to, not including, `end` by other text."""

    start: int
    end: int
    replacement: str

    @property
    def stop(self) -> int:
        """Code point behind the replacement, in the text after the edit."""
        return self.start + len(self.replacement)

    @property
    def growth(self) -> int:
        """By how many code points the text grew."""
        return self.stop - self.end

    def of(self, text: str) -> str:
        """`text` with this edit made."""
        return f"{text[: self.start]}{self.replacement}{text[self.end :]}"


@dataclass(frozen=True, slots=True)
class Change:
    """The tokens that an edit replaced, and those in their place, without equal tokens at both ends.

    >>> from bpe_core import LiveText, train
    >>> LiveText(train([], vocab_size=256), "ab").splice(1, 2, "c")
    Change(start=1, removed=(98,), inserted=(99,), stop=2, n_bytes=0, head=0, ripple=0)
    """

    start: int
    """Code point in which the first token that changed begins; the same in the old text and in the new one."""
    removed: tuple[int, ...]
    """Tokens that are gone."""
    inserted: tuple[int, ...]
    """Tokens in their place."""
    stop: int
    """Code point behind the last one of which an inserted token has a byte, in the new text."""
    n_bytes: int
    """By how many bytes the text grew; negative if it shrank."""
    head: int = 0
    """How many bytes of the code point at `start` belong to the token before; 0 if a token begins where it does."""
    ripple: int = 0
    """Bytes from the edited text to the farthest token border that was added or removed; 0 if there is none."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text grew; negative if it shrank."""
        return len(self.inserted) - len(self.removed)

    def moved(self, by: int) -> Self:
        """The same change in a text that begins so many code points earlier."""
        return replace(self, start=self.start + by, stop=self.stop + by) if by else self


def same_ends(old: Sequence[int], new: Sequence[int], n_left: int = 0, n_right: int = 0) -> tuple[int, int]:
    """How many tokens are the same at the beginning and at the end, none being both; surely `n_left` and `n_right`."""
    head = n_left + common_prefix(old, new, n_left, n_left)
    most = min(len(old), len(new)) - head
    tail = min(n_right, most)
    return head, min(most, tail + common_suffix(old, new, len(old) - tail, len(new) - tail))


def compare(
    old: "array[int]",
    new: "array[int]",
    byte_at: Callable[[int], int],
    length: Callable[[int], int],
    text: str,
    edit: Edit,
    n_bytes: int,
) -> Change:
    """The change from the tokens `old` of a text, or of a part of one, to its tokens `new` after `edit`. `byte_at` says
    where one of `old` begins, `length` gives the bytes of a token; a negative one stands for what a lossy pattern
    drops. `text` is what the text became, and grew by `n_bytes`."""
    head, tail = same_ends(old, new)
    removed, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    if not removed and not inserted:
        return Change(edit.start, (), (), edit.start, n_bytes)
    data = utf8(text)
    left, right = edit.start, edit.stop
    if len(data) != len(text):
        left, right = len(utf8(text[:left])), len(utf8(text[:right]))
    begin, end = byte_at(head), byte_at(len(old) - tail) + n_bytes
    start = len(data[:begin].decode(errors="ignore"))
    # Not slices, which would be copies.
    one, other = (map(row.__getitem__, range(head, len(row))) for row in (old, new))
    first = _next_border(one, other, length, begin, left)
    before, after = (map(row.__getitem__, range(len(row) - tail - 1, -1, -1)) for row in (old, new))
    last = len(data) - _next_border(before, after, length, len(data) - end, len(data) - right)
    return Change(
        start,
        tuple(without_gaps(removed)),
        tuple(without_gaps(inserted)),
        max(start, n_characters(data[:end])),
        n_bytes,
        begin - len(utf8(text[:start])),
        max(0, left - first, last - right),
    )


def _next_border(one: Iterable[int], other: Iterable[int], length: Callable[[int], int], at: int, stop: int) -> int:
    """The first border from `at` on that only one of two rows of tokens has, both beginning there; at most `stop`."""
    borders = (accumulate(map(length, row), initial=at) for row in (one, other))
    pairs = zip_longest(*borders, fillvalue=stop)
    return next((min(here, there, stop) for here, there in pairs if here != there or here >= stop), stop)


def without_gaps(row: "array[int]") -> "array[int]":
    """The tokens of a row, without the negative numbers for what a lossy pattern drops."""
    return array(row.typecode, filter((0).__le__, row)) if row.typecode == GAPPED else row
