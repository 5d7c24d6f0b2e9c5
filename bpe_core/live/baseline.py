"""Compare a text that is being edited with an earlier state of it, the baseline, token by token."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from bpe_core.common_ends import same_ends
from bpe_core.live.live_text import LiveText
from bpe_core.utf8 import utf8

MOST_COMPARED: Final = 200_000
"""The most characters of an edited range, before and after the edit together."""
_MOST_PREPARED: Final = 40_000
"""The most such characters for a tokenizer that changes a text before it encodes it."""
MOST_EDITS: Final = 400
"""Removals and insertions up to which the shortest script is searched; otherwise the whole range is one hunk."""


class Hunk(NamedTuple):
    """Adjacent tokens that were removed, and those inserted in their place; one of the two can be empty."""

    removed: tuple[int, ...]
    inserted: tuple[int, ...]
    start: int  # code point of the present text at which the inserted tokens begin
    end: int


class BaselineDiff(NamedTuple):
    """The difference between the baseline and the present text, both under the present tokenizer."""

    hunks: tuple[Hunk, ...]
    n_tokens: int  # by how many the text has grown; negative if it has shrunk
    n_bytes: int


class Baseline:
    """An earlier state of a text, and how many characters at both ends no edit has touched since."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self._n_characters = len(text)  # of the present text
        self._n_first_same = len(text)
        self._n_last_same = len(text)

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Record an edit of the present text: `n_inserted` code points replaced the range from `start` to before `end`."""
        self._n_first_same = min(self._n_first_same, start)
        self._n_last_same = min(self._n_last_same, self._n_characters - end)
        self._n_characters += n_inserted - (end - start)

    @property
    def n_edited(self) -> int:
        """Characters from the first edited one to the last, in the baseline and in the present text, added."""
        n_same = self._n_first_same + self._n_last_same
        return max(0, len(self.text) - n_same) + max(0, self._n_characters - n_same)

    def compare(self, live: LiveText) -> BaselineDiff | None:
        """Compare the baseline with `live`, the present text; None if too much was edited.

        Only the parts of the text from the first edit to the last are encoded and compared.
        """
        n_old = len(self.text)
        n_new = live.n_characters
        n_first_same = min(self._n_first_same, n_old, n_new)
        n_last_same = min(self._n_last_same, n_old - n_first_same, n_new - n_first_same)
        start, end = live.around(n_first_same, n_new - n_last_same)
        old_text = self.text[start : n_old - (n_new - end)]
        most = MOST_COMPARED if live.tokenizer.by_piece else _MOST_PREPARED
        if len(old_text) + end - start > most:
            return None
        old_ids = tuple(live.ids_instead(start, end, old_text))
        spans = live.spans(start, end) if start < end else []
        new_ids = tuple(token for span in spans for token in span.ids)
        span_of_token = [span for span in spans for _ in span.ids]
        hunks: list[Hunk] = []
        for replaced in token_diff(old_ids, new_ids):
            inserted = new_ids[replaced.new_start : replaced.new_end]
            hunk_start = hunk_end = end
            if replaced.new_start < len(new_ids):
                hunk_start = hunk_end = span_of_token[replaced.new_start].start
            if inserted:
                hunk_end = span_of_token[replaced.new_end - 1].end
            removed = old_ids[replaced.old_start : replaced.old_end]
            hunks.append(Hunk(removed, inserted, hunk_start, hunk_end))
        n_bytes = len(utf8(live.between(start, end))) - len(utf8(old_text))
        return BaselineDiff(tuple(hunks), len(new_ids) - len(old_ids), n_bytes)


class Replacement(NamedTuple):
    """old[old_start:old_end] was replaced by new[new_start:new_end]."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def token_diff(old: Sequence[int], new: Sequence[int]) -> list[Replacement]:
    """Return the replacements that turn `old` into `new`.

    This is the shortest script of removals and insertions: E. W. Myers, "An O(ND) Difference Algorithm and Its
    Variations" (1986), the greedy form. The common beginning and end are set aside first, in linear time. The rest, n
    tokens that differ by D edits, takes O((n + D) * D) time at worst and O(D * D) memory.

    >>> [tuple(replaced) for replaced in token_diff([1, 2, 3, 4, 5], [1, 9, 3, 4, 4, 5])]
    [(1, 2, 1, 2), (3, 3, 3, 4)]
    """
    n_first, n_last = same_ends(old, new)
    old = old[n_first : len(old) - n_last]
    new = new[n_first : len(new) - n_last]
    kept: list[tuple[int, int]] = []
    if old and new:
        kept = _kept(old, new)
    kept.append((len(old), len(new)))
    replacements: list[Replacement] = []
    old_done = 0
    new_done = 0
    for old_index, new_index in kept:
        if (old_done, new_done) != (old_index, new_index):
            replacements.append(
                Replacement(
                    old_start=n_first + old_done,
                    old_end=n_first + old_index,
                    new_start=n_first + new_done,
                    new_end=n_first + new_index,
                )
            )
        old_done = old_index + 1
        new_done = new_index + 1
    return replacements


class _Path(NamedTuple):
    """A run of tokens kept on one diagonal, and the path before it."""

    before: "_Path | None"
    first: int  # index in `old` of the first token kept
    last: int  # index after the last
    diagonal: int  # index in `old` minus index in `new`


def _kept_on(path: _Path | None) -> list[tuple[int, int]]:
    """Return (index in `old`, index in `new`) of all tokens kept on a path."""
    pairs: list[tuple[int, int]] = []
    while path:
        for old_index in range(path.last - 1, path.first - 1, -1):
            pairs.append((old_index, old_index - path.diagonal))
        path = path.before
    pairs.reverse()
    return pairs


def _kept(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Return (index in `old`, index in `new`) of the tokens that a shortest script keeps.

    None are kept if the script has more than `MOST_EDITS`. Diagonal k holds the places with k = x - y, where x is an
    index in `old` and y in `new`. `farthest[k]` is the largest x that can be reached on it with the current number of
    edits, and `paths[k]` the way there.
    """
    farthest = {1: 0}
    paths: dict[int, _Path | None] = {1: None}
    for n_edits in range(min(MOST_EDITS, len(old) + len(new)) + 1):
        for k in range(-n_edits, n_edits + 1, 2):
            if k == -n_edits:
                inserts = True
            elif k == n_edits:
                inserts = False
            else:
                inserts = farthest[k - 1] < farthest[k + 1]
            if inserts:
                x = farthest[k + 1]
                path = paths[k + 1]
            else:
                x = farthest[k - 1] + 1
                path = paths[k - 1]
            first = x
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            if x > first:
                path = _Path(path, first, x, k)
            farthest[k] = x
            paths[k] = path
            if x >= len(old) and x - k >= len(new):
                return _kept_on(path)
    return []
