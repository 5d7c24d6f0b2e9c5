"""Which code points each token covers, although tokens end inside of characters.

A token is a run of bytes. It can hold several characters, and a character can be made of several tokens. So the unit
here is the *span*: the smallest stretch of text that begins and ends where a character and a token begin and end.
Usually that is one token; where tokens cut a character apart, the span holds all of them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

import regex

_CLUSTER = regex.compile(r"\X")


class Span(NamedTuple):
    """A range of code points and the tokens that encode just these."""

    start: int
    """Code point where it begins."""
    end: int
    """Code point behind its last one."""
    ids: tuple[int, ...]
    """Its tokens; several only if they share a character."""


class Part(NamedTuple):
    """One token of a span, and the code points that it covers."""

    id: int
    """The token."""
    bytes: bytes
    """Its bytes."""
    start: int
    """First code point of which it has at least one byte."""
    end: int
    """Code point behind the last of those."""
    head: int
    """How many bytes of its first character belong to the tokens before it; 0 if it begins where a character does."""
    tail: int
    """How many bytes of its last character belong to the tokens after it; 0 if it ends where a character does."""


class Run(NamedTuple):
    """A range of whole grapheme clusters (what a person calls characters), and the spans that lie in it."""

    start: int
    """Code point where it begins."""
    end: int
    """Code point behind its last."""
    first: int
    """Index of the first span that touches it."""
    last: int
    """Index of the last one; above `first` if the run is one cluster that several spans share."""


def layout(text: str, ids: Sequence[int], token_bytes: Callable[[int], bytes]) -> tuple[Span, ...]:
    """The spans of `text`, whose tokens are `ids`; code points count from 0. `text` holds no lone surrogate.

    >>> layout("a😊", [97, 240, 159, 152, 138], lambda token: bytes([token]))
    (Span(start=0, end=1, ids=(97,)), Span(start=1, end=2, ids=(240, 159, 152, 138)))
    """
    if len(ids) == 1:
        return (Span(0, len(text), (ids[0],)),)
    ends = list(accumulate(len(token_bytes(token)) for token in ids))
    if text.isascii():
        return tuple(map(Span, [0, *ends], ends, [(token,) for token in ids]))
    spans: list[Span] = []
    characters = {byte: index for index, byte in enumerate(_starts(text))}
    start = first = 0
    for index, byte in enumerate(ends, 1):
        end = characters.get(byte)
        if end is not None:
            spans.append(Span(start, end, tuple(ids[first:index])))
            start, first = end, index
    return tuple(spans)


def parts(span: Span, text: str, token_bytes: Callable[[int], bytes]) -> list[Part]:
    """Each token of `span` with its bytes and the characters it covers, even partially; `text` is the span's own.

    >>> parts(Span(7, 8, (195, 169)), "é", lambda token: bytes([token]))[1]
    Part(id=169, bytes=b'\\xa9', start=7, end=8, head=1, tail=0)
    """
    found: list[Part] = []
    starts = _starts(text)
    begin = 0
    for token in span.ids:
        data = token_bytes(token)
        end = begin + len(data)
        first = bisect_right(starts, begin) - 1
        last = bisect_left(starts, end)
        head, tail = begin - starts[first], starts[last] - end
        found.append(Part(token, data, span.start + first, span.start + last, head, tail))
        begin = end
    return found


def runs(text: str, spans: Sequence[Span], start: int = 0) -> list[Run]:
    """`spans` as ranges of whole grapheme clusters, the smallest that a screen can color.

    `text` is what is drawn, usually one row, and begins at code point `start`; the spans are in order, do not overlap,
    and may reach beyond it. A cluster that several spans share becomes a run of its own; the spans beside it keep the
    rest. Text that no span covers (what a lossy pattern drops) has no run.
    """
    stop = start + len(text)
    if text.isascii() and "\r\n" not in text:
        return [Run(max(s.start, start), min(s.end, stop), i, i) for i, s in enumerate(spans) if _meets(s, start, stop)]
    borders = [start, *(start + match.end() for match in _CLUSTER.finditer(text))]
    found: list[Run] = []
    for index, span in enumerate(spans):
        if not _meets(span, start, stop):
            continue
        left, right = max(span.start, start), min(span.end, stop)
        if found and left < found[-1].end:  # the cluster that the run before ends with reaches into this span
            found[-1] = found[-1]._replace(last=index)
            left = found[-1].end
            if left >= right:
                continue
        left = borders[bisect_right(borders, left) - 1]
        cluster = bisect_left(borders, right)
        if borders[cluster] != right:  # a cluster begins in this span and ends in another
            if left < borders[cluster - 1]:
                found.append(Run(left, borders[cluster - 1], index, index))
            left, right = max(left, borders[cluster - 1]), borders[cluster]
        found.append(Run(left, right, index, index))
    return found


def _meets(span: Span, start: int, stop: int) -> bool:
    return span.start < stop and start < span.end


def _starts(text: str) -> list[int]:
    """The byte offset of each character, and of the end."""
    return list(accumulate((_width(character) for character in text), initial=0))


def _width(character: str) -> int:
    return 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
