"""Splitting an edited text again where no safe cuts are near: until a new piece ends where an old one did.

Where a piece ends follows from where it begins and from what comes after, and a pattern is proved to depend on no
character beyond its match attempts (`bpe_core.patterns.automaton`). So pieces whose attempts end before an edit stay,
and as soon as a new piece ends behind the edit where an old one did, all later ones are as they were. In a million
digits, taken three at a time, that may never come: then the rest is left as it is, and the item where splitting has to
go on is marked as *open*; later steps move that mark to the right.
"""

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final, NamedTuple

from bpe_core.editing.change import Edit
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import Gap
from bpe_core.editing.live_text.long_piece import LongPiece
from bpe_core.editing.live_text.pieces import Pieces

STEP: Final = 1 << 12
"""Characters behind an edit that are split again at most, unless a piece is longer."""
_FIRST: Final = 64
"""Characters behind an edit that are split again at first."""


class Resplit(NamedTuple):
    """New pieces in the place of old ones."""

    lo: int
    """Where the first new piece begins."""
    hi: int
    """End of the text that they replace, as an offset before the edit."""
    pieces: list[str]
    is_open: bool
    """Whether `hi` is no bound of the old pieces: then what follows it is yet to be split again."""


def resplit(old: BlockList, pieces: Pieces, edit: Edit, lo: int | None = None) -> Resplit:
    """The pieces that an edit makes; if `lo` is given, this bound is known to stay one, and so are those before it."""
    text = _Edited(old, edit)
    if not pieces.has_cuts:
        return Resplit(0, len(old), pieces.split(text.between(0, len(text))), False)
    if lo is None:
        lo = pieces.fixed_bound(old.bounds_before(edit.start), old.between, edit.start)
    at, found, ahead = lo, list[str](), _FIRST
    while True:
        end = text.end_near(max(at, edit.stop) + ahead)
        part = text.between(at, end)
        new = pieces.split(part)
        ends = list(accumulate(map(len, new)))
        sure = len(part)
        if end < len(text):
            sure = pieces.fixed_bound(reversed(ends), _between(part), sure)
        shift, n_sure = at - edit.growth, bisect_right(ends, sure)
        known = set(old.bounds(max(edit.end, shift), end - edit.growth))
        n_new = next((i for i, bound in enumerate(ends[:n_sure], 1) if bound + shift in known), n_sure)
        found += new[:n_new]
        at += ends[n_new - 1] if n_new else 0
        is_met = end == len(text) or (n_new > 0 and at - edit.growth in known)
        if is_met or at >= edit.stop + STEP:
            return _without_front(Resplit(lo, at - edit.growth, found, not is_met), old, edit)
        ahead = max(STEP, 0 if n_new else 8 * ahead)


def _without_front(new: Resplit, old: BlockList, edit: Edit) -> Resplit:
    """Without the pieces before the edit that are as they were."""
    n_same, lo = 0, new.lo
    for bound in old.bounds(lo + 1, edit.start):
        if n_same == len(new.pieces) or lo + len(new.pieces[n_same]) != bound:
            break
        if isinstance(new.pieces[n_same], Gap) != old.is_gap(bound):
            break
        lo = bound
        n_same += 1
    return new._replace(lo=lo, pieces=new.pieces[n_same:])


def _between(text: str) -> Callable[[int, int], str]:
    return lambda start, end: text[start:end]


class _Edited:
    """A text as it will be after an edit."""

    def __init__(self, old: BlockList, edit: Edit) -> None:
        self._old = old
        self._edit = edit

    def __len__(self) -> int:
        return len(self._old) + self._edit.growth

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        edit = self._edit
        before = self._old.between(start, min(end, edit.start)) if start < edit.start else ""
        typed = edit.replacement[max(0, start - edit.start) : max(0, end - edit.start)]
        behind = self._old.between(max(edit.end, start - edit.growth), end - edit.growth) if end > edit.stop else ""
        return "".join((before, typed, behind))

    def end_near(self, end: int) -> int:
        """A place behind the edit from `end` on, or somewhat farther: not inside of a long piece of the old text."""
        place = end - self._edit.growth
        if place >= len(self._old):
            return len(self)
        index, at = self._old.find(place)
        item = self._old.items[index]
        return min(len(self), at + len(item) + self._edit.growth + _FIRST) if isinstance(item, LongPiece) else end
