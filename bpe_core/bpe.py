"""The merge loop: the symbols of one piece, joined pair by pair, always the pair of the lowest rank, leftmost first."""

import re
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise, repeat
from typing import Final

Ranks = Mapping[tuple[int, int], int]
Triple = tuple[int, int, int]

LONG: Final = 256
"""From this many symbols on a piece is worth a linked list."""

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

    `ranks` maps a pair to its rank, `merges[rank]` names the token it becomes.
    """
    if len(symbols) < LONG:
        return _merge_short(symbols, ranks, merges, n_merges)
    return _merge_long(symbols, ranks, merges, n_merges)


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
    """O(n log n): a linked list of symbols, and for each rank the places where its pair was seen.

    All places of one rank are joined in one sweep, so the heap holds ranks rather than places. A place may be out of
    date when its turn comes; the pair that stands there now tells.
    """
    n = len(symbols)
    following = list(range(1, n + 1))
    previous = list(range(-1, n - 1))
    places: dict[int, list[int]] = {}
    for i, pair in enumerate(pairwise(symbols)):
        rank = ranks.get(pair, _NEVER)
        if rank < n_merges:
            places.setdefault(rank, []).append(i)
    waiting = list(places)
    heapify(waiting)

    def note(i: int, j: int) -> int:
        rank = ranks.get((symbols[i], symbols[j]), _NEVER)
        if rank < n_merges:
            if rank in places:
                places[rank].append(i)
            else:
                places[rank] = [i]
                heappush(waiting, rank)
        return rank

    while waiting:
        rank = heappop(waiting)
        left, right, token = merges[rank]
        todo = places.pop(rank)
        todo.sort()
        for done, i in enumerate(todo, 1):
            j = following[i]
            if symbols[i] != left or j >= n or symbols[j] != right:
                continue
            symbols[i] = token
            symbols[j] = -1
            k = following[i] = following[j]
            lowest = _NEVER
            if k < n:
                previous[k] = i
                lowest = note(i, k)
            if previous[i] >= 0:
                lowest = min(lowest, note(previous[i], i))
            if lowest < rank and done < len(todo):  # only in files whose merges are out of order
                places[rank] = todo[done:]
                heappush(waiting, rank)
                break
    return [symbol for symbol in symbols if symbol >= 0]
