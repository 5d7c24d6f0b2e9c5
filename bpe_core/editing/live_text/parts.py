"""The tokens of a very long piece, which is kept in parts: an edit encodes a few of them again.

A document without a split pattern is one piece, and so is a megabyte of letters under any pattern. The tokens of its
parts, encoded by themselves, are exactly those of the piece if wherever two parts meet the tokens beside the border are
compatible (`bpe_core.vocabulary.windows`). Where they are not, the two are encoded together, and parted elsewhere. So
what is not known to be right moves to the right, border by border, until the tokens agree with those that were there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import PART
from bpe_core.utf8 import CONTINUATIONS, utf8


def count(blocks: BlockList, index: int, n_parts: int = 1) -> int:
    """Make the tokens of an item known, and those beside the border before it compatible. It must not be open.

    Where they are not, so many parts are encoded again. Returns the index of the item behind what is known then.
    """
    pieces, item = blocks.pieces, blocks.items[index]
    if blocks.begins_inside(index):
        left, right = pieces.ids_of(blocks.items[index - 1]), pieces.ids_of(item)
        if not pieces.compatible(left[-1], right[0]):
            is_known = blocks.tally.known(index - 1, index) is not None
            return _recut(blocks, index - 1, min(index + n_parts, blocks.last_part(index) + 1), is_known)
    if item.is_part and len(item) > 2 * PART:
        return _recut(blocks, index, index + 1, True)
    blocks.tally.exchange(index, index + 1, [pieces.count(item)])
    return index + 1


def count_between(blocks: BlockList, start: int, end: int) -> None:
    """Make the tokens of the parts known that meet a range or touch its end."""
    index, _ = blocks.find(start)
    while index < len(blocks.items) and blocks.start(index) <= end:
        item = blocks.items[index]
        is_unknown = item.is_part and not item.is_open and blocks.tally.known(index, index + 1) is None
        index = count(blocks, index) if is_unknown else index + 1


def _recut(blocks: BlockList, first: int, last: int, is_known: bool) -> int:
    """Encode parts together and part them anew; more to the left, as long as their first token does not fit there.

    `is_known` says whether the border before them was known to be right. If not, it does not grow to the left, either;
    that may come later.
    """
    pieces, items = blocks.pieces, blocks.items
    n_more = 1
    while True:
        ids = pieces.join("".join([item.text for item in items[first:last]]))
        if not is_known or not blocks.begins_inside(first):
            break
        if pieces.compatible(pieces.ids_of(items[first - 1])[-1], ids[0]):
            break
        for _ in range(n_more):
            first -= blocks.begins_inside(first)
        n_more *= 2
        is_known = blocks.tally.known(first, first + 1) is not None
    opens, ends_piece = items[first].is_open, bool(items[last - 1].ends)
    is_known = not opens and (is_known or not blocks.begins_inside(first))
    fits = not blocks.begins_inside(last) or pieces.ids_of(items[last - 1])[-1] == ids[-1]
    came = list(_cut("".join([item.text for item in items[first:last]]), ids, pieces.token_bytes))
    parts = [pieces.part(text, ends_piece and i == len(came), opens and i == 1) for i, (text, _) in enumerate(came, 1)]
    counts: list[int | None] = [n for _, n in came]
    if not is_known:
        counts[0] = None
    blocks.replace(first, last, parts, counts)
    if not fits:
        blocks.doubt(first + len(parts))
    return first + len(parts)


def _cut(text: str, ids: Sequence[int], token_bytes: Callable[[int], bytes]) -> Iterator[tuple[str, int]]:
    """(text, how many tokens) of the parts of a text with these tokens, cut where a token and a character both end."""
    data = utf8(text)
    ends = list(accumulate(map(len, map(token_bytes, ids))))
    n_parts = max(1, round(len(text) / PART))
    begin = first = 0
    for number in range(1, n_parts + 1):
        last = bisect_left(ends, len(data) * number // n_parts, first) + 1
        while last < len(ends) and data[ends[last - 1]] in CONTINUATIONS:
            last += 1
        if first < last <= len(ends):
            yield data[begin : ends[last - 1]].decode(), last - first
            begin, first = ends[last - 1], last
