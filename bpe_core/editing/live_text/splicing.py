"""Making an edit of a live text, and telling what it does to the tokens.

There are two ways: between two safe cuts that are near, in one block; and by splitting again until old pieces are met.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from bpe_core.editing.change import Change, Edit, compare
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import LEAST, LONG, MOST, Block
from bpe_core.editing.live_text.edited_text import EditedText
from bpe_core.editing.live_text.parts import count
from bpe_core.editing.live_text.regroup import regroup
from bpe_core.editing.live_text.resplit import resplit

_TOGETHER: Final = 64
"""Parts that are encoded in a step, at most."""
_NEAR: Final = 8
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
    n_near = 0
    for n_parts in settling(new, only_changed=True):
        n_near += n_parts
        if n_near >= _NEAR:
            break
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


def settling(blocks: BlockList, *, only_changed: bool = False) -> Iterator[int]:
    """Make known how many tokens all items have, or those that changed and are not open, step by step.

    Yields after each step how many parts of long pieces were encoded in it. In a run, tokens that an edit shifts may
    shift those of each further part: then more and more are encoded in a step.
    """
    first, index, n_parts = blocks.changed[0] if only_changed else 0, -1, 1
    while True:
        found = blocks.tally.next_unknown(first, len(blocks.items) - (blocks.changed[1] if only_changed else 0))
        if found is None:
            return
        item = blocks.items[found]
        if not item.is_open:
            n_parts = min(2 * n_parts, _TOGETHER) if found == index else 1
            index = count(blocks, found, n_parts)
            yield n_parts * item.is_part
        elif only_changed:
            first = found + 1
        else:
            at = blocks.start(found)  # go on splitting: the mark moves to the right, or ends
            text = EditedText(blocks.copy(), Edit(at, at, ""))
            regroup(blocks, text, resplit(blocks, text, at))
            yield 0


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
