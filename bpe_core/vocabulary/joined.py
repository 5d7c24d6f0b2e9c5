"""The merge loop for vocabularies that know ranks but no merges: two neighbors join if their joined bytes are a token.

So tiktoken encodes, and SentencePiece, whose ranks are scores. Nothing needs to be known about how a token was made.
"""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import repeat
from operator import add
from typing import Final

from bpe_core.bpe import LONG

_NEVER: Final = 1 << 62


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> Sequence[bytes]:
    """The parts left when no two neighbors are a token: the lowest rank first, leftmost first. May reuse the list.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    return _merge_short(parts, rank_of) if len(parts) < LONG else _merge_long(parts, rank_of)


def _merge_short(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    rank_at = list(map(rank_of.get, map(add, parts, parts[1:]), repeat(_NEVER)))
    while rank_at:
        rank = min(rank_at)
        if rank == _NEVER:
            break
        i = rank_at.index(rank)
        joined = parts[i] + parts[i + 1]
        parts[i : i + 2] = [joined]
        del rank_at[i]
        if i:
            rank_at[i - 1] = rank_of.get(parts[i - 1] + joined, _NEVER)
        if i < len(rank_at):
            rank_at[i] = rank_of.get(joined + parts[i + 1], _NEVER)
    return parts


def _merge_long(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """O(n log n): a linked list of parts, and a heap of the places where two of them are a token.

    A place may be out of date when its turn comes; the parts that stand there now tell.
    """
    n = len(parts)
    following = list(range(1, n + 1))
    previous = list(range(-1, n - 1))
    ranks = map(rank_of.get, map(add, parts, parts[1:]), repeat(_NEVER))
    waiting = [(rank, i) for i, rank in enumerate(ranks) if rank != _NEVER]
    heapify(waiting)

    def note(i: int, j: int) -> None:
        rank = rank_of.get(parts[i] + parts[j])
        if rank is not None:
            heappush(waiting, (rank, i))

    while waiting:
        rank, i = heappop(waiting)
        j = following[i]
        if j >= n or not parts[i]:
            continue
        joined = parts[i] + parts[j]
        if rank_of.get(joined) != rank:
            continue
        parts[i] = joined
        parts[j] = b""
        k = following[i] = following[j]
        if k < n:
            previous[k] = i
            note(i, k)
        if previous[i] >= 0:
            note(previous[i], i)
    return [part for part in parts if part]
