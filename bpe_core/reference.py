"""Byte-pair encoding as slowly and plainly as it can be written: the definition that every fast path is held against.

Training and encoding take quadratic time and more. Nothing of the product runs through here; its tests do.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

S = TypeVar("S")

HF_ORDER = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100), *range(0x21), *range(0x7F, 0xA1), 0xAD]
"""The 256 bytes in the order of Hugging Face's printable alphabet, which decides ties of "lowest-hf"."""

Pair = tuple[int, int]


def merged(ids: Sequence[int], pair: Pair, token: int) -> list[int]:
    """`ids` with every occurrence of `pair` replaced by `token`, from left to right, none overlapping another."""
    out: list[int] = []
    for id in ids:
        out.append(id)
        if tuple(out[-2:]) == pair:
            out[-2:] = [token]
    return out


def train(
    pieces: Iterable[bytes], n_merges: int, ties: str, min_count: int = 1, max_token_length: int | None = None
) -> list[tuple[int, int, int, int, int, int]]:
    """The merges learned from pieces of bytes, ids 0 to 255 being the bytes: at most `n_merges` of them.

    Each is (left id, right id, token id, the pair's count, pairs that had that count, tokens left after the merge).
    """
    words, token, rows = [list(piece) for piece in pieces], {b: bytes([b]) for b in range(256)}, []
    number = {b: HF_ORDER.index(b) if ties == "lowest-hf" else b for b in range(256)}
    for new in range(256, 256 + n_merges):
        counts: dict[Pair, int] = Counter(pair for word in words for pair in pairwise(word))  # in first-seen order
        if max_token_length is not None:
            counts = {p: n for p, n in counts.items() if len(token[p[0]] + token[p[1]]) <= max_token_length}
        most = max(counts.values(), default=0)
        tied = [pair for pair, n in counts.items() if n == most]
        if not tied or most < min_count:
            break
        if ties == "largest":
            best = max(tied, key=lambda pair: (token[pair[0]], token[pair[1]]))
        elif ties == "first":
            best = tied[0]
        else:
            best = min(tied, key=lambda pair: (number.get(pair[0], pair[0]), number.get(pair[1], pair[1])))
        words, token[new] = [merged(word, best, new) for word in words], token[best[0]] + token[best[1]]
        rows.append((*best, new, most, len(tied), sum(map(len, words))))
    return rows


def encode(piece: bytes, merges: Iterable[tuple[int, int, int]]) -> list[int]:
    """The ids of one piece: every merge (left, right, token) replayed over it in the order it was learned."""
    ids = list(piece)
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids


def merge(symbols: Iterable[S], rank_of: Callable[[S, S], int | None], joined: Callable[[S, S], S]) -> list[S]:
    """What is left of `symbols` when the neighbors of the lowest rank are joined, leftmost first, until none has one.

    Where ranks are the order of a training, this is `encode`; published ranks may have any order, gaps and equals.
    """
    parts = list(symbols)
    while ranks := {i: rank for i, pair in enumerate(pairwise(parts)) if (rank := rank_of(*pair)) is not None}:
        i = min(ranks, key=ranks.__getitem__)
        parts[i : i + 2] = [joined(parts[i], parts[i + 1])]
    return parts
