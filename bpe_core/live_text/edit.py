"""One edit of a text: what it leaves alone, and from what it does not, the change of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from bpe_core.bpe import utf8
from bpe_core.live_text.change import Change, compare
from bpe_core.live_text.fragments import Fragment
from bpe_core.live_text.seams import Seams


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

    def trimmed(self, lo: int, hi: int, old: list[int], new: list[str]) -> tuple[int, int, list[str]]:
        """`new` pieces for those between `lo` and `hi`, which have the lengths `old`, without those that are alike.

        Returns the two bounds between which the pieces that are left replace what is there.
        """
        same = 0
        for length, piece in zip(old, new, strict=False):
            if length != len(piece) or lo + length > self.start:
                break
            lo += length
            same += 1
        old, new = old[same:], new[same:]
        same = 0
        for length, piece in zip(reversed(old), reversed(new), strict=False):
            if length != len(piece) or hi - length < self.end:
                break
            hi -= length
            same += 1
        return lo, hi, new[: len(new) - same]

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
