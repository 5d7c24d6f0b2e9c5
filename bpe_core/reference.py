"""The reference implementation of byte-pair encoding. It is as plain as possible and defines what is correct.

Training and encoding take quadratic time or more. Tests compare the fast implementations with it, and the app shows
it running on a few words.
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
"""The 256 bytes in the order of Hugging Face's byte alphabet. The tie rule "lowest-hf" compares bytes by it."""

Pair = tuple[int, int]


def merged(ids: Sequence[int], pair: Pair, token: int) -> list[int]:
    """Return `ids` with every occurrence of `pair` replaced by `token`, from left to right and without overlaps."""
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
    """Learn at most `n_merges` merges from `pieces`. Bytes have the ids 0 to 255, merges the ids from 256 on.

    Training stops when no pair occurs at least `min_count` times. Pairs longer than `max_token_length` bytes are
    skipped. The pairs in `given` are merged first, even if they don't occur.

    Each merge is (left id, right id, new id, the pair's count, number of pairs with this count, tokens left after it).
    The number of pairs is 0 for a given pair.
    """
    words = [list(piece) for piece in pieces]
    token = {byte: bytes([byte]) for byte in range(256)}
    rows = []
    for new, best in enumerate(given[:n_merges], 256):
        count = count_pairs(words)[best]
        words = [merged(word, best, new) for word in words]
        token[new] = token[best[0]] + token[best[1]]
        rows.append((*best, new, count, 0, sum(map(len, words))))
    for new in range(256 + len(rows), 256 + n_merges):
        counts = count_pairs(words)
        if max_token_length is not None:
            counts = without_long_pairs(counts, token, max_token_length)
        most = max(counts.values(), default=0)
        tied = [pair for pair, count in counts.items() if count == most]
        if not tied or most < min_count:
            break
        best = choose(tied, ties, token)
        words = [merged(word, best, new) for word in words]
        token[new] = token[best[0]] + token[best[1]]
        rows.append((*best, new, most, len(tied), sum(map(len, words))))
    return rows


def count_pairs(words: Iterable[Sequence[int]]) -> Counter[Pair]:
    """Count the pairs of neighbors, in the order in which they first occur."""
    return Counter(pair for word in words for pair in pairwise(word))


def without_long_pairs(
    counts: Counter[Pair], token: dict[int, bytes], max_token_length: int
) -> Counter[Pair]:
    """Return the counts of the pairs that make a token of at most `max_token_length` bytes."""
    kept = Counter[Pair]()
    for (left, right), count in counts.items():
        if len(token[left] + token[right]) <= max_token_length:
            kept[left, right] = count
    return kept


def choose(tied: Sequence[Pair], ties: str, token: dict[int, bytes]) -> Pair:
    """Choose one of the pairs with the highest count by a tie rule.

    "first" takes the pair that occurs first, "largest" the one with the largest bytes, "lowest" the one with the
    lowest ids, and "lowest-hf" the same with bytes in Hugging Face's order.
    """
    if ties == "first":
        return tied[0]
    if ties == "largest":
        return max(tied, key=lambda pair: (token[pair[0]], token[pair[1]]))
    if ties == "lowest-hf":
        return min(tied, key=lambda pair: (hf_number(pair[0]), hf_number(pair[1])))
    if ties == "lowest":
        return min(tied)
    raise ValueError(f"Unknown tie rule {ties!r}.")


def hf_number(id: int) -> int:
    """Return the place of a byte in Hugging Face's order, or the id of any other token."""
    return HF_ORDER.index(id) if id < 256 else id


def encode(piece: bytes, merges: Iterable[tuple[int, int, int]]) -> list[int]:
    """Return the ids of one piece: apply every merge (left, right, token) in the order of training."""
    ids = list(piece)
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids
