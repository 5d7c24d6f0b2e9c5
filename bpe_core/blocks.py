"""Pieces of a text kept some hundred at a time, so that an edit touches a few kilobytes of a text of any size."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from bpe_core.long_piece import LONG, LongPiece
from bpe_core.prefix_sums import PrefixSums

SIZE: Final = 256
"""Pieces of a block, about; it is parted when it would have more than twice as many."""


class Block:
    """Some neighboring pieces: their text, and how long each of them is. Never changed, never empty."""

    __slots__ = ("lengths", "text")

    def __init__(self, text: str, lengths: Sequence[int]) -> None:
        self.text: Final = text
        """The pieces, joined."""
        self.lengths: Final = lengths if isinstance(lengths, array) else array("I", lengths)
        """Code points of each piece."""

    def __len__(self) -> int:
        return len(self.text)

    @property
    def edges(self) -> tuple[str, str]:
        """Its first and its last character."""
        return self.text[0], self.text[-1]

    @property
    def bounds(self) -> list[int]:
        """Where each piece ends, counted from the beginning of the block."""
        return list(accumulate(self.lengths))

    def pieces(self) -> list[str]:
        """The pieces themselves."""
        bounds = self.bounds
        return [self.text[start:end] for start, end in zip([0, *bounds], bounds, strict=False)]

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        return self.text[start:end]


Item = Block | LongPiece


class BlockList:
    """A text as blocks and long pieces; offsets are code points, and a *bound* is one where a piece ends."""

    __slots__ = ("_sums", "items")

    def __init__(self, items: list[Item]) -> None:
        self.items: Final = items
        """In the order of the text; to be changed by `replace` only."""
        self._sums = PrefixSums(list(map(len, items)))

    def __len__(self) -> int:
        return self._sums.start(len(self.items))

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; of the last one for the end of the text."""
        return self._sums.find(position)

    def start(self, index: int) -> int:
        """Where the item at `index` begins."""
        return self._sums.start(index)

    def replace(self, first: int, last: int, items: list[Item]) -> None:
        """Put `items` in the place of those from `first` up to, not including, `last`."""
        self.items[first:last] = items
        self._sums.replace(first, last, list(map(len, items)))

    def resized(self, index: int) -> None:
        """Take note that the long piece at `index` has another length now."""
        self._sums.add(index, len(self.items[index]) - self._sums[index])

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        return "".join(item.between(max(0, start - at), end - at) for at, item in self.within(start, end))

    def within(self, start: int, end: int) -> Iterator[tuple[int, Item]]:
        """(start, item) for all items that meet a range."""
        index, at = self._sums.find(start)
        while at < end and index < len(self.items):
            yield at, self.items[index]
            at += self._sums[index]
            index += 1

    def lengths(self, start: int, end: int) -> list[int]:
        """The lengths of the pieces between two bounds."""
        found: list[int] = []
        for at, item in self.within(start, end):
            bounds = item.bounds
            first, last = bisect_right(bounds, start - at), bisect_left(bounds, end - at)
            found += item.lengths[first : last + 1] if isinstance(item, Block) else bounds
        return found

    def bound_before(self, position: int, is_safe: Callable[[str], bool]) -> int:
        """The last bound before `position` whose two characters are safe; 0 if there is none."""
        if not self.items:
            return 0
        index, at = self._sums.find(max(0, position - 1))
        while True:
            item = self.items[index]
            for bound in reversed(item.bounds[:-1]):
                if at + bound < position and is_safe(item.between(bound - 1, bound + 1)):
                    return at + bound
            if index == 0:
                return 0
            if at < position and is_safe(self.items[index - 1].edges[1] + item.edges[0]):
                return at
            index -= 1
            at -= self._sums[index]

    def bound_after(self, position: int, is_safe: Callable[[str], bool]) -> int:
        """The first bound after `position` whose two characters are safe; the end of the text if there is none."""
        index, at = self._sums.find(position)
        while index < len(self.items):
            item = self.items[index]
            bounds = item.bounds
            for bound in bounds[bisect_right(bounds, position - at) : -1]:
                if is_safe(item.between(bound - 1, bound + 1)):
                    return at + bound
            at += self._sums[index]
            index += 1
            if index < len(self.items) and at > position and is_safe(item.edges[1] + self.items[index].edges[0]):
                return at
        return at


def grouped(pieces: list[str], is_long: Callable[[str], bool]) -> Iterator[Block | str]:
    """Pieces as blocks; a long piece comes by itself, as it is."""
    lengths = list(map(len, pieces))
    begin = 0
    if max(lengths, default=0) > LONG:
        for index, piece in enumerate(pieces):
            if is_long(piece):
                yield from _blocks(pieces, lengths, begin, index)
                yield piece
                begin = index + 1
    yield from _blocks(pieces, lengths, begin, len(pieces))


def _blocks(pieces: list[str], lengths: list[int], begin: int, end: int) -> Iterator[Block]:
    size = SIZE if end - begin > 2 * SIZE else 2 * SIZE
    for i in range(begin, end, size):
        stop = min(i + size, end)
        yield Block("".join(pieces[i:stop]), lengths[i:stop])
