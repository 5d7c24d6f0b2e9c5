"""The merge loop: the symbols of one piece, joined pair by pair, always the pair of the lowest rank, leftmost first."""

import re
from bisect import insort
from collections.abc import Mapping, Sequence
from itertools import pairwise, repeat
from typing import Final

from bpe_core.merging.windows import WINDOW, merge_in_windows

Ranks = Mapping[tuple[int, int], int]
Triple = tuple[int, int, int]

LONG: Final = 32
"""From this many symbols on a piece is worth a linked list."""

GONE: Final = -1
"""Stands where a symbol was that was merged into the one before it."""

_NEVER: Final = 1 << 62
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def utf8(text: str) -> bytes:
    """`text` in UTF-8. A lone surrogate, which UTF-8 cannot hold, counts as U+FFFD, a pair as what it stands for.

    >>> utf8("a\\ud800")
    b'a\\xef\\xbf\\xbd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_surrogates(text).encode()


def without_surrogates(text: str) -> str:
    """`text` with a character for each pair of surrogates and U+FFFD for each lone one, as tiktoken reads it.

    >>> without_surrogates("\\ud83d\\ude0a \\ud83d")
    '😊 �'
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def merge_piece(symbols: list[int], ranks: Ranks, merges: Sequence[Triple], n_merges: int) -> list[int]:
    """The ids left when no pair of neighbors has a rank below `n_merges`. May reuse the list it is given.

    `ranks` maps a pair to its rank, `merges[rank]` names the token it becomes. Linear in time for long pieces.
    """
    if len(symbols) < LONG:
        return _merge_short(symbols, ranks, merges, n_merges)
    if len(symbols) <= 2 * WINDOW:
        return [symbol for symbol in _merge_long(symbols, ranks, merges, n_merges) if symbol != GONE]
    return merge_in_windows(symbols, lambda window: _merge_long(window, ranks, merges, n_merges), GONE)


def _merge_short(symbols: list[int], ranks: Ranks, merges: Sequence[Triple], n_merges: int) -> list[int]:
    """Quadratic on paper, but `min` and `index` run in C: nothing is faster for the few symbols of a word."""
    rank_at = list(map(ranks.get, pairwise(symbols), repeat(_NEVER)))
    while rank_at:
        rank = min(rank_at)
        if rank >= n_merges:
            break
        i = rank_at.index(rank)
        token = merges[rank][2]
        symbols[i : i + 2] = [token]
        del rank_at[i]
        if i:
            rank_at[i - 1] = ranks.get((symbols[i - 1], token), _NEVER)
        if i < len(rank_at):
            rank_at[i] = ranks.get((token, symbols[i + 1]), _NEVER)
    return symbols


def _merge_long(symbols: list[int], ranks: Ranks, merges: Sequence[Triple], n_merges: int) -> list[int]:
    """Each id where it begins, `GONE` in the places behind: O(n log n), by a linked list and a list of what is to do.

    What is to do is kept sorted, the next at the end: rank and place of a pair in one number, negative. A place may be
    out of date when its turn comes; the rank of the pair that stands there now tells. Behind the last symbol stands
    one that has no merges; it takes the place of a neighbor at both ends.
    """
    n = len(symbols)
    rank_of = ranks.get
    rank_at = list(map(rank_of, pairwise(symbols), repeat(_NEVER)))
    shift = n.bit_length()
    place = (1 << shift) - 1
    waiting = sorted(-(rank << shift | i) for i, rank in enumerate(rank_at) if rank < n_merges)
    rank_at += _NEVER, _NEVER
    following = list(range(1, n + 2))
    previous = [n, *range(n)]
    symbols = [*symbols, GONE]
    while waiting:
        todo = -waiting.pop()
        i = todo & place
        rank = todo >> shift
        if rank_at[i] != rank:
            continue
        token = symbols[i] = merges[rank][2]
        j = following[i]
        symbols[j] = GONE
        rank_at[j] = _NEVER
        k = following[i] = following[j]
        previous[k] = i
        rank = rank_at[i] = rank_of((token, symbols[k]), _NEVER)
        if rank < n_merges:
            insort(waiting, -(rank << shift | i))
        h = previous[i]
        rank = rank_at[h] = rank_of((symbols[h], token), _NEVER)
        if rank < n_merges:
            insort(waiting, -(rank << shift | h))
    return symbols[:n]
