"""A live text as it will be after an edit, seen through its old blocks."""

from itertools import chain
from typing import Final

from bpe_core.editing.change import Edit
from bpe_core.editing.live_text.block_list import BlockList
from bpe_core.editing.live_text.blocks import SHORT, Block, slices

_BEHIND: Final = 64
"""Characters behind a long piece that are split again together with it."""


class EditedText:
    """The text of `old` with `edit` made. Offsets are those after the edit."""

    def __init__(self, old: BlockList, edit: Edit) -> None:
        self.edit: Final = edit
        """The edit."""
        self._old = old

    def __len__(self) -> int:
        return len(self._old) + self.edit.growth

    def between(self, start: int, end: int) -> str:
        """The text of a range."""
        edit = self.edit
        before = self._old.between(start, min(end, edit.start)) if start < edit.start else ""
        typed = edit.replacement[max(0, start - edit.start) : max(0, end - edit.start)]
        behind = self._old.between(max(edit.end, start - edit.growth), end - edit.growth) if end > edit.stop else ""
        return "".join((before, typed, behind))

    def end_near(self, end: int) -> int:
        """A place behind the edit from `end` on, or somewhat farther: not inside of a long piece of the old text."""
        place = end - self.edit.growth
        if place >= len(self._old):
            return len(self)
        index, _ = self._old.find(place)
        if not self._old.items[index].is_part:
            return end
        return min(len(self), self._old.start(self._old.last_part(index) + 1) + self.edit.growth + _BEHIND)

    def shortened(self, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
        """The text of a range, and what is left out of it: (place in the text that is returned, how many characters).

        The pieces of it end where those of all of it do, see `BlockList.left_out`.
        """
        edit, old, texts, places, n = self.edit, self._old, list[str](), list[tuple[int, int]](), 0
        before = old.left_out(start, min(end, edit.start))
        behind = old.left_out(max(edit.end, start - edit.growth), end - edit.growth)
        for lo, hi in chain(before, ((lo + edit.growth, hi + edit.growth) for lo, hi in behind)):
            texts.append(self.between(start, lo))
            n += lo - start
            places.append((n, hi - lo))
            start = hi
        return "".join((*texts, self.between(start, end))), places

    def parts(self, start: int, end: int, is_open: bool) -> list[Block]:
        """The parts of a long piece: those old ones that the edit leaves alone, and new ones between them."""
        edit, make = self.edit, self._old.pieces.part
        before = self._old.parts_within(start, min(end, edit.start))
        behind = self._old.parts_within(max(edit.end, start - edit.growth), end - edit.growth)
        rows = [*before, *((at + edit.growth, to + edit.growth, row) for at, to, row in behind)]
        found: list[Block] = []
        done = start
        for at, to, row in (*rows, (end, end, list[Block]())):
            text = self.between(done, at)
            if 0 < len(text) < SHORT and row:
                text += row.pop(0).text
            elif 0 < len(text) < SHORT and found:
                text = found.pop().text + text
            found += [make(new, False) for new in slices(text)]
            for index in {0, len(row) - 1} if row else ():
                if row[index].is_open or (row[index].ends and to < end):
                    row[index] = make(row[index].text, False)
            found += row
            done = to
        for index in {0, len(found) - 1}:
            opens, is_last = is_open and not index, index == len(found) - 1
            if found[index].is_open != opens or bool(found[index].ends) != is_last:
                found[index] = make(found[index].text, is_last, opens)
        return found
