"""Which tokens differ between two lists of them: the shortest script of removals and insertions, in hunks.

E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy form. The common beginning and end
are set aside first, in linear time. The rest, n tokens that differ by D edits, takes O((n + D) * D) time at worst and
O(D * D) memory.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from bpe_core.common_prefix import common_prefix

MOST_EDITS: Final = 400
"""Edits (removals and insertions) up to which the shortest script is searched; beyond, one hunk holds everything."""


class Hunk(NamedTuple):
    """Adjacent tokens that were removed, and those inserted in their place; one of the two can be empty."""

    start: int
    """Index of the first removed token, in the old list."""
    end: int
    """Index behind the last removed token."""
    new_start: int
    """Index of the first inserted token, in the new list."""
    new_end: int
    """Index behind the last inserted token."""

    @property
    def n_tokens(self) -> int:
        """By how many tokens the list grew; negative if it shrank."""
        return (self.new_end - self.new_start) - (self.end - self.start)


def token_diff(old: Sequence[int], new: Sequence[int], *, most_edits: int = MOST_EDITS) -> list[Hunk]:
    """The hunks by which `old` becomes `new`, in order; none if the lists are equal.

    >>> token_diff([1, 2, 3, 4, 5], [1, 9, 3, 4, 4, 5])
    [Hunk(start=1, end=2, new_start=1, new_end=2), Hunk(start=3, end=3, new_start=3, new_end=4)]
    """
    head = common_prefix(old, new)
    old, new = old[head:], new[head:]
    tail = common_prefix(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    if not old and not new:
        return []
    kept = _kept(old, new, most_edits) if old and new else []
    hunks: list[Hunk] = []
    x = y = 0
    for i, j in (*kept, (len(old), len(new))):
        if (x, y) != (i, j):
            hunks.append(Hunk(head + x, head + i, head + y, head + j))
        x, y = i + 1, j + 1
    return hunks


def _kept(old: Sequence[int], new: Sequence[int], most_edits: int) -> list[tuple[int, int]]:
    """(index in `old`, index in `new`) of the tokens that a shortest script keeps; none if it takes over `most_edits`.

    `reach[k]` is the farthest index x in `old` that can be reached on the diagonal k = x - y with the present number of
    edits; a step along a diagonal keeps a token and is no edit.
    """
    reach = {1: 0}
    past: list[dict[int, int]] = []
    for edits in range(min(most_edits, len(old) + len(new)) + 1):
        past.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reach[k] = x
            if x >= len(old) and x - k >= len(new):
                return _walked_back(past, len(old), len(new))
    return []


def _walked_back(past: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for edits in range(len(past) - 1, -1, -1):
        reach, k = past[edits], x - y
        down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        came_from = reach[before], reach[before] - before
        while x > came_from[0] + (not down) and y > came_from[1] + down:
            x, y = x - 1, y - 1
            kept.append((x, y))
        x, y = came_from
    return kept[::-1]
