"""A text as it once was, and what it has become since then, token by token."""

from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final

from bpe_core.editing.aligned_text import AlignedText, FollowedText
from bpe_core.editing.live_text import LiveText
from bpe_core.editing.token_diff import Hunk, token_diff
from bpe_core.surrogates import utf8

MOST_COMPARED: Final = 200_000
"""Characters, before and after together, up to which a stretch that was edited is compared."""
_MOST_WHOLE: Final = 40_000
"""The same where all of the text has to be encoded for that."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between a baseline and the text of now, under the tokenizer of now."""

    hunks: tuple[Hunk, ...]
    """The tokens that differ, as indices of `old` and `new`."""
    old: tuple[int, ...]
    """The tokens of the baseline, from a place before the first difference to one behind the last; a negative number
    stands for so many bytes that a lossy pattern drops.
    """
    new: tuple[int, ...]
    """The tokens that the text has there now."""
    stretches: tuple[tuple[int, int], ...]
    """The code points that the new tokens of each hunk cover; an empty range where there are none."""
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
    """A text that is remembered, and how much of both its ends no edit has touched since."""

    __slots__ = ("_head", "_n_characters", "_tail", "text")

    def __init__(self, text: str) -> None:
        self.text: Final = text
        """As it was."""
        self._n_characters = self._head = self._tail = len(text)

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Take note of an edit of the text as it has become: `n_inserted` code points took the place of a range."""
        self._head = min(self._head, start)
        self._tail = min(self._tail, self._n_characters - end)
        self._n_characters += n_inserted - (end - start)

    @property
    def n_edited(self) -> int:
        """Characters, before and after together, from the first that was edited to the last."""
        return max(0, len(self.text) - self._head - self._tail) + max(0, self._n_characters - self._head - self._tail)

    def compare(self, live: FollowedText) -> Comparison | None:
        """What differs now; None if too much was edited to be compared in a moment.

        Only the stretch from the first edit to the last is looked at, so the length of the text does not matter.
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
        """The same of all the text, for an edit may be felt anywhere."""
        if len(self.text) + live.n_characters > _MOST_WHOLE:
            return None
        old, new = tuple(live.tokenizer.encode_ordinary(self.text)), tuple(live.ids)
        hunks = tuple(token_diff(old, new))
        stretches = tuple(live.stretch(hunk.new_start, hunk.new_end) for hunk in hunks)
        return Comparison(hunks, old, new, stretches, live.n_bytes - len(utf8(self.text)))


def _tokens(live: LiveText, text: str) -> tuple[int, ...]:
    """The tokens of a stretch between safe cuts; a negative number is so many bytes that a lossy pattern drops."""
    return tuple(chain.from_iterable(map(live.pieces.ids, live.pieces.split(text))))
