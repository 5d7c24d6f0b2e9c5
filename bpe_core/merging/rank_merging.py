"""The merge loop for vocabularies that know ranks but no merges: two neighbors join if their joined bytes are a token.

So tiktoken encodes, and SentencePiece, whose ranks are scores. Nothing needs to be known about how a token was made.
"""

from bisect import insort
from collections.abc import Mapping
from itertools import repeat
from operator import add
from typing import Final

from bpe_core.merging.merge_loop import LONG
from bpe_core.merging.windows import WINDOW, merge_in_windows

GONE: Final = b""
"""Stands where a part was that was joined to the one before it."""

_NEVER: Final = 1 << 62


def merge_parts(parts: list[bytes], rank_of: Mapping[bytes, int]) -> list[bytes]:
    """The parts left when no two neighbors are a token: the lowest rank first, leftmost first. May reuse the list.

    >>> merge_parts([b"l", b"o", b"w"], {b"lo": 0, b"ow": 1, b"low": 2})
    [b'low']
    """
    if len(parts) < LONG:
        return _merge_short(parts, rank_of)
    if len(parts) <= 2 * WINDOW:
        return [part for part in _merge_long(parts, rank_of) if part]
    return merge_in_windows(parts, lambda window: _merge_long(window, rank_of), GONE)


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
    """Each part where it begins, `GONE` in the places behind; as `bpe_core.merging.merge_loop` does it."""
    n = len(parts)
    rank_of_joined = rank_of.get
    rank_at = list(map(rank_of_joined, map(add, parts, parts[1:]), repeat(_NEVER)))
    shift = n.bit_length()
    place = (1 << shift) - 1
    waiting = sorted(-(rank << shift | i) for i, rank in enumerate(rank_at) if rank != _NEVER)
    rank_at += _NEVER, _NEVER
    following = list(range(1, n + 2))
    previous = [n, *range(n)]
    parts = [*parts, GONE]
    while waiting:
        todo = -waiting.pop()
        i = todo & place
        if rank_at[i] != todo >> shift:
            continue
        j = following[i]
        joined = parts[i] = parts[i] + parts[j]
        parts[j] = GONE
        rank_at[j] = _NEVER
        k = following[i] = following[j]
        previous[k] = i
        if k < n:
            rank = rank_at[i] = rank_of_joined(joined + parts[k], _NEVER)
            if rank != _NEVER:
                insort(waiting, -(rank << shift | i))
        else:
            rank_at[i] = _NEVER
        h = previous[i]
        if h < n:
            rank = rank_at[h] = rank_of_joined(parts[h] + joined, _NEVER)
            if rank != _NEVER:
                insort(waiting, -(rank << shift | h))
    return parts[:n]
