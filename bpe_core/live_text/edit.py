"""One edit of a text: what it leaves alone, and from what it does not, the change of tokens."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from bpe_core.bpe import utf8
from bpe_core.live_text.change import Change, compare
from bpe_core.live_text.fragments import Fragment
from bpe_core.live_text.seams import Seams

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Edit:
    """Some characters that went, and the text that came in their place."""

    start: int
    """Code point where it begins."""
    end: int
    """Code point behind the characters that went, before the edit."""
    replacement: str
    """What came."""

    @property
    def stop(self) -> int:
        """Code point behind the replacement, after the edit."""
        return self.start + len(self.replacement)

    @property
    def growth(self) -> int:
        """By how many code points the text grew."""
        return self.stop - self.end

    def alike(self, lo: int, hi: int, old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
        """How many pieces are the same before and after the edit: from the front, and from the back.

        `old` and `new` are the lengths of the pieces between two bounds; `lo` and `hi` were these before the edit.
        """
        most = min(len(old), len(new))
        front = 0
        while front < most and old[front] == new[front] and lo + old[front] <= self.start:
            lo += old[front]
            front += 1
        back = 0
        while back < most - front and old[-1 - back] == new[-1 - back] and hi - old[-1 - back] >= self.end:
            hi -= old[-1 - back]
            back += 1
        return front, back

    def kept(self, at: int, fragments: Sequence[Fragment]) -> list[tuple[int, Fragment]]:
        """The fragments, of which the first begins at `at`, that the edit leaves alone, each with its new place."""
        kept: list[tuple[int, Fragment]] = []
        for fragment in fragments:
            stop = at + len(fragment[0])
            if stop <= self.start:
                kept.append((at, fragment))
            elif at >= self.end:
                kept.append((at + self.growth, fragment))
            at = stop
        return kept

    def change(self, begin: int, old: list[Fragment], new: list[Fragment], seams: Seams) -> Change:
        """The change of tokens from one row of fragments to another, both of which begin at `begin`."""
        same = 0
        for one, other in zip(old, new, strict=False):
            if one != other or begin + len(one[0]) > self.start:
                break
            begin += len(one[0])
            same += 1
        old, new = old[same:], new[same:]
        end = begin + sum(len(text) for text, _ in new)
        while old and new and old[-1] == new[-1] and end - len(new[-1][0]) >= self.stop:
            end -= len(new[-1][0])
            old.pop()
            new.pop()
        text = "".join(text for text, _ in new)
        edited = slice(self.start - begin, self.stop - begin)
        return compare(_tokens(old, seams), _tokens(new, seams), seams.token_bytes, text, edited, begin)


def _tokens(fragments: list[Fragment], seams: Seams) -> list[int]:
    """Their tokens, joined; those that nobody has asked for as if each stood alone."""
    return list(chain.from_iterable(seams.encode(utf8(text)) if ids is None else ids for text, ids in fragments))


def without_halves(text: str) -> str:
    """`text` with U+FFFD for each surrogate, one for one, so that no offset shifts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text
