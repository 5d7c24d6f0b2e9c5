"""The parts that a text is kept in: blocks of about a kilobyte, and pieces so long that each is one of its own."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Final

from bpe_core.live_text.long_piece import LONG, LongPiece

SIZE: Final = 1024
"""Characters of a block, about."""
LEAST: Final = SIZE // 4
"""A block of fewer characters is joined to the next one when an edit comes by."""
MOST: Final = SIZE * 4
"""A block of more characters is parted."""


class Block:
    """Some neighboring pieces. Never changed but for what is known of it; never empty."""

    __slots__ = ("ends", "is_apart", "text")

    def __init__(self, text: str, is_apart: bool, ends: "array[int] | None" = None) -> None:
        self.text: Final = text
        """The pieces, joined."""
        self.is_apart: Final = is_apart
        """Whether it begins and ends at safe cuts; if so, its text alone tells its pieces."""
        self.ends = ends
        """Where each piece ends, in code points from the beginning; None if nobody has looked and it stands apart."""

    def __len__(self) -> int:
        return len(self.text)

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        return self.text[start:end]


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
            bounds = array("I", [end - ends[first] for end in ends[first + 1 : stop + 1]])
            yield Block("".join(pieces[first:stop]), is_apart, bounds)
            first = stop

    done = 0
    for index in longs:
        if long := make_long(pieces[index], start + ends[index]):
            yield from blocks(done, index)
            yield long
            done = index + 1
    yield from blocks(done, len(pieces))
