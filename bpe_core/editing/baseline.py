"""Comparing a text being edited with an earlier state of it, the baseline, token by token."""

from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final

from bpe_core.editing.aligned_text import AlignedText, FollowedText
from bpe_core.editing.live_text import LiveText
from bpe_core.editing.token_diff import Hunk, token_diff
from bpe_core.utf8 import utf8

MOST_COMPARED: Final = 200_000
"""Characters that are compared at most: those of the edited range before and after, added."""
_MOST_WHOLE: Final = 40_000
"""Characters at most, before and after added, of texts that must be encoded and compared whole."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between the baseline and the present text, both under the present tokenizer."""

    hunks: tuple[Hunk, ...]
    """The tokens that differ, as indices of `old` and `new`."""
    old: tuple[int, ...]
    """The tokens of a range of the baseline that includes all differences; -n stands for n bytes that a lossy pattern
    drops.
    """
    new: tuple[int, ...]
    """The tokens of the same range of the present text."""
    stretches: tuple[tuple[int, int], ...]
    """For each hunk (start, end) of the code points that its new tokens cover; empty if it has none."""
    n_bytes: int
    """By how many bytes the text has grown; negative if it has shrunk."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text has grown; negative if it has shrunk."""
        return sum(len(self.inserted(hunk)) - len(self.removed(hunk)) for hunk in self.hunks)

    def removed(self, hunk: Hunk) -> tuple[int, ...]:
        """The tokens of the baseline that are gone in a hunk."""
        return tuple(token for token in self.old[hunk.start : hunk.end] if token >= 0)

    def inserted(self, hunk: Hunk) -> tuple[int, ...]:
        """The tokens that stand in their place."""
        return tuple(token for token in self.new[hunk.new_start : hunk.new_end] if token >= 0)


class Baseline:
    """An earlier state of a text, and how many characters at both ends no edit has touched since."""

    __slots__ = ("_head", "_n_characters", "_tail", "text")

    def __init__(self, text: str) -> None:
        self.text: Final = text
        """The text as it was."""
        self._n_characters = self._head = self._tail = len(text)

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Record an edit of the present text: `n_inserted` code points replaced those from `start` up to `end`."""
        self._head = min(self._head, start)
        self._tail = min(self._tail, self._n_characters - end)
        self._n_characters += n_inserted - (end - start)

    @property
    def n_edited(self) -> int:
        """Characters from the first edited one to the last, in the baseline and in the present text, added."""
        return max(0, len(self.text) - self._head - self._tail) + max(0, self._n_characters - self._head - self._tail)

    def compare(self, live: FollowedText) -> Comparison | None:
        """What differs now between the baseline and `live`, the present text; None if too much was edited to compare.

        Of a `LiveText` only the range from the first edit to the last, out to safe cuts, is encoded and compared; of an
        `AlignedText` all.
        """
        if not isinstance(live, LiveText):
            return self._compare_whole(live)
        n_old, n_new = len(self.text), live.n_characters
        head = min(self._head, n_old, n_new)
        tail = min(self._tail, n_old - head, n_new - head)
        start, end = live.safe_around(head, n_new - tail)
        behind = n_new - end
        if n_old - behind + end - 2 * start > MOST_COMPARED:
            return None
        before, after = self.text[start : n_old - behind], live.between(start, end)
        old, new = _tokens(live, before), _tokens(live, after)
        hunks = tuple(token_diff(old, new))
        lengths = [len(live.tokenizer.token_bytes(token)) if token >= 0 else -token for token in new]
        ends = [0, *accumulate(lengths)]
        data = utf8(after)
        stretches = []
        for hunk in hunks:
            first = len(data[: ends[hunk.new_start]].decode(errors="ignore"))
            last = first + len(data[ends[hunk.new_start] : ends[hunk.new_end]].decode(errors="replace"))
            stretches.append((start + first, start + last))
        return Comparison(hunks, old, new, tuple(stretches), len(data) - len(utf8(before)))

    def _compare_whole(self, live: AlignedText) -> Comparison | None:
        """`compare` for an `AlignedText`: all of both texts, since an edit may change tokens anywhere."""
        if len(self.text) + live.n_characters > _MOST_WHOLE:
            return None
        old, new = tuple(live.tokenizer.encode_ordinary(self.text)), tuple(live.ids)
        hunks = tuple(token_diff(old, new))
        stretches = tuple(live.stretch(hunk.new_start, hunk.new_end) for hunk in hunks)
        return Comparison(hunks, old, new, stretches, live.n_bytes - len(utf8(self.text)))


def _tokens(live: LiveText, text: str) -> tuple[int, ...]:
    """The tokens of a text between safe cuts; -n stands for n bytes that a lossy pattern drops."""
    return tuple(chain.from_iterable(map(live.pieces.ids, live.pieces.split(text))))
