"""A text as blocks and parts of long pieces in a row, so that an edit touches little of a text of any size."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import count, groupby, pairwise, takewhile
from typing import Final

from bpe_core.editing.live_text.blocks import MOST, SIZE, Block, blocks_of
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.editing.tally import Tally
from bpe_core.prefix_sums import PrefixSums

_LEFT_OUT: Final = 4
"""Parts of which it would not be worth the while to leave the middle one out."""


class BlockList:
    """The items of a text in order, and how many tokens each has, if that is known.

    Offsets are code points; a *bound* is an offset where a piece ends, or 0. The number of tokens of an item that is
    open is never known, nor that of a part whose first token is not known to be compatible with the one before it.
    """

    __slots__ = ("_inner", "_sums", "changed", "items", "pieces", "tally")

    def __init__(self, pieces: Pieces, text: str) -> None:
        self.pieces = pieces
        """What splits the text and encodes its pieces."""
        self.items: list[Block] = list(self.read(text))
        """In the order of the text; to be changed by `replace` only."""
        self._sums = PrefixSums(list(map(len, self.items)))
        self._inner = bytearray(map(_is_inner, self.items))  # 1 for each part that is not the last of its piece
        self.tally = Tally(len(self.items))
        """How many tokens each item has."""
        self.changed = len(self.items), len(self.items)
        """How many items at the beginning and at the end were not replaced since the list was made or copied."""

    def __len__(self) -> int:
        return self._sums.total

    def copy(self) -> "BlockList":
        """An independent copy."""
        copied = copy(self)
        copied.items, copied._sums, copied.tally = self.items[:], self._sums.copy(), self.tally.copy()
        copied._inner = self._inner[:]
        copied.changed = len(self.items), len(self.items)
        return copied

    def use(self, pieces: Pieces) -> None:
        """Forget all tokens; the next ones are those of another vocabulary. The pieces must be the same."""
        self.pieces = pieces
        self.tally = Tally(len(self.items))

    def read(self, text: str) -> Iterator[Block]:
        """A text as items. It is split only where it has no safe cuts for long."""
        pieces, at = self.pieces, 0
        while at < len(text):
            end = pieces.splitter.cut(text, at + SIZE) if pieces.has_cuts else len(text)
            if pieces.has_cuts and end - at <= MOST:
                yield Block(text[at:end], True)
            else:
                whole = Block(text[at:end])
                bounds = [at + bound for bound in ((len(text),) if pieces.is_whole else pieces.ends(whole))]
                gaps = frozenset(at + end for end in whole.gaps)
                yield from blocks_of(
                    lambda start, end: text[start:end],
                    at,
                    bounds,
                    gaps,
                    frozenset(),
                    pieces.longest,
                    pieces.is_safe_cut,
                    lambda start, end, _: pieces.parts(text[start:end]),
                )
            at = end

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; of the last one for the end of the text."""
        return self._sums.find(position)

    def start(self, index: int) -> int:
        """Where the item at `index` begins; for their number, the end of the text."""
        return self._sums.start(index)

    def begins_inside(self, index: int) -> bool:
        """Whether the item at `index` is a part of a piece, but not the first; false for no index."""
        return 0 < index < len(self.items) and bool(self._inner[index - 1])

    def last_part(self, index: int) -> int:
        """The index of the last part of the piece of which the item at `index` is one; `index` if it is no part."""
        return self._inner.find(0, index)

    def replace(self, first: int, last: int, items: Sequence[Block], counts: Sequence[int | None]) -> None:
        """Put new items, with their numbers of tokens, in place of those from `first` up to, not including, `last`."""
        self.changed = min(self.changed[0], first), min(self.changed[1], len(self.items) - last)
        self.items[first:last] = items
        self._inner[first:last] = bytearray(map(_is_inner, items))
        self._sums.replace(first, last, list(map(len, items)))
        self.tally.exchange(first, last, counts)

    def put(self, index: int, block: Block, n_tokens: int) -> None:
        """Put another block in the place of one, with `n_tokens` tokens more."""
        change = len(block.text) - len(self.items[index].text)
        self.items[index] = block
        if change:
            self._sums.add(index, change)
        self.tally.add(index, n_tokens)

    def doubt(self, index: int) -> None:
        """Forget how many tokens an item has if it is a part, but not the first of its piece."""
        if self.begins_inside(index):
            self.replace(index, index + 1, self.items[index : index + 1], [None])

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        index, at = self._sums.find(start)
        if self.items and end <= at + len(text := self.items[index].text):
            return text[start - at : end - at]
        return "".join([item.text[max(0, start - at) : end - at] for at, item in self.within(start, end)])

    def within(self, start: int, end: int) -> Iterator[tuple[int, Block]]:
        """(start, item) for all items that meet a range."""
        index, at = self._sums.find(start)
        while at < end and index < len(self.items):
            item = self.items[index]
            yield at, item
            at += len(item.text)
            index += 1

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """(first, last): the items from `first` up to, not including, `last` lie in a range that is not empty."""
        (first, at), (last, last_at) = self.find(start), self.find(end)
        return first + (at < start), last + (last_at < end == len(self))

    def left_out(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """(start, end) of text in a range that need not be looked at to tell where the pieces of a text with it end.

        These are parts in a run of one kind (see scan.h), between those that are the first or the last to hold
        characters of certain sets. The neighbors of these stay, too: so no piece ends where something is left out,
        and what is seen behind its end is what follows it.
        """
        if start >= end:
            return
        first, last = self.inside(start, end)
        for kind, group in groupby([item.run for item in self.items[first:last]], (0xFF).__and__):
            runs = list(group)
            lasts, firsts = (
                dict(zip(runs, count(), strict=False)),
                dict(zip(reversed(runs), range(len(runs) - 1, -1, -1), strict=True)),
            )
            for one, other in pairwise(sorted({*firsts.values(), *lasts.values()}) if kind else ()):
                if other - one > _LEFT_OUT:
                    yield self.start(first + one + 2), self.start(first + other - 1)
            first += len(runs)

    def parts_within(self, start: int, end: int) -> Iterator[tuple[int, int, list[Block]]]:
        """(start, end, parts) for adjacent parts of one piece that lie in a range; a single part may be left out."""
        if start >= end:
            return
        index, stop = self.inside(start, end)
        while (first := self._inner.find(1, index, stop)) >= 0:
            index = min(self.last_part(first) + 1, stop)
            yield self.start(first), self.start(index), self.items[first:index]

    def cover(self, lo: int, hi: int) -> tuple[int, int, int, int]:
        """(first, last, start, end): the items that hold a range, or a place inside of one, and where these lie."""
        if not self.items:
            return 0, 0, 0, 0
        first, start = self.find(lo)
        end = start + len(self.items[first])
        if lo == hi and lo in (start, end):
            return first + (lo > start), first + (lo > start), lo, lo
        if hi <= end:
            return first, first + 1, start, end
        last, at = self.find(hi)
        return (first, last, start, hi) if at == hi else (first, last + 1, start, at + len(self.items[last]))

    def bounds_before(self, position: int) -> Iterator[int]:
        """The bounds up to and with `position`, the last one first; 0 is one."""
        index, at = self.find(position) if self.items else (-1, 0)
        while index >= 0:
            ends = self.pieces.ends(self.items[index])
            for end in reversed(ends[: bisect_right(ends, position - at)]):
                yield at + end
            index = self._inner.rfind(0, 0, index)
            at = self.start(max(index, 0))
        yield 0

    def next_bound(self, position: int) -> int:
        """The first bound behind a position; the end of the text if there is none."""
        return next((bound for bound in self._bounds_behind(position)), len(self))

    def _bounds_behind(self, position: int) -> Iterator[int]:
        index, at = self.find(position)
        while index < len(self.items):
            if self._inner[index]:
                index = self.last_part(index)
                at = self.start(index)
            ends = self.pieces.ends(self.items[index])
            for bound in ends[bisect_right(ends, position - at) :]:
                yield at + bound
            at += ends[-1]
            index += 1

    def is_gap(self, bound: int) -> bool:
        """Whether the piece that ends at a bound is dropped by the pattern."""
        if not self.pieces.lossy:
            return False
        index, at = self._sums.find(bound - 1)
        return bound - at in self.items[index].gaps

    def bounds(self, start: int, end: int) -> list[int]:
        """The bounds behind `start` up to and with `end`."""
        return list(takewhile(end.__ge__, self._bounds_behind(start)))


def _is_inner(item: Block) -> bool:
    return item.is_part and not item.ends
