"""A text as blocks and long pieces in a row, so that an edit touches little of a text of any size."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bpe_core.editing.live_text.blocks import LEAST, MOST, SIZE, Block, Gap, Item, grouped
from bpe_core.editing.live_text.fragments import Fragment, Row, assembled
from bpe_core.editing.live_text.long_piece import LONG, LongPiece
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.editing.prefix_sums import PrefixSums


class Exchange(NamedTuple):
    """A planned replacement of adjacent items by others, which `BlockList.make` carries out."""

    first: int
    """Index of the first item replaced, and of the first new one."""
    last: int
    """Index behind the last item replaced."""
    items: list[Item]
    """The new items."""
    start: int
    """Offset of the first new item."""
    open: list[Item]
    """All items of the text that are open afterwards; see `BlockList.open`."""

    def within(self, start: int, end: int) -> Iterator[tuple[int, Item]]:
        """(start, item) for those that meet a range."""
        at = self.start
        for item in self.items:
            if at < end and start < at + len(item):
                yield at, item
            at += len(item)


class BlockList:
    """The items of a text in order. Offsets are code points; a *bound* is an offset where a piece ends, or 0."""

    __slots__ = ("_pieces", "_sums", "items", "open")

    def __init__(self, pieces: Pieces, text: str) -> None:
        self._pieces = pieces
        self.items: list[Item] = list(self._read(text))
        """In the order of the text; to be changed by `make` only."""
        self.open: list[Item] = []
        """Items whose first piece, and those behind it, may be wrong until they are split again; see `resplit`."""
        self._sums = PrefixSums(list(map(len, self.items)))

    def __len__(self) -> int:
        return self._sums.total

    def use(self, pieces: Pieces) -> None:
        """Forget all tokens; the next ones are those of another vocabulary. The pieces must be the same."""
        self._pieces = pieces
        for item in self.items:
            if isinstance(item, LongPiece):
                item.use(pieces.tokenizer.vocabulary)

    def _read(self, text: str) -> Iterator[Item]:
        """A text as items. It is split only where it has no safe cuts for long."""
        at, has_cuts = 0, self._pieces.has_cuts
        while at < len(text):
            end = self._pieces.splitter.cut(text, at + SIZE) if has_cuts else len(text)
            if has_cuts and end - at <= MOST:
                yield Block(text[at:end], True)
            else:
                yield from self._grouped(self._pieces.split(text[at:end]), at, (text[at - 1 : at], text[end : end + 1]))
            at = end

    def _grouped(
        self, pieces: list[str], start: int, beside: tuple[str, str], kept: Sequence[Row] = ()
    ) -> Iterator[Item]:
        return grouped(pieces, start, beside, self._pieces.is_safe_cut, partial(self._long_piece, kept))

    def _long_piece(self, kept: Sequence[Row], piece: str, start: int) -> LongPiece | None:
        """The long piece that begins at `start`, for which some fragments are known; None if it is a gap."""
        return (
            None
            if isinstance(piece, Gap)
            else LongPiece(self._pieces.tokenizer.vocabulary, assembled(piece, start, kept))
        )

    def find(self, position: int) -> tuple[int, int]:
        """(index, start) of the item that holds `position`; of the last one for the end of the text."""
        return self._sums.find(position)

    def start(self, index: int) -> int:
        """Where the item at `index` begins."""
        return self._sums.start(index)

    def fragments(self, lo: int, hi: int, new: Exchange | None = None) -> list[Fragment]:
        """The text of a range in pieces with their tokens; of a long piece, its fragments as they are.

        With `new`, those of a range inside of what an exchange is going to bring.
        """
        found: list[Fragment] = []
        for at, item in (new or self).within(lo, hi):
            if isinstance(item, LongPiece):
                found += item.fragments if at + len(item) <= hi else [(item.between(0, hi - at), None)]
                continue
            ends = self._pieces.ends(item)
            begin = max(0, lo - at)
            for end in ends[bisect_right(ends, begin) :]:
                piece = item.piece(begin, end, min(end, hi - at))
                if not piece:
                    break
                found.append((piece, self._pieces.ids(piece)))
                begin = end
        return found

    def make(self, exchange: Exchange) -> None:
        """Put new items in the place of old ones."""
        self.items[exchange.first : exchange.last] = exchange.items
        self._sums.replace(exchange.first, exchange.last, list(map(len, exchange.items)))
        self.open = exchange.open

    def exchange(self, lo: int, hi: int, new: list[str], is_open: bool, kept: Sequence[Row]) -> Exchange:
        """Pieces in the place of the text from `lo`, a bound, up to `hi`; if `hi` is none, it `is_open` then."""
        first, last, start, end = self._cover(lo, hi)
        gone = self.items[first:last]
        head = self._before(gone[0], lo - start) if lo > start else []
        tail = self._behind(gone[-1], hi - end + len(gone[-1])) if hi < end else []
        was_open = bool(head) and gone[0] in self.open
        still_open = [item for item in self.open if item not in gone]
        head += new
        before, behind = self._beside(start, end)
        inner = head + tail or [""]
        pairs = before + (inner[0] or behind)[:1], (inner[-1] or before)[-1:] + behind
        left, right = map(self._pieces.is_safe_cut, pairs)
        if left and right and not was_open and not is_open and max(map(len, new), default=0) <= LONG:
            text = "".join(inner)
            if len(text) < LEAST and (block := self._apart(last)):
                text += block.text
                last += 1
            items = list(self._read(text))
        else:
            if not left and (block := self._apart(first - 1)):  # it does not stand apart any more
                head = self._pieces.pieces(block) + head
                first, start = first - 1, start - len(block)
            if not right and (block := self._apart(last)):
                tail += self._pieces.pieces(block)
                last, end = last + 1, end + len(block)
            items, opened = self._regrouped(head, tail, start, self._beside(start, end), is_open, kept)
            still_open += opened + (items[:1] if was_open else [])
        return Exchange(first, last, items, start, still_open)

    def _apart(self, index: int) -> Block | None:
        """The item at an index, if it is a block that stands apart."""
        item = self.items[index] if 0 <= index < len(self.items) else None
        return item if isinstance(item, Block) and item.is_apart else None

    def _beside(self, start: int, end: int) -> tuple[str, str]:
        """The characters before and behind a range, if there are some."""
        return self.between(max(0, start - 1), start), self.between(end, min(len(self), end + 1))

    def _regrouped(
        self, head: list[str], tail: list[str], start: int, beside: tuple[str, str], is_open: bool, kept: Sequence[Row]
    ) -> tuple[list[Item], list[Item]]:
        """Pieces as items, and of these the one that is open, if the text `is_open` between head and tail."""
        if not is_open:
            return list(self._grouped(head + tail, start, beside, kept)), []
        items = list(self._grouped(head, start, (beside[0], tail[0][:1]), kept))
        left = list(self._grouped(tail, 0, (head[-1][-1], beside[1])))
        return items + left, left[:1]

    def _before(self, item: Item, end: int) -> list[str]:
        """The pieces of an item up to a bound of it."""
        assert isinstance(item, Block)
        return self._pieces.pieces(item)[: bisect_right(self._pieces.ends(item), end)]

    def _behind(self, item: Item, start: int) -> list[str]:
        """The pieces of an item from a place on; the first may be a part of one."""
        if isinstance(item, LongPiece):
            return [item.between(start, len(item))]
        ends = self._pieces.ends(item)
        index = bisect_right(ends, start)
        return [item.piece(start, ends[index]), *self._pieces.pieces(item)[index + 1 :]]

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

    def _cover(self, lo: int, hi: int) -> tuple[int, int, int, int]:
        """(first, last, start, end): the items that hold a range, or a place inside of one, and where these lie."""
        if not self.items:
            return 0, 0, 0, 0
        first, start = self._sums.find(lo)
        end = start + self._sums[first]
        if lo == hi and lo in (start, end):
            return first + (lo > start), first + (lo > start), lo, lo
        last = first + 1
        while end < hi:
            end += self._sums[last]
            last += 1
        return first, last, start, end

    def bounds_before(self, position: int) -> Iterator[int]:
        """The bounds up to and with `position`, the last one first; 0 is one."""
        index, at = self._sums.find(position) if self.items else (-1, 0)
        while index >= 0:
            ends = self._pieces.ends(self.items[index])
            for end in reversed(ends[: bisect_right(ends, position - at)]):
                yield at + end
            index -= 1
            at -= self._sums[index] if index >= 0 else 0
        yield 0

    def is_gap(self, bound: int) -> bool:
        """Whether the piece that ends at a bound is dropped by the pattern."""
        index, at = self._sums.find(bound - 1)
        item = self.items[index]
        return isinstance(item, Block) and bound - at in item.gaps

    def bounds(self, start: int, end: int) -> list[int]:
        """The bounds from `start` up to and with `end`; both ends of the text are some."""
        found: list[int] = []
        for at, item in self.within(start, end):
            ends = self._pieces.ends(item)
            part = ends[bisect_left(ends, start - at) : bisect_right(ends, end - at)]
            found += [start] if at == start else ()
            found += [at + bound for bound in part]
        return found
