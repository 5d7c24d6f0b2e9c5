"""What live texts are made of and what they tell: parts, spans of tokens, edits, and changes of the tokens."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate
from typing import Any, Final, NamedTuple, Self

from bpe_core.utf8 import byte_offsets, utf8

GAPPED: Final = "q"  # type code of rows of tokens with negative numbers for what a lossy pattern drops


class Cut(IntEnum):
    """The kind of safe cut between two adjacent characters: none, between two pieces, between two tokens of a piece."""

    NONE = 0
    PIECES = 1
    INSIDE = 2


class Span(NamedTuple):
    """A range of code points and the tokens that encode just these; several only if they share a character.

    A token is a run of bytes. It can hold several characters, and a character can be made of several tokens. So this is
    the smallest stretch of text that begins and ends where a character and a token begin and end.
    """

    start: int
    end: int
    ids: tuple[int, ...]


class Part:
    """A stretch of a text that its reader encodes without the rest. Of its tokens only their number is kept.

    `before` and `behind` are the kinds of cuts around it where these matter; None at the beginning and end of the text.
    """

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
        self.behind: Final = behind
        self.n_characters: Final = len(text)
        self.n_bytes: Final = len(text) if text.isascii() else len(utf8(text))
        self.n_tokens: int | None = None  # if that is known

    def between(self, start: int, end: int) -> str:
        return self.text[start:end]

    @property
    def ids(self) -> Sequence[int]:
        return self.reader.tokens(self)  # type: ignore[no-any-return]

    def spans(self, start: int, end: int) -> Iterable[Span]:
        return self.reader.spans_of(self, start, end)  # type: ignore[no-any-return]

    def settle(self) -> None:
        """Set `n_tokens`, or encode one stretch more of a very long part."""
        self.n_tokens = len(self.ids)

    def n_tokens_between(self, start: int, end: int) -> int:
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
        return self.stop - self.end

    def of(self, text: str) -> str:
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


def without_gaps(row: "array[int]") -> "array[int]":
    """The tokens of a row, without the negative numbers for what a lossy pattern drops."""
    return (
        array(row.typecode, filter((0).__le__, row)) if row.typecode == GAPPED else row
    )


def layout(
    text: str, ids: Sequence[int], token_bytes: Callable[[int], bytes]
) -> tuple[Span, ...]:
    """The spans of `text`, whose tokens are `ids`; code points count from 0. `text` holds no lone surrogate.

    >>> layout("a😊", [97, 240, 159, 152, 138], lambda token: bytes([token]))
    (Span(start=0, end=1, ids=(97,)), Span(start=1, end=2, ids=(240, 159, 152, 138)))
    """
    ends = list(accumulate(len(token_bytes(token)) for token in ids))
    if text.isascii():
        return tuple(map(Span, [0, *ends], ends, [(token,) for token in ids]))
    spans: list[Span] = []
    characters = {byte: index for index, byte in enumerate(byte_offsets(text))}
    start = first = 0
    for index, byte in enumerate(ends, 1):
        end = characters.get(byte)
        if end is not None:
            spans.append(Span(start, end, tuple(ids[first:index])))
            start, first = end, index
    return tuple(spans)


def torn(span: Span, text: str, token_bytes: Callable[[int], bytes]) -> list[int]:
    """The code points inside of which a token of `span` begins, once for each such token; `text` is the span's own.

    >>> torn(Span(7, 8, (195, 169)), "é", lambda token: bytes([token]))
    [7]
    """
    starts = byte_offsets(text)
    borders = accumulate(len(token_bytes(token)) for token in span.ids[:-1])
    places = ((bisect_right(starts, border) - 1, border) for border in borders)
    return [span.start + place for place, border in places if starts[place] < border]
