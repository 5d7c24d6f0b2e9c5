"""The items of a live text: blocks of about a thousand characters, and long pieces, each an item of its own."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

from bpe_core.editing.live_text.long_piece import LONG, LongPiece

SIZE: Final = 1024
"""Characters of a block, about."""
LEAST: Final = SIZE // 4
"""Characters below which a block is joined to the next one when it is edited."""
MOST: Final = SIZE * 4
"""Characters above which a block is divided when it is edited."""


class Gap(str):
    """Text that the pattern drops, kept like a piece; it has no tokens."""

    __slots__ = ()


class Block:
    """The text of some adjacent pieces; never empty. Only `know` changes it, which records where the pieces end."""

    __slots__ = ("ends", "gaps", "is_apart", "text")

    def __init__(self, text: str, is_apart: bool, pieces: list[str] | None = None) -> None:
        self.text: Final = text
        """The pieces, joined."""
        self.is_apart: Final = is_apart
        """Whether it begins and ends at safe cuts; if so, its text alone tells its pieces."""
        self.ends: array[int] | None = None
        """Where each piece ends, in code points from the beginning; None while it is not split, if `is_apart`."""
        self.gaps: frozenset[int] = frozenset()
        """The ends of those pieces that are gaps."""
        if pieces is not None:
            self.know(pieces)

    def know(self, pieces: list[str]) -> "array[int]":
        """Record the pieces of this block, and return where each ends."""
        self.ends = array("I", accumulate(map(len, pieces)))
        self.gaps = frozenset(end for piece, end in zip(pieces, self.ends, strict=True) if isinstance(piece, Gap))
        return self.ends

    def __len__(self) -> int:
        return len(self.text)

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        return self.text[start:end]

    def piece(self, start: int, end: int, stop: int | None = None) -> str:
        """The text from `start` to `end`, where a piece ends, or only to `stop`; a `Gap` if that piece is one."""
        text = self.text[start : end if stop is None else stop]
        return Gap(text) if end in self.gaps else text


Item = Block | LongPiece


def grouped(
    pieces: list[str],
    start: int,
    beside: tuple[str, str],
    is_safe: Callable[[str], bool],
    make_long: Callable[[str, int], LongPiece | None],
) -> Iterator[Item]:
    """Pieces as blocks and long pieces. The first begins at `start`; `beside` are the characters before and behind.

    `make_long(piece, start)` makes a long piece, or says by None that this one is not to be one.
    """
    ends = list(accumulate(map(len, pieces), initial=0))
    longs = [i for i, n in enumerate(map(len, pieces)) if n > LONG]

    def across(index: int) -> str:
        before = pieces[index - 1][-1] if index else beside[0]
        return before + (pieces[index][0] if index < len(pieces) else beside[1])

    def blocks(first: int, last: int) -> Iterator[Item]:
        while first < last:
            stop = min(last, bisect_left(ends, ends[first] + SIZE))
            is_apart = is_safe(across(first)) and is_safe(across(stop))
            yield Block("".join(pieces[first:stop]), is_apart, pieces[first:stop])
            first = stop

    done = 0
    for index in longs:
        if long := make_long(pieces[index], start + ends[index]):
            yield from blocks(done, index)
            yield long
            done = index + 1
    yield from blocks(done, len(pieces))
