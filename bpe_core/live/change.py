"""The parts of live texts, and what live texts report: spans of tokens, edits, and changes of the tokens."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate
from typing import Any, Final, NamedTuple, Self

from bpe_core.utf8 import byte_offsets, utf8

GAPPED: Final = "q"
"""Type code of rows of tokens in which negative numbers represent the text that a lossy pattern drops."""


class Cut(IntEnum):
    """The kind of safe cut between two adjacent characters."""

    NONE = 0
    PIECES = 1  # between two pieces
    INSIDE = 2  # between two tokens of a piece


class Span(NamedTuple):
    """A range of code points and the tokens that encode exactly these; several only if they share a character.

    A token is a run of bytes. It can hold several characters, and a character can be made of several tokens. A span is
    the smallest stretch of text that begins and ends where both a character and a token begin and end.
    """

    start: int
    end: int
    ids: tuple[int, ...]


class PieceAt(NamedTuple):
    """The piece that holds a character."""

    start: int  # code points
    end: int
    prepared_text: str  # as it is encoded; "" for an added token, which is not encoded

    def moved(self, by: int) -> Self:
        """Return the same piece in a text that begins `by` code points earlier."""
        return self._replace(start=self.start + by, end=self.end + by)


class Part:
    """A stretch of a text that its reader encodes separately. It keeps only the number of its tokens."""

    def __init__(
        self,
        reader: Any,
        text: str,
        before: Cut | None = None,
        behind: Cut | None = None,
    ) -> None:
        self.reader: Final = reader  # a `PlainReader` or a `PreparedReader`
        self.text: Final = text
        self.before: Final = before
        """The kind of cut before it; None at the beginning of the text, or if the reader does not need it."""
        self.behind: Final = behind
        """The kind of cut after it; None at the end of the text, or if the reader does not need it."""
        self.n_characters: Final = len(text)
        self.n_bytes: Final = len(text) if text.isascii() else len(utf8(text))
        self.n_tokens: int | None = None  # None before they are computed

    def between(self, start: int, end: int) -> str:
        return self.text[start:end]

    @property
    def ids(self) -> Sequence[int]:
        ids: Sequence[int] = self.reader.tokens(self)
        return ids

    def spans(self, start: int, end: int) -> Iterable[Span]:
        spans: Iterable[Span] = self.reader.spans_of(self, start, end)
        return spans

    def settle(self) -> None:
        """Compute the tokens, or one more stretch of a very long part, and set `n_tokens` at the end."""
        self.n_tokens = len(self.ids)

    def n_tokens_between(self, start: int, end: int) -> int:
        return sum(len(span.ids) for span in self.spans(start, end))


class Edit(NamedTuple):
    """The replacement of the characters from `start` to before `end` by other text."""

    start: int
    end: int
    replacement: str

    @property
    def stop(self) -> int:
        """The code point after the replacement, in the text after the edit."""
        return self.start + len(self.replacement)

    @property
    def growth(self) -> int:
        """The number of code points that the edit adds; negative if it removes some."""
        return self.stop - self.end

    def of(self, text: str) -> str:
        """Return what the edit makes of `text`."""
        return f"{text[: self.start]}{self.replacement}{text[self.end :]}"


@dataclass(frozen=True, slots=True)
class Change:
    """The tokens that an edit removed and inserted, without equal tokens at both ends.

    Examples:
        >>> from bpe_core import LiveText, train
        >>> LiveText(train([], vocab_size=256), "ab").splice(1, 2, "c")
        Change(start=1, removed=(98,), inserted=(99,), stop=2, n_bytes=0, head=0, ripple=0)
    """

    start: int
    """The code point in which the first changed token begins, in the old text and in the new one."""
    removed: tuple[int, ...]
    inserted: tuple[int, ...]
    stop: int
    """The code point after the last one with a byte of an inserted token, in the new text."""
    n_bytes: int
    """By how many bytes the text grew; negative if it shrank."""
    head: int = 0
    """Bytes of the code point at `start` that belong to the token before; 0 if a token begins there."""
    ripple: int = 0
    """Bytes from the edited text to the farthest token border that was added or removed."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens that the edit added; negative if it removed some."""
        return len(self.inserted) - len(self.removed)

    def moved(self, by: int) -> Self:
        """Return the same change in a text that begins `by` code points earlier."""
        return replace(self, start=self.start + by, stop=self.stop + by) if by else self


def without_gaps(row: "array[int]") -> "array[int]":
    """Return the tokens of a row, without the negative numbers for dropped text."""
    if row.typecode != GAPPED:
        return row
    return array(row.typecode, [token for token in row if token >= 0])


def layout(
    text: str, ids: Sequence[int], token_bytes: Callable[[int], bytes]
) -> tuple[Span, ...]:
    """Return the spans of `text`, whose tokens are `ids`. The text holds no lone surrogate.

    >>> layout("a😊", [97, 240, 159, 152, 138], lambda token: bytes([token]))
    (Span(start=0, end=1, ids=(97,)), Span(start=1, end=2, ids=(240, 159, 152, 138)))
    """
    token_ends = list(accumulate(len(token_bytes(token)) for token in ids))
    if text.isascii():
        return tuple(
            map(Span, [0, *token_ends], token_ends, [(token,) for token in ids])
        )
    spans: list[Span] = []
    character_at = {byte: index for index, byte in enumerate(byte_offsets(text))}
    start = first_token = 0
    for n_tokens, byte in enumerate(token_ends, 1):
        end = character_at.get(byte)
        if end is not None:
            spans.append(Span(start, end, tuple(ids[first_token:n_tokens])))
            start = end
            first_token = n_tokens
    return tuple(spans)


def torn(span: Span, text: str, token_bytes: Callable[[int], bytes]) -> list[int]:
    """Return the code points inside which a token of `span` begins, once for each such token.

    `text` is the text of the span.

    >>> torn(Span(7, 8, (195, 169)), "é", lambda token: bytes([token]))
    [7]
    """
    starts = byte_offsets(text)
    torn_characters: list[int] = []
    border = 0
    for token in span.ids[:-1]:
        border += len(token_bytes(token))
        character = bisect_right(starts, border) - 1
        if starts[character] < border:
            torn_characters.append(span.start + character)
    return torn_characters
