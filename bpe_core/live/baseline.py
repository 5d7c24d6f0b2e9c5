"""Comparing a text being edited with an earlier state of it, the baseline, token by token."""

from dataclasses import dataclass
from itertools import chain
from typing import Final

from bpe_core.live.live_text import LiveText
from bpe_core.live.spans import Span
from bpe_core.live.token_diff import Hunk, token_diff
from bpe_core.utf8 import utf8

MOST_COMPARED: Final = 200_000
"""Characters that are compared at most: those of the edited range before and after, added."""
_MOST_PREPARED: Final = 40_000
"""The same for a tokenizer that changes a text before it encodes it."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between the baseline and the present text, both under the present tokenizer."""

    hunks: tuple[Hunk, ...]
    """The tokens that differ, as indices of `old` and `new`."""
    old: tuple[int, ...]
    """The tokens of a range of the baseline that includes all differences."""
    new: tuple[int, ...]
    """The tokens of the same range of the present text."""
    stretches: tuple[tuple[int, int], ...]
    """For each hunk (start, end) of the code points that its new tokens cover; empty if it has none."""
    n_bytes: int
    """By how many bytes the text has grown; negative if it has shrunk."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the text has grown; negative if it has shrunk."""
        return sum(hunk.n_tokens for hunk in self.hunks)

    def removed(self, hunk: Hunk) -> tuple[int, ...]:
        """The tokens of the baseline that are gone in a hunk."""
        return self.old[hunk.start : hunk.end]

    def inserted(self, hunk: Hunk) -> tuple[int, ...]:
        """The tokens that stand in their place."""
        return self.new[hunk.new_start : hunk.new_end]


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

    def compare(self, live: LiveText) -> Comparison | None:
        """What differs now between the baseline and `live`, the present text; None if too much was edited to compare.

        Only the parts of the text from the first edit to the last are encoded and compared.
        """
        n_old, n_new = len(self.text), live.n_characters
        head = min(self._head, n_old, n_new)
        tail = min(self._tail, n_old - head, n_new - head)
        start, end = live.around(head, n_new - tail)
        before = self.text[start : n_old - (n_new - end)]
        if len(before) + end - start > (MOST_COMPARED if live.tokenizer.by_piece else _MOST_PREPARED):
            return None
        spans = live.spans(start, end) if start < end else []
        old, new = (
            tuple(chain.from_iterable([span.ids for span in spans]))
            for spans in (live.spans_instead(start, end, before), spans)
        )
        places = [span for span in spans for _ in span.ids]
        hunks = tuple(token_diff(old, new))
        stretches = tuple(_stretch(places, hunk, end) for hunk in hunks)
        return Comparison(hunks, old, new, stretches, len(utf8(live.between(start, end))) - len(utf8(before)))


def _stretch(places: list[Span], hunk: Hunk, end: int) -> tuple[int, int]:
    """Where the new tokens of a hunk stand; `places` has the span of each token."""
    start = places[hunk.new_start].start if hunk.new_start < len(places) else end
    return start, places[hunk.new_end - 1].end if hunk.new_start < hunk.new_end else start
