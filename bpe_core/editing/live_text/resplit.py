"""Splitting an edited text again where no safe cuts are near: until a new piece ends where an old one did.

Where a piece ends follows from where it begins and from what comes after, and a pattern is proved to depend on no
character beyond its match attempts (`bpe_core.patterns.automaton`). So pieces whose attempts end before an edit stay,
and as soon as a new piece ends behind the edit where an old one did, all later ones are as they were. In a million
digits, taken three at a time, that may never come: then the rest is left as it is, and the item where splitting has to
go on is marked as *open*; later steps move that mark to the right.

A long piece is not gone through again: where the kernel has a scanner, what lies inside of a run of characters that it
does not tell apart is left out (see `EditedText.shortened`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final, NamedTuple

from bpe_core.editing.change import Edit
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import Gap
from bpe_core.editing.live_text.edited_text import EditedText

STEP: Final = 1 << 10
"""Characters behind an edit that are split again at most, unless a piece is longer; four times as many afterwards."""
_FIRST: Final = 64
"""Characters behind an edit that are split again at first."""


class Resplit(NamedTuple):
    """New pieces in the place of old ones."""

    lo: int
    """Where the first new piece begins."""
    hi: int
    """End of the text that they replace, as an offset before the edit."""
    bounds: list[int]
    """Where they end, as offsets after the edit."""
    gaps: frozenset[int]
    """Those of the bounds at which a gap ends."""
    is_open: bool
    """Whether `hi` is no bound of the old pieces: then what follows it is yet to be split again."""


def resplit(old: BlockList, text: EditedText, lo: int | None = None) -> Resplit:
    """The pieces that an edit makes; if `lo` is given, this bound is known to stay one, and so are those before it."""
    pieces, edit, growth, most = old.pieces, text.edit, text.edit.growth, STEP if lo is None else 4 * STEP
    if pieces.is_whole:
        return Resplit(0, len(old), [len(text)] if len(text) else [], frozenset(), False)
    if not pieces.has_cuts:
        lo = 0
    elif lo is None:
        lo = pieces.fixed_bound(old.bounds_before(edit.start), old.between, edit.start)
    at, end, found, gaps, ahead = lo, max(lo, edit.stop), list[int](), set[int](), _FIRST
    while True:
        end = text.end_near(end + ahead) if pieces.has_cuts else len(text)
        part, left_out = text.shortened(at, end)
        new = pieces.split(part)
        ends = list(accumulate(map(len, new)))
        sure = len(part)
        if end < len(text):
            sure = pieces.fixed_bound(reversed(ends), _between(part), sure)
        n_sure = bisect_right(ends, sure)
        places, n_left_out = [place for place, _ in left_out], list(accumulate((n for _, n in left_out), initial=at))
        bounds = [end + n_left_out[bisect_left(places, end)] for end in ends[:n_sure]]
        behind = max(edit.end, at - growth) - 1, end - growth
        known = set(old.bounds(*behind)) if pieces.has_cuts else set()
        n_new = next((i for i, bound in enumerate(bounds, 1) if bound - growth in known), n_sure)
        found += bounds[:n_new]
        gaps.update(bound for bound, piece in zip(bounds[:n_new], new, strict=False) if isinstance(piece, Gap))
        at = found[-1] if n_new else at
        is_met = end == len(text) or (n_new > 0 and at - growth in known)
        if is_met or at >= edit.stop + most:
            return _without_front(Resplit(lo, at - growth, found, frozenset(gaps), not is_met), old, edit)
        ahead = max(most, 0 if n_new else 8 * ahead)


def _without_front(new: Resplit, old: BlockList, edit: Edit) -> Resplit:
    """Without the pieces before the edit that are as they were."""
    n_same, lo = 0, new.lo
    for bound in old.bounds(lo, edit.start):
        if new.bounds[n_same : n_same + 1] != [bound] or (bound in new.gaps) != old.is_gap(bound):
            break
        lo = bound
        n_same += 1
    return new._replace(lo=lo, bounds=new.bounds[n_same:])


def _between(text: str) -> Callable[[int, int], str]:
    return lambda start, end: text[start:end]
