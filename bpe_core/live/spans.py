"""Which code points each token covers, although tokens end inside of characters.

A token is a run of bytes. It can hold several characters, and a character can be made of several tokens. So the unit
here is the *span*: the smallest stretch of text that begins and ends where a character and a token begin and end.
Usually that is one token; where tokens cut a character apart, the span holds all of them.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from bpe_core.utf8 import byte_offsets


class Span(NamedTuple):
    """A range of code points and the tokens that encode just these; several only if they share a character."""

    start: int
    end: int
    ids: tuple[int, ...]


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
