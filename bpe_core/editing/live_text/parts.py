"""The tokens of a very long piece, which is kept in parts: an edit encodes a few of them again.

A document without a split pattern is one piece, and so is a megabyte of letters under any pattern. The tokens of its
parts, encoded by themselves, are exactly those of the piece if wherever two parts meet the tokens beside the border are
compatible (see `bpe_core.merging.windows`). Where they are not, the two are encoded together, and parted elsewhere. So
what is not known to be right moves to the right, border by border, until the tokens agree with those that were there.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import PART
from bpe_core.surrogates import utf8

_TOGETHER: Final = 16
"""Parts of which nothing is known that are encoded at a time."""
_PARTEST_MISFIT: Final = 12
"""Tokens that `_move_misfit` moves at most."""


def count(blocks: BlockList, index: int, farthest: int | None = None) -> int:
    """Make the tokens of an item known, and those beside the border before it compatible. It must not be open.

    Returns the index of the item behind what is known by that. If in a periodic run it would have to change a part from
    the index `farthest` on, it does nothing.
    """
    pieces, item = blocks.pieces, blocks.items[index]
    if blocks.begins_inside(index):
        left, right = pieces.ids_of(blocks.items[index - 1]), pieces.ids_of(item)
        if not pieces.compatible(left[-1], right[0]):
            moved = _move_misfit(blocks, index, len(blocks.items) if farthest is None else farthest)
            return _recut(blocks, index - 1, _last_unknown(blocks, index)) if moved is None else moved
    if item.is_part and len(item) > 2 * PART:
        return _recut(blocks, index, index + 1)
    blocks.tally.exchange(index, index + 1, [pieces.count(item)])
    return index + 1


def _last_unknown(blocks: BlockList, index: int) -> int:
    """The index behind a part and those behind it in its piece of which nothing is known, either, some at most."""
    last = index + 1
    while last < index + _TOGETHER and blocks.begins_inside(last) and blocks.tally.known(last, last + 1) is None:
        last += 1
    return last


def count_between(blocks: BlockList, start: int, end: int) -> None:
    """Make the tokens of the parts known that meet a range or touch its end."""
    index, _ = blocks.find(start)
    while index < len(blocks.items) and blocks.start(index) <= end:
        item = blocks.items[index]
        is_unknown = item.is_part and not item.is_open and blocks.tally.known(index, index + 1) is None
        index = count(blocks, index) if is_unknown else index + 1


def _recut(blocks: BlockList, first: int, last: int) -> int:
    """Encode parts together and part them anew; more to the left, as long as their first token does not fit there.

    It does not grow to the left where the border was not known to be right before, either; that may come later.
    """
    pieces, items = blocks.pieces, blocks.items
    n_more = 1
    while True:
        ids = pieces.join("".join([item.text for item in items[first:last]]))
        is_known = blocks.tally.known(first, first + 1) is not None
        if not is_known or not blocks.begins_inside(first):
            break
        if pieces.compatible(pieces.ids_of(items[first - 1])[-1], ids[0]):
            break
        for _ in range(n_more):
            first -= blocks.begins_inside(first)
        n_more *= 2
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
        while last < len(ends) and data[ends[last - 1]] & 0xC0 == 0x80:
            last += 1
        if first < last <= len(ends):
            yield data[begin : ends[last - 1]].decode(), last - first
            begin, first = ends[last - 1], last


def _move_misfit(blocks: BlockList, index: int, farthest: int) -> int | None:
    """In a periodic run, move what is not compatible to the end of the run; the tokens in between stay as they are.

    An edit in the middle of a million equal letters leaves a few of them over, which shifts all that follow. But the
    text is the same if these few stand behind the run instead: `misfit + run == run + misfit`. Only the shorter of two
    is ever moved, so nothing goes in circles. Returns the index of the part whose tokens are to be known next; None if
    this is no such run. Nothing is done if the run goes beyond the index `farthest`.
    """
    pieces, items = blocks.pieces, blocks.items
    left, following = items[index - 1], items[index].text
    ids, first_right = pieces.ids_of(left), pieces.ids_of(items[index])[0]
    before = pieces.ids_of(items[index - 2])[-1:] if blocks.begins_inside(index - 1) else ()
    for n in range(1, min(_PARTEST_MISFIT, len(ids)) + 1):
        data = b"".join(map(pieces.token_bytes, ids[-n:]))
        misfit = data.decode(errors="ignore")
        if utf8(misfit) != data or len(misfit) >= len(following) or misfit + following != following + misfit:
            continue
        kept = (*before, *ids)[: len(before) + len(ids) - n]
        if not left.is_open and (not kept or pieces.compatible(kept[-1], first_right)):
            break
    else:
        return None
    behind = index + 1
    while (
        behind <= farthest
        and blocks.begins_inside(behind)
        and misfit + items[behind].text == items[behind].text + misfit
    ):
        behind += 1
        if blocks.tally.known(behind, behind + 1) is None:  # not looked at yet: that can wait, too
            break
    if behind > farthest:
        return index + 1
    is_inside = blocks.begins_inside(behind)
    if not is_inside:
        behind -= 1
    text = misfit + items[behind].text if is_inside else items[behind].text + misfit
    blocks.replace(behind, behind + 1, [pieces.part(text, bool(items[behind].ends))], [None])
    blocks.doubt(behind + 1)
    count = blocks.tally.known(index - 1, index)
    rest = [pieces.part(left.text[: -len(misfit)], False)] if len(misfit) < len(left) else []
    blocks.replace(index - 1, index, rest, [None if count is None else count - n] * len(rest))
    return index - 1 + len(rest)
