"""Putting new pieces in the place of old ones, in blocks and parts."""

from bpe_core.common_prefix import common_prefix
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import LEAST, Block, blocks_of
from bpe_core.editing.live_text.edited_text import EditedText
from bpe_core.editing.live_text.resplit import Resplit


def regroup(blocks: BlockList, text: EditedText, new: Resplit) -> None:
    """Put the new pieces of an edit, or of splitting on, into `blocks`, on which `text` must not depend.

    The number of their tokens is not known then.
    """
    growth, is_safe, items = text.edit.growth, blocks.pieces.is_safe_cut, blocks.items
    first, last, start, end = blocks.cover(new.lo, blocks.next_bound(new.hi) if new.is_open else new.hi)
    opened = {start} if first < last and start < new.lo and items[first].is_open else set[int]()
    opened |= {new.hi + growth} if new.is_open else set()
    left = not start or is_safe(text.between(start - 1, start + 1))
    right = end == len(blocks) or is_safe(text.between(max(0, end + growth - 1), end + growth + 1))
    if not left and _is_apart(blocks, first - 1):  # it does not stand apart any more
        first, start = first - 1, start - len(items[first - 1])
    if not right and _is_apart(blocks, last):
        last, end = last + 1, end + len(items[last])
    before, behind = blocks.bounds(start, new.lo), blocks.bounds(new.hi, end)
    ends = [*before, *new.bounds, *(bound + growth for bound in behind)]
    longest = max((stop - begin for begin, stop in zip([start, *ends], ends, strict=False)), default=0)
    if left and right and not opened and longest <= blocks.pieces.longest:
        joined = text.between(start, end + growth)
        if len(joined) < LEAST and _is_apart(blocks, last):
            joined += items[last].text
            last += 1
        came = list(blocks.read(joined))
    else:
        gaps = {*new.gaps, *filter(blocks.is_gap, before)}
        gaps |= {bound + growth for bound in filter(blocks.is_gap, behind)}
        came = list(
            blocks_of(
                text.between,
                start,
                ends,
                frozenset(gaps),
                frozenset(opened),
                blocks.pieces.longest,
                is_safe,
                text.parts,
            )
        )
    _replace(blocks, first, last, came)


def _is_apart(blocks: BlockList, index: int) -> bool:
    """Whether there is an item at `index` that stands apart and is not open."""
    return 0 <= index < len(blocks.items) and blocks.items[index].is_apart and not blocks.items[index].is_open


def _replace(blocks: BlockList, first: int, last: int, items: list[Block]) -> None:
    """Replace items, but for those at both ends that are the same."""
    old = blocks.items[first:last]
    head = common_prefix(old, items)
    tail = common_prefix(old[head:][::-1], items[head:][::-1])
    items = items[head : len(items) - tail]
    blocks.replace(first + head, last - tail, items, [None] * len(items))
    blocks.doubt(first + head + len(items))
