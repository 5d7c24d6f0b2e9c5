"""The merge loop: of all neighbors the pair of the lowest rank is joined, the leftmost first, until none has a rank.

What a symbol is does not matter here. A vocabulary of merges has ids as symbols, and a pair has the rank of the merge
that joins it; a vocabulary of ranks has bytes, and a pair has the rank of the token that is the two joined.

Very long pieces are merged window by window, each window beginning with the last few tokens of the one before. Call two
neighboring tokens *compatible* if merging what the two are made of, alone, gives the two back. A list of tokens of a
piece is the result of merging that piece exactly when all neighbors in it are compatible. For until a merge crosses a
border between two of the tokens, whatever happens inside of any two neighbors happens there when they stand alone, too,
in the same order; so the first merge to cross a border would cross it there as well, and if none does there, none does
here. This needs nothing but that one looks at neighbors only and takes the lowest rank first, of equal ranks the
leftmost. So it holds for merges and for ranks of joined bytes, in any order, also if some tokens are made by no merge
or by none that is ever applied, with a marker at the end of a piece or tokens for unknown characters. It does not hold
for a piece that is looked up whole, which is done before merging. (The encoder of the Rust crate `bpe` by H. van
Antwerpen and A. Neubeck, 2024, rests on the same fact; its algorithm is another.)

Two things follow. The last tokens found so far may be replaced by those of a window that begins where they begin, if
the first tokens of both end at the same place: then all neighbors are known to be compatible. And if a text repeats
itself and the tokens of one period have followed each other twice, all further periods have the same tokens: no
neighbors are new; the kernel takes them at once. Live text needs this where an edit meets a long piece, the end of a
text for the tokens that may still swallow it, and recovery because a token made of two is made of no others.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, Final, TypeVar

Triple = tuple[
    int, int, int
]  # a merge: the ids of its left part, its right part and the token it makes
S = TypeVar("S")

NO_RANK: Final = (
    1 << 62
)  # the rank of a pair that is never joined; larger than any other
WINDOW: Final = 512  # new symbols in a window, or as many as it merges again; few enough for the processor's caches
_OVERLAP: Final = 6  # tokens of the window before that a window merges once more; more than these seldom change


def merge(
    symbols: Sequence[S],
    rank_of: Callable[[S, S], int],
    joined: Callable[[S, S, int], S],
) -> list[S]:
    """The symbols that are left when no two neighbors have a rank any more.

    `rank_of(left, right)` is the rank of a pair or `NO_RANK`, `joined(left, right, rank)` what the two become.
    For n symbols it takes O(n log n); long pieces, merged in windows, take O(n) as a rule.

    >>> ranks = {"lo": 0, "ow": 1, "low": 2}
    >>> merge("lower", lambda left, right: ranks.get(left + right, NO_RANK), lambda left, right, _: left + right)
    ['low', 'e', 'r']
    """
    slots: list[S | None] = []
    while (done := len(slots)) < len(symbols):
        n_again = _OVERLAP
        while True:
            starts = (
                place for place in range(done - 1, -1, -1) if slots[place] is not None
            )
            begin = min(islice(starts, n_again), default=0)
            # So many, lest more symbols be merged again than new ones are merged.
            window = _merge_in_place(
                symbols[begin : done + max(WINDOW, done - begin)], rank_of, joined
            )
            if not begin or _end_of_first(window) == _end_of_first(slots[begin:]):
                break
            n_again *= 4  # the first token turned out to be wrong
        slots[begin:] = window
    return [symbol for symbol in slots if symbol is not None]


def _end_of_first(slots: list[S | None]) -> int:
    return next(
        (place for place in range(1, len(slots)) if slots[place] is not None),
        len(slots),
    )


def _merge_in_place(
    symbols: Sequence[S],
    rank_of: Callable[[S, S], int],
    joined: Callable[[S, S, int], S],
) -> list[S | None]:
    """A list as long as `symbols`: each symbol that is left stands where it begins, None in the places behind. O(n log
    n) for n symbols, which are a linked list; the pairs that have a rank are a heap of (rank, place). A pair in the
    heap may be gone when its turn comes: `rank_at` tells the rank of the pair that begins at a place now."""
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
