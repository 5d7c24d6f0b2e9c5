"""A part of a text, an edit, and the change of the tokens: those removed, those inserted, how far from the edit."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from bpe_core.common_ends import common_prefix, common_suffix
from bpe_core.live.spans import Span
from bpe_core.utf8 import utf8

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

    start: int  # code point in which the first token that changed begins; the same in the old text and in the new one
    removed: tuple[int, ...]
    inserted: tuple[int, ...]
    stop: int  # code point behind the last one of which an inserted token has a byte, in the new text
    n_bytes: int  # by how many bytes the text grew; negative if it shrank
    head: int = 0  # bytes of the code point at `start` that belong to the token before; 0 if a token begins there
    ripple: int = 0  # bytes from the edited text to the farthest token border that was added or removed, if any

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


def without_gaps(row: "array[int]") -> "array[int]":
    """The tokens of a row, without the negative numbers for what a lossy pattern drops."""
    return array(row.typecode, filter((0).__le__, row)) if row.typecode == GAPPED else row
