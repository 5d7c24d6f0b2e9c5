"""The reference implementation of byte-pair encoding: as plain as possible, and the definition of what is correct.

Training and encoding take quadratic time and more. Tests verify the fast implementations with it, and the app shows
how it runs on a few words.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

HF_ORDER = [
    *range(0x21, 0x7F),
    *range(0xA1, 0xAD),
    *range(0xAE, 0x100),
    *range(0x21),
    *range(0x7F, 0xA1),
    0xAD,
]
"""The 256 bytes in the order of Hugging Face's byte alphabet, by which the tie rule "lowest-hf" compares bytes."""

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
    pieces: Iterable[bytes],
    n_merges: int,
    ties: str,
    min_count: int = 1,
    max_token_length: int | None = None,
    given: Sequence[Pair] = (),
) -> list[tuple[int, int, int, int, int, int]]:
    """The merges learned from `pieces`, at most `n_merges`; bytes have the ids 0 to 255, merges those from 256 on.

    `ties` is "largest" (by bytes), "first" (seen in the corpus), "lowest" or "lowest-hf" (by ids). Merging stops before
    a pair with fewer than `min_count` occurrences; pairs longer than `max_token_length` bytes are skipped. The pairs
    `given` are merged first, whatever occurs, with 0 for the number of pairs that had the count.
    Each merge is (left id, right id, new id, the pair's count, how many pairs had that count, tokens left after it).
    """
    words, token, rows = (
        [list(piece) for piece in pieces],
        {b: bytes([b]) for b in range(256)},
        [],
    )
    number = {b: HF_ORDER.index(b) if ties == "lowest-hf" else b for b in range(256)}
    for new in range(256, 256 + n_merges):
        counts: dict[Pair, int] = Counter(
            pair for word in words for pair in pairwise(word)
        )  # in first-seen order
        if new - 256 < len(given):
            best = given[new - 256]
            words, token[new] = (
                [merged(word, best, new) for word in words],
                token[best[0]] + token[best[1]],
            )
            rows.append((*best, new, counts.get(best, 0), 0, sum(map(len, words))))
            continue
        if max_token_length is not None:
            counts = {
                p: n
                for p, n in counts.items()
                if len(token[p[0]] + token[p[1]]) <= max_token_length
            }
        most = max(counts.values(), default=0)
        tied = [pair for pair, n in counts.items() if n == most]
        if not tied or most < min_count:
            break
        if ties == "largest":
            best = max(tied, key=lambda pair: (token[pair[0]], token[pair[1]]))
        elif ties == "first":
            best = tied[0]
        else:
            best = min(
                tied,
                key=lambda pair: (
                    number.get(pair[0], pair[0]),
                    number.get(pair[1], pair[1]),
                ),
            )
        words, token[new] = (
            [merged(word, best, new) for word in words],
            token[best[0]] + token[best[1]],
        )
        rows.append((*best, new, most, len(tied), sum(map(len, words))))
    return rows


def encode(piece: bytes, merges: Iterable[tuple[int, int, int]]) -> list[int]:
    """The ids of one piece: every merge (left, right, token) applied to it, in the order of training."""
    ids = list(piece)
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids
