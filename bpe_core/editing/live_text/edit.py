"""One edit of a text: what it leaves alone, and from what it does not, the change of tokens."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import chain

from bpe_core.editing.live_text.change import Change, compare, n_alike
from bpe_core.editing.live_text.fragments import Fragment, Row, places
from bpe_core.editing.live_text.seams import Seams
from bpe_core.surrogates import utf8


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

    def kept(self, at: int, fragments: list[Fragment]) -> list[Row]:
        """The fragments, of which the first begins at `at`, that the edit leaves alone: at most two rows of them."""
        starts = places(at, fragments)
        before = max(0, bisect_right(starts, self.start) - 1)
        behind = max(before, min(bisect_left(starts, self.end), len(fragments)))
        return [(at, fragments[:before]), (starts[behind] + self.growth, fragments[behind:])]

    def change(self, begin: int, old: list[Fragment], new: list[Fragment], seams: Seams) -> Change:
        """The change of tokens from one row of fragments to another, both of which begin at `begin`."""
        starts = places(begin, new)
        head = min(n_alike(old, new), max(0, bisect_right(starts, self.start) - 1))
        n_behind = len(new) - bisect_left(starts, self.stop, head, len(new))
        tail = min(n_alike(old[head:][::-1], new[head:][::-1]), n_behind)
        old, new, begin = old[head : len(old) - tail], new[head : len(new) - tail], starts[head]
        text = "".join(text for text, _ in new)
        edited = slice(self.start - begin, self.stop - begin)
        return compare(_tokens(old, seams), _tokens(new, seams), seams.token_bytes, text, edited, begin)


def _tokens(fragments: list[Fragment], seams: Seams) -> list[int]:
    """Their tokens, joined; those that nobody has asked for as if each stood alone."""
    return list(chain.from_iterable(seams.encode(utf8(text)) if ids is None else ids for text, ids in fragments))
