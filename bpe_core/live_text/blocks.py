"""Pieces of a text kept some hundred at a time, so that an edit touches a few kilobytes of a text of any size."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from operator import sub
from typing import Final, NamedTuple

from bpe_core.live_text.long_piece import LONG, LongPiece
from bpe_core.live_text.prefix_sums import PrefixSums

SIZE: Final = 64
"""Pieces of a block, about; it is parted when it would have more than twice as many."""
FEW: Final = 8
"""A block of fewer pieces is joined to the next one when an edit comes by."""


class Block:
    """Some neighboring pieces: their text, and where each of them ends. Never changed, never empty."""

    __slots__ = ("bounds", "text")

    def __init__(self, text: str, bounds: "array[int]") -> None:
        self.text: Final = text
        """The pieces, joined."""
        self.bounds: Final = bounds
        """Where each piece ends, in code points from the beginning of the block; ascending."""

    def __len__(self) -> int:
        return len(self.text)

    @property
    def edges(self) -> tuple[str, str]:
        """Its first and its last character."""
        return self.text[0], self.text[-1]

    def pieces(self, first: int = 0, last: int | None = None) -> list[str]:
        """The pieces themselves, or those from the index `first` up to, not including, `last`."""
        bounds = self.bounds[first:last]
        starts = [self.bounds[first - 1] if first else 0, *bounds]
        return [self.text[start:end] for start, end in zip(starts, bounds, strict=False)]

    def between(self, start: int, end: int) -> str:
        """A part of its text."""
        return self.text[start:end]


Item = Block | LongPiece


class Window(NamedTuple):
    """Some neighboring pieces of one block."""

    item: int
    """Index of the item that the block is."""
    begin: int
    """Where the block begins."""
    block: Block
    first: int
    """The first of the pieces, by its index in the block."""
    last: int
    """The piece behind the last of them; above `first`."""

    @property
    def start(self) -> int:
        """Where the first piece begins, counted from the beginning of the block."""
        return self.block.bounds[self.first - 1] if self.first else 0

    @property
    def end(self) -> int:
        """Where the last piece ends, counted from the beginning of the block."""
        return self.block.bounds[self.last - 1]


class Exchange(NamedTuple):
    """Items that were exchanged."""

    first: int
    """Index of the first of them, before and after."""
    gone: list[Item]
    """Those that went."""
    items: list[Item]
    """Those that came."""


class BlockList:
    """A text as blocks and long pieces; offsets are code points, and a *bound* is one where a piece ends."""

    __slots__ = ("_sums", "items")

    def __init__(self, items: list[Item]) -> None:
        self.items: Final = items
        """In the order of the text; to be changed by `exchange` only."""
        self._sums = PrefixSums(list(map(len, items)))

    def __len__(self) -> int:
        return self._sums.total

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; of the last one for the end of the text."""
        return self._sums.find(position)

    def start(self, index: int) -> int:
        """Where the item at `index` begins."""
        return self._sums.start(index)

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
            ends = bounds[first : last + 1]
            found += map(sub, ends, [bounds[first - 1] if first else 0, *ends])
        return found

    def bound_before(self, position: int, is_safe: Callable[[str], bool]) -> int:
        """The last bound before `position` whose two characters are safe; 0 if there is none."""
        if not self.items:
            return 0
        index, at = self._sums.find(max(0, position - 1))
        while True:
            item = self.items[index]
            bounds = item.bounds
            for bound in reversed(bounds[: min(bisect_left(bounds, position - at), len(bounds) - 1)]):
                if is_safe(item.between(bound - 1, bound + 1)):
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

    def window(self, start: int, end: int, is_safe: Callable[[str], bool]) -> Window | None:
        """The pieces between `bound_before(start)` and `bound_after(end)`, if they lie in one block."""
        index, begin = self._sums.find(start)
        block = self.items[index] if self.items else None
        if not isinstance(block, Block) or end - begin > len(block.text):
            return None
        text, bounds = block.text, block.bounds
        first = bisect_left(bounds, start - begin)
        while first and not is_safe(text[bounds[first - 1] - 1 : bounds[first - 1] + 1]):
            first -= 1
        last, n = bisect_right(bounds, end - begin), len(bounds) - 1
        while last < n and not is_safe(text[bounds[last] - 1 : bounds[last] + 1]):
            last += 1
        if (not first and index) or (last >= n and index < len(self.items) - 1):
            return None
        return Window(index, begin, block, first, min(last, n) + 1)

    def refill(self, window: Window, first: int, last: int, new: list[str]) -> bool:
        """Put the pieces `new` in the place of those from `first` up to `last` of the block; whether that was possible.

        It is not if the block becomes too big, or too small, or would hold a very long piece.
        """
        text, bounds = window.block.text, window.block.bounds
        if not FEW <= len(bounds) - (last - first) + len(new) <= 2 * SIZE or max(map(len, new), default=0) > LONG:
            return False
        start, end = bounds[first - 1] if first else 0, bounds[last - 1] if last else 0
        came = "".join(new)
        growth = len(came) - (end - start)
        changed = bounds[:first]
        changed.extend(accumulate(map(len, new[1:]), initial=start + len(new[0])) if new else ())
        changed.extend([bound + growth for bound in bounds[last:]] if growth else bounds[last:])
        self.items[window.item] = Block(text[:start] + came + text[end:], changed)
        self._sums.add(window.item, growth)
        return True

    def exchange(self, lo: int, hi: int, new: list[str], make_long: Callable[[str, int], LongPiece | None]) -> Exchange:
        """Put the pieces `new` in the place of those between two bounds.

        `make_long(piece, start)` makes a long piece, or says by None that this one is not to be one.
        """
        first, last, head, tail, begin, tail_at = self._place(lo, hi)
        before = bisect_right(head.bounds, lo - begin) if head else 0
        after = bisect_right(tail.bounds, hi - tail_at) if tail else 0
        n_pieces = before + len(new) + (len(tail.bounds) - after if tail else 0)
        items: list[Item]
        if FEW <= n_pieces <= 2 * SIZE and max(map(len, new), default=0) <= LONG:
            items = [_joined(head, lo - begin, new, tail, hi - tail_at)]
        else:
            pieces = (head.pieces(0, before) if head else []) + new + (tail.pieces(after) if tail else [])
            if n_pieces < FEW and last < len(self.items) and isinstance(following := self.items[last], Block):
                pieces += following.pieces()
                last += 1
            items = list(grouped(pieces, begin, make_long))
        gone = self.items[first:last]
        self.items[first:last] = items
        self._sums.replace(first, last, list(map(len, items)))
        return Exchange(first, gone, items)

    def _place(self, lo: int, hi: int) -> tuple[int, int, Block | None, Block | None, int, int]:
        """Which items must go if the pieces between two bounds do, and the blocks at both ends that must be cut.

        (first, last, head, tail, begin, tail_begin): items `first` up to `last`, and where `head` and `tail` begin.
        """
        if not self.items:
            return 0, 0, None, None, 0, 0
        first, begin = self._sums.find(lo)
        last, tail_begin = self._sums.find(max(lo, hi - 1))
        head, tail = self.items[first], self.items[last]
        if isinstance(head, LongPiece):
            first += lo > begin  # at the end of the text, behind it
            begin = lo
        if isinstance(tail, Block) or hi > lo:
            last += 1
        else:
            last = first
        return (
            first,
            last,
            head if isinstance(head, Block) else None,
            tail if isinstance(tail, Block) else None,
            begin,
            tail_begin,
        )


def grouped(pieces: list[str], start: int, make_long: Callable[[str, int], LongPiece | None]) -> Iterator[Item]:
    """Pieces as blocks and long pieces; the first begins at `start`."""
    lengths = list(map(len, pieces))
    begin = 0
    if max(lengths, default=0) > LONG:
        for index, piece in enumerate(pieces):
            long = make_long(piece, start) if len(piece) > LONG else None
            start += len(piece)
            if long:
                yield from _blocks(pieces, lengths, begin, index)
                yield long
                begin = index + 1
    yield from _blocks(pieces, lengths, begin, len(pieces))


def _blocks(pieces: list[str], lengths: list[int], begin: int, end: int) -> Iterator[Block]:
    size = SIZE if end - begin > 2 * SIZE else 2 * SIZE
    for i in range(begin, end, size):
        stop = min(i + size, end)
        yield Block("".join(pieces[i:stop]), array("I", accumulate(lengths[i:stop])))


def _joined(head: Block | None, lo: int, new: list[str], tail: Block | None, hi: int) -> Block:
    """The pieces of `head` that end by `lo`, those of `new`, and those of `tail` that begin at `hi`, as one block."""
    text = (head.text[:lo] if head else "") + "".join(new)
    bounds = head.bounds[: bisect_right(head.bounds, lo)] if head else array("I")
    if new:
        bounds.extend(accumulate(map(len, new[1:]), initial=(lo if head else 0) + len(new[0])))
    if tail:
        shift = len(text) - hi
        bounds.extend([bound + shift for bound in tail.bounds[bisect_right(tail.bounds, hi) :]])
        text += tail.text[hi:]
    return Block(text, bounds)
