"""Comparing a text being edited with an earlier state of it, the baseline, token by token."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from bpe_core.common_ends import same_ends
from bpe_core.live.live_text import LiveText
from bpe_core.utf8 import utf8

MOST_COMPARED: Final = (
    200_000  # characters at most: those of the edited range before and after, added
)
_MOST_PREPARED: Final = (
    40_000  # the same for a tokenizer that changes a text before it encodes it
)
MOST_EDITS: Final = 400  # removals and insertions up to which the shortest script is searched; else it is one hunk


class Hunk(NamedTuple):
    """Adjacent tokens that were removed, and those inserted in their place; one of the two can be empty."""

    removed: tuple[int, ...]
    inserted: tuple[int, ...]
    start: int  # code point of the present text at which the inserted tokens begin
    end: int  # behind them


class BaselineDiff(NamedTuple):
    """What differs between the baseline and the present text, both under the present tokenizer. The text has grown by
    so many tokens and bytes, negative if it has shrunk."""

    hunks: tuple[Hunk, ...]
    n_tokens: int
    n_bytes: int


class Baseline:
    """An earlier state of a text, and how many characters at both ends no edit has touched since."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self._n_characters = self._head = self._tail = len(text)

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Record an edit of the present text: `n_inserted` code points replaced those from `start` up to `end`."""
        self._head = min(self._head, start)
        self._tail = min(self._tail, self._n_characters - end)
        self._n_characters += n_inserted - (end - start)

    @property
    def n_edited(self) -> int:
        """Characters from the first edited one to the last, in the baseline and in the present text, added."""
        return max(0, len(self.text) - self._head - self._tail) + max(
            0, self._n_characters - self._head - self._tail
        )

    def compare(self, live: LiveText) -> BaselineDiff | None:
        """What differs now between the baseline and `live`, the present text; None if too much was edited to compare.
        Only the parts of the text from the first edit to the last are encoded and compared."""
        n_old, n_new = len(self.text), live.n_characters
        head = min(self._head, n_old, n_new)
        tail = min(self._tail, n_old - head, n_new - head)
        start, end = live.around(head, n_new - tail)
        before = self.text[start : n_old - (n_new - end)]
        if len(before) + end - start > (
            MOST_COMPARED if live.tokenizer.by_piece else _MOST_PREPARED
        ):
            return None
        spans = live.spans(start, end) if start < end else []
        old, new = (
            tuple(live.ids_instead(start, end, before)),
            tuple(token for span in spans for token in span.ids),
        )
        places = [span for span in spans for _ in span.ids]
        hunks: list[Hunk] = []
        for first, last, new_first, new_last in token_diff(old, new):
            begin = places[new_first].start if new_first < len(new) else end
            stop = places[new_last - 1].end if new_first < new_last else begin
            hunks.append(Hunk(old[first:last], new[new_first:new_last], begin, stop))
        n_bytes = len(utf8(live.between(start, end))) - len(utf8(before))
        return BaselineDiff(tuple(hunks), len(new) - len(old), n_bytes)


def token_diff(
    old: Sequence[int], new: Sequence[int]
) -> list[tuple[int, int, int, int]]:
    """The hunks by which `old` becomes `new`: old[start:end] by new[new_start:new_end]; none if the lists are equal.

    The shortest script of removals and insertions: E. W. Myers, "An O(ND) Difference Algorithm and Its Variations"
    (1986), the greedy form. The common beginning and end are set aside first, in linear time. The rest, n tokens that
    differ by D edits, takes O((n + D) * D) time at worst and O(D * D) memory.

    >>> token_diff([1, 2, 3, 4, 5], [1, 9, 3, 4, 4, 5])
    [(1, 2, 1, 2), (3, 3, 3, 4)]
    """
    head, tail = same_ends(old, new)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    kept = _kept(old, new) if old and new else []
    hunks: list[tuple[int, int, int, int]] = []
    x = y = 0
    for i, j in (*kept, (len(old), len(new))):
        if (x, y) != (i, j):
            hunks.append((head + x, head + i, head + y, head + j))
        x, y = i + 1, j + 1
    return hunks


def _kept(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """(index in `old`, index in `new`) of the tokens that a shortest script keeps; none if it takes over `MOST_EDITS`.
    `reach[k]` is the farthest index x in `old` that can be reached on the diagonal k = x - y with the present number of
    edits, and the way there: (the way before, first x, last x + 1, k) of tokens kept, which is a step along k."""
    reach: dict[int, tuple[int, Any]] = {1: (0, None)}
    for edits in range(min(MOST_EDITS, len(old) + len(new)) + 1):
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1][0] < reach[k + 1][0])
            x, way = reach[k + 1 if down else k - 1]
            first = x = x if down else x + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reach[k] = x, (way, first, x, k) if x > first else way
            if x >= len(old) and x - k >= len(new):
                kept, way = list[tuple[int, int]](), reach[k][1]
                while way:
                    way, first, x, k = way
                    kept += [(i, i - k) for i in range(x - 1, first - 1, -1)]
                return kept[::-1]
    return []
