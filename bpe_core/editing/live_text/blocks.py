"""The items of a live text: blocks of about a thousand characters, and parts of very long pieces."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Final

SIZE: Final = 1024
"""Characters of a block, about."""
LEAST: Final = SIZE // 4
"""Characters below which a block is joined to the next one when it is edited."""
MOST: Final = SIZE * 4
"""Characters above which a block is divided when it is edited."""
LONG: Final = 512
"""Characters above which a piece is kept in parts."""
PART: Final = 256
"""Characters of a part, about; twice as many at most."""
SHORT: Final = 64
"""Characters below which what is new in a long piece is joined to an old part of it."""


_NONE: Final = frozenset[int]()


class Gap(str):
    """Text that the pattern drops, kept like a piece; it has no tokens."""

    __slots__ = ()


class Block:
    """The text of some adjacent pieces, or a part of one very long piece; never empty. Only `know` changes it.

    Where two parts of a piece meet, their tokens may be wrong until these are known to be compatible, see `parts`.
    """

    __slots__ = ("ends", "gaps", "is_apart", "is_open", "is_part", "run", "text")

    def __init__(
        self,
        text: str,
        is_apart: bool = False,
        ends: "array[int] | None" = None,
        gaps: frozenset[int] = _NONE,
        *,
        is_part: bool = False,
        is_open: bool = False,
        run: int = 0,
    ) -> None:
        self.text: Final = text
        """All of it."""
        self.is_apart: Final = is_apart
        """Whether it begins and ends at safe cuts; if so, its text alone tells its pieces."""
        self.ends = ends
        """Where each piece ends, in code points from the beginning, if one does; None while a block that is apart is
        not split yet."""
        self.gaps = gaps
        """The ends of those pieces that are gaps."""
        self.is_part: Final = is_part
        """Whether it is a part of a piece; `ends` tells whether it is the last."""
        self.is_open: Final = is_open
        """Whether its first piece, and those behind it, may be wrong until they are split again; see `resplit`."""
        self.run: Final = run
        """What the kernel's scanner tells of a part, see `BlockList.left_out`; 0 if nothing is known."""

    def know(self, pieces: list[str]) -> "array[int]":
        """Record the pieces of this block, and return where each ends."""
        self.ends = array("I", accumulate(map(len, pieces)))
        self.gaps = frozenset(end for piece, end in zip(pieces, self.ends, strict=True) if isinstance(piece, Gap))
        return self.ends

    def __len__(self) -> int:
        return len(self.text)

    def piece(self, start: int, end: int) -> str:
        """The text from `start` to `end`, where a piece ends; a `Gap` if that piece is one."""
        text = self.text[start:end]
        return Gap(text) if end in self.gaps else text


def slices(text: str) -> Iterator[str]:
    """The text of parts of which no tokens are known."""
    size = PART if len(text) > 2 * PART else max(1, len(text))
    return (text[at : at + size] for at in range(0, len(text), size))


def blocks_of(
    between: Callable[[int, int], str],
    start: int,
    bounds: Iterable[int],
    gaps: frozenset[int],
    opened: frozenset[int],
    longest: int,
    is_safe: Callable[[str], bool],
    parts: Callable[[int, int, bool], Iterable[Block]],
) -> Iterator[Block]:
    """Blocks of the pieces of which the first begins at `start`, and that end at `bounds`; some of them are `gaps`.

    `between(start, end)` is text around and between them; `is_safe` tells whether it may be cut between two characters.
    Blocks that begin at `opened` are open. `parts(start, end, is_open)` are the parts of a piece of more
    than `longest` characters.
    """
    first, ends = start, list[int]()

    def block() -> Iterator[Block]:
        if ends:
            last = ends[-1]
            apart = all(is_safe(between(max(0, at - 1), at + 1)) for at in (first, last))
            here = array("I", [end - first for end in ends])
            dropped = frozenset(end - first for end in gaps.intersection(ends))
            yield Block(between(first, last), apart, here, dropped, is_open=first in opened)

    for end in bounds:
        begin = ends[-1] if ends else first
        is_long = end - begin > longest and end not in gaps
        if is_long or begin in opened or begin - first >= SIZE:
            yield from block()
            first, ends = begin, []
        if is_long:
            yield from parts(begin, end, begin in opened)
            first = end
        else:
            ends.append(end)
    yield from block()
