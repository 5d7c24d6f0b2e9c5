"""The merge loop: join the pair of neighbors with the lowest rank, the leftmost first, until no pair has a rank.

The loop does not depend on what a symbol is. For a vocabulary of merges, symbols are ids, and the rank of a pair is that
of the merge that joins it. For a vocabulary of ranks, symbols are bytes, and the rank of a pair is that of the token
with the joined bytes.

**Long pieces** are merged in windows. Each window begins with the last few tokens of the one before. This is right
because of compatible neighbors:

Two neighboring tokens are *compatible* if merging their joined symbols, alone, gives the two tokens back. Claim: a list
of tokens of a piece is the result of merging the piece exactly if all neighbors in it are compatible. Proof: as long as
no merge crosses a border between two of the tokens, each token is built just as when it and its neighbor are alone, in
the same order. So the first merge to cross a border would also cross it when the two neighbors are alone. If none does
there, none does here.

The proof needs only that the loop looks at neighbors, takes the lowest rank first, and the leftmost of equal ranks. So
the claim holds for merges and for ranks, in any order, also if no merge makes some of the tokens or if the merge is
never used, and with end-of-word markers and tokens for unknown characters. It does not hold for pieces that are looked
up as a whole before merging. (The encoder of the Rust crate `bpe` by H. van Antwerpen and A. Neubeck, 2024, uses the
same fact in another algorithm.)

Two things follow.

- The last tokens found so far may be replaced by the tokens of a window that begins at the same place, if the first
  tokens of both end at the same place: then all neighbors are known to be compatible.
- If a text repeats itself and the tokens of one period have followed each other twice, all later periods have the same
  tokens, since no neighbors are new. The kernel skips them.

Live text uses this where an edit is inside a long piece, the completion of a text's end for the tokens that may still
change, and the recovery of merges because a token made of two tokens is never made of two others.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, Final, TypeVar

Triple = tuple[int, int, int]
"""A merge: the ids of its left part, of its right part, and of the token it makes."""

S = TypeVar("S")

NO_RANK: Final = 1 << 62
"""The rank of a pair that is never joined; higher than any other."""
WINDOW: Final = 512
"""New symbols in a window, or as many as it merges again; few enough for the processor's caches."""
_OVERLAP: Final = 6
"""Tokens of the last window that the next one merges again. Tokens further back seldom change."""


def merge(
    symbols: Sequence[S],
    rank_of: Callable[[S, S], int],
    join: Callable[[S, S, int], S],
) -> list[S]:
    """Merge symbols until no two neighbors have a rank.

    Takes O(n log n) time for n symbols. Long pieces are merged in windows, and usually take O(n) time.

    Args:
        symbols: A piece, or a part of one.
        rank_of: Returns the rank of a pair (left, right), or `NO_RANK`.
        join: Returns the symbol that replaces `left` and `right`, given the rank of the pair too.

    Examples:
        >>> ranks = {"lo": 0, "ow": 1, "low": 2}
        >>> merge("lower", lambda left, right: ranks.get(left + right, NO_RANK), lambda left, right, _: left + right)
        ['low', 'e', 'r']
    """
    # For each symbol so far, the token that begins there, or None. "lower": ["low", None, None, "e", "r"]
    slots: list[S | None] = []
    while len(slots) < len(symbols):
        done = len(slots)
        n_again = _OVERLAP
        while True:
            start = _start_of_last(slots, n_again)
            # Take at least as many new symbols as old ones, so that merging again at most doubles the work.
            end = done + max(WINDOW, done - start)
            window = _merge_window(symbols[start:end], rank_of, join)
            if start == 0 or _end_of_first(window) == _end_of_first(slots[start:]):
                break
            n_again *= 4  # the first token has changed, so begin further back
        slots[start:] = window
    return [symbol for symbol in slots if symbol is not None]


def _start_of_last(slots: list[S | None], n_tokens: int) -> int:
    """Return the place where the last `n_tokens` begin."""
    backwards = range(len(slots) - 1, -1, -1)
    starts = (place for place in backwards if slots[place] is not None)
    return min(islice(starts, n_tokens), default=0)


def _end_of_first(slots: list[S | None]) -> int:
    """Return the place where the first token ends."""
    for place in range(1, len(slots)):
        if slots[place] is not None:
            return place
    return len(slots)


def _merge_window(
    symbols: Sequence[S],
    rank_of: Callable[[S, S], int],
    join: Callable[[S, S, int], S],
) -> list[S | None]:
    """Merge symbols. In the result, each token is at the place where it begins, followed by None.

    The tokens are a linked list, and the pairs that have a rank a heap of (rank, place). A pair in the heap may no
    longer exist when its turn comes: `rank_at` has the current rank of the pair that begins at a place.
    """
    n = len(symbols)
    slots: list[Any] = list(symbols)
    rank_at = [*map(rank_of, slots, slots[1:]), NO_RANK]
    heap = [(rank, place) for place, rank in enumerate(rank_at) if rank != NO_RANK]
    heapify(heap)
    before = list(range(-1, n - 1))  # place -> place of the token before it
    after = list(range(1, n + 1))
    while heap:
        rank, left = heappop(heap)
        if rank_at[left] != rank:
            continue
        right = after[left]
        slots[left] = join(slots[left], slots[right], rank)
        slots[right] = None
        following = after[right]
        after[left] = following
        rank_at[left] = rank_at[right] = NO_RANK
        if following < n:
            before[following] = left
            rank = rank_at[left] = rank_of(slots[left], slots[following])
            if rank != NO_RANK:
                heappush(heap, (rank, left))
        previous = before[left]
        if previous >= 0:
            rank = rank_at[previous] = rank_of(slots[previous], slots[left])
            if rank != NO_RANK:
                heappush(heap, (rank, previous))
    return slots
