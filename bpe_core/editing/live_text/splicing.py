"""Making an edit of a live text, and telling what it does to the tokens.

There are two ways: between two safe cuts that are near, in one block; and by splitting again until old pieces are met.
"""

from itertools import chain
from typing import Final

from bpe_core.editing.change import Change, Edit, compare
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import LEAST, LONG, MOST, Block
from bpe_core.editing.live_text.edited_text import EditedText
from bpe_core.editing.live_text.parts import count
from bpe_core.editing.live_text.regroup import regroup
from bpe_core.editing.live_text.resplit import resplit

_NEAR: Final = 16
"""Parts of long pieces near an edit of which it makes the tokens known; the others are left to `LiveText.settle`."""


def splice(blocks: BlockList, edit: Edit) -> tuple[BlockList, Change]:
    """The blocks after `edit`, which must change the text, and what it does to the tokens.

    `blocks` may be changed, but if an error is raised, it is as it was.
    """
    change = _between_cuts(blocks, edit)
    if change:
        return blocks, change
    new, text = blocks.copy(), EditedText(blocks, edit)
    regroup(new, text, resplit(blocks, text))
    _count(new)
    return new, _change(blocks, new, edit)


def _between_cuts(blocks: BlockList, edit: Edit) -> Change | None:
    """Make an edit between two safe cuts that are near, in one block that is neither too long then nor too short."""
    items, pieces = blocks.items, blocks.pieces
    index, begin = blocks.find(edit.start)
    block = items[index] if items else None
    if not block or not block.is_apart or block.is_open or len(edit.replacement) > LONG:
        return None
    text, typed = block.text, edit.replacement
    lo, hi = edit.start - begin, edit.end - begin
    around = pieces.around(text, lo, hi, not index, index == len(items) - 1)
    edited = f"{text[:lo]}{typed}{text[hi:]}"
    if not around or not min(LEAST, len(text)) <= len(edited) <= MOST:
        return None
    first, last = around
    came = edited[first : last + len(edited) - len(text)]
    old, new = pieces.encoded(text[first:last]), pieces.encoded(came)
    change = compare(old, new, pieces.token_bytes, came, slice(lo - first, lo - first + len(typed)), begin + first)
    change = change.without_gaps() if pieces.lossy else change
    blocks.put(index, Block(edited, True), change.n_tokens)
    return change


def _count(blocks: BlockList) -> None:
    """Make known how many tokens those items have that are new, as long as they are not open."""
    index, n_parts = blocks.changed[0], 0
    while n_parts < _NEAR:
        found = blocks.tally.next_unknown(index, len(blocks.items) - blocks.changed[1])
        if found is None:
            break
        item = blocks.items[found]
        index = found + 1 if item.is_open else count(blocks, found, found + _NEAR)
        n_parts += item.is_part


def _change(old: BlockList, new: BlockList, edit: Edit) -> Change:
    """What an edit does to the tokens. Those of an item that are not known yet are taken to be as if it stood alone."""
    pieces = new.pieces
    first, last = new.changed
    gone, came = old.items[first : len(old.items) - last], new.items[first : len(new.items) - last]
    old_ids, new_ids = (list(chain.from_iterable(map(pieces.ids_of, items))) for items in (gone, came))
    start, text = new.start(first), "".join([item.text for item in came])
    edited = slice(edit.start - start, edit.stop - start)
    change = compare(old_ids, new_ids, pieces.token_bytes, text, edited, start)
    return change.without_gaps() if pieces.lossy else change
