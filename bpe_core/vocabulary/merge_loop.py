"""The merge loop: of all neighbors the pair of the lowest rank is joined, the leftmost first, until none has a rank.

What a symbol is does not matter here. A vocabulary of merges has ids as symbols, and a pair has the rank of the merge
that joins it; a vocabulary of ranks has bytes, and a pair has the rank of the token that is the two joined.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Final, TypeVar

from bpe_core.vocabulary.windows import WINDOW, merge_in_windows

Triple = tuple[int, int, int]
"""A merge: the ids of its left part, its right part and the token it makes."""
S = TypeVar("S")

NO_RANK: Final = 1 << 62
"""The rank of a pair that is never joined; larger than any other."""


def merge(symbols: Sequence[S], rank_of: Callable[[S, S], int], joined: Callable[[S, S, int], S]) -> list[S]:
    """The symbols that are left when no two neighbors have a rank any more.

    `rank_of(left, right)` is the rank of a pair or `NO_RANK`, `joined(left, right, rank)` what the two become.
    For n symbols it takes O(n log n); long pieces take O(n) as a rule (see `merge_in_windows`).

    >>> ranks = {"lo": 0, "ow": 1, "low": 2}
    >>> merge("lower", lambda left, right: ranks.get(left + right, NO_RANK), lambda left, right, _: left + right)
    ['low', 'e', 'r']
    """
    if len(symbols) <= 2 * WINDOW:
        return [symbol for symbol in _merge_in_place(symbols, rank_of, joined) if symbol is not None]
    return merge_in_windows(symbols, lambda window: _merge_in_place(window, rank_of, joined))


def _merge_in_place(
    symbols: Sequence[S], rank_of: Callable[[S, S], int], joined: Callable[[S, S, int], S]
) -> list[S | None]:
    """A list as long as `symbols`: each symbol that is left stands where it begins, None in the places behind.

    O(n log n) for n symbols, which are a linked list; the pairs that have a rank are a heap of (rank, place). A pair in
    the heap may be gone when its turn comes: `rank_at` tells the rank of the pair that begins at a place now.
    """
    n = len(symbols)
    slots: list[Any] = list(symbols)
    rank_at = [*map(rank_of, slots, slots[1:]), NO_RANK]
    waiting = [(rank, place) for place, rank in enumerate(rank_at) if rank != NO_RANK]
    heapify(waiting)
    before, behind = list(range(-1, n - 1)), list(range(1, n + 1))
    while waiting:
        rank, i = heappop(waiting)
        if rank_at[i] != rank:
            continue
        j = behind[i]
        slots[i], slots[j] = joined(slots[i], slots[j], rank), None
        k = behind[i] = behind[j]
        rank_at[i] = rank_at[j] = NO_RANK
        if k < n:
            before[k] = i
            rank = rank_at[i] = rank_of(slots[i], slots[k])
            if rank != NO_RANK:
                heappush(waiting, (rank, i))
        h = before[i]
        if h >= 0:
            rank = rank_at[h] = rank_of(slots[h], slots[i])
            if rank != NO_RANK:
                heappush(waiting, (rank, h))
    return slots
