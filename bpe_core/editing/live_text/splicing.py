"""Computing the outcome of an edit of a live text, before anything is changed.

There are three ways: between two safe cuts that are near, in one block; inside of a long piece that stays one; and by
splitting again until old pieces are met. Each gives the items that are to be exchanged.
"""

from typing import NamedTuple

from bpe_core.editing.change import Change, Edit, compare
from bpe_core.editing.live_text.block_list import BlockList, Exchange
from bpe_core.editing.live_text.blocks import LEAST, MOST, Block
from bpe_core.editing.live_text.fragments import compare_fragments, untouched
from bpe_core.editing.live_text.long_piece import LONG, LongPiece
from bpe_core.editing.live_text.pieces import Pieces
from bpe_core.editing.live_text.resplit import Resplit, resplit
from bpe_core.editing.tally import Tally


class Splice(NamedTuple):
    """The outcome of an edit that is not made yet."""

    change: Change
    """What it does to the tokens."""
    exchange: Exchange
    """The items that come, and those that go."""
    counts: list[int | None]
    """How many tokens each of those that come has, if that is known."""


def splice(blocks: BlockList, pieces: Pieces, tally: Tally, edit: Edit) -> Splice:
    """The outcome of `edit`, which must change the text. Changes nothing itself."""
    found = _between_cuts(blocks, pieces, tally, edit)
    if found:
        return found
    if pieces.is_whole and _is_long(blocks, 0, len(blocks)) and len(blocks) + edit.growth > LONG:
        return _in_long_piece(blocks, pieces, tally, edit, 0)
    new = resplit(blocks, pieces, edit)
    if len(new.pieces) == 1 and pieces.is_long(new.pieces[0]) and _is_long(blocks, new.lo, new.hi):
        return _in_long_piece(blocks, pieces, tally, edit, new.lo)
    exchange = exchanged(blocks, new, edit)
    settled = not tally.n_unknown and not blocks.open
    counts = [pieces.count(item) if settled else None for item in exchange.items]
    old, came = blocks.fragments(new.lo, new.hi), blocks.fragments(new.lo, new.hi + edit.growth, exchange)
    change = compare_fragments(edit, new.lo, old, came, pieces.tokenizer.vocabulary.join, pieces.token_bytes)
    return Splice(change.without_gaps() if pieces.lossy else change, exchange, counts)


def _between_cuts(blocks: BlockList, pieces: Pieces, tally: Tally, edit: Edit) -> Splice | None:
    """An edit between two safe cuts that are near, in one block that is neither too long then nor too short."""
    items = blocks.items
    index, begin = blocks.find(edit.start)
    block = items[index] if items else None
    if type(block) is not Block or not block.is_apart or len(edit.replacement) > LONG:
        return None
    text = block.text
    lo, hi = edit.start - begin, edit.end - begin
    around = pieces.around(text, lo, hi, not index, index == len(items) - 1)
    edited = text[:lo] + edit.replacement + text[hi:]
    if not around or not min(LEAST, len(text)) <= len(edited) <= MOST:
        return None
    first, last = around
    came = edited[first : last + edit.growth]
    typed = slice(lo - first, lo - first + len(edit.replacement))
    old, new = pieces.encoded(text[first:last]), pieces.encoded(came)
    change = compare(old, new, pieces.token_bytes, came, typed, begin + first)
    return _replaced(
        blocks, tally, index, begin, Block(edited, True), change.without_gaps() if pieces.lossy else change
    )


def _is_long(blocks: BlockList, lo: int, hi: int) -> bool:
    """Whether a single long piece stands between the bounds."""
    at, item = next(blocks.within(lo, hi), (0, None))
    return isinstance(item, LongPiece) and at == lo and at + len(item) == hi


def _in_long_piece(blocks: BlockList, pieces: Pieces, tally: Tally, edit: Edit, lo: int) -> Splice:
    """An edit inside of the long piece that begins at `lo` and stays one."""
    index, _ = blocks.find(lo)
    item = blocks.items[index]
    assert isinstance(item, LongPiece)
    edited = item.copy()
    begin, old, new = edited.splice(edit.start - lo, edit.end - lo, edit.replacement)
    change = compare_fragments(edit, lo + begin, old, new, pieces.tokenizer.vocabulary.join, pieces.token_bytes)
    return _replaced(blocks, tally, index, lo, edited, change)


def _replaced(
    blocks: BlockList, tally: Tally, index: int, start: int, item: Block | LongPiece, change: Change
) -> Splice:
    """One item in the place of another."""
    gone = blocks.items[index]
    still_open = [item if opened is gone else opened for opened in blocks.open]
    count = tally.known(index, index + 1)
    counts = [None if count is None else count + change.n_tokens]
    return Splice(change, Exchange(index, index + 1, [item], start, still_open), counts)


def exchanged(blocks: BlockList, new: Resplit, edit: Edit) -> Exchange:
    """New pieces in the place of old ones; of long pieces the fragments that the edit leaves alone are kept."""
    long_pieces = [(at, item) for at, item in blocks.within(new.lo, new.hi) if isinstance(item, LongPiece)]
    kept = [row for at, item in long_pieces for row in untouched(edit, at, item.fragments)]
    return blocks.exchange(new.lo, new.hi, new.pieces, new.is_open, kept)
