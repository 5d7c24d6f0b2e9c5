"""Byte-pair encoding as slowly and plainly as it can be written: what every fast path is compared with."""

from collections import Counter
from itertools import pairwise

HF_ORDER = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100), *range(0x21), *range(0x7F, 0xA1), 0xAD]


def merged(ids, pair, token):
    out, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            out, i = [*out, token], i + 2
        else:
            out, i = [*out, ids[i]], i + 1
    return out


def train(pieces, n_merges, ties, min_count=1, max_token_length=None):
    """[(left, right, token, count, ties, n_tokens)] learned from pieces (bytes), bytes-first ids."""
    words, token, rows = [list(piece) for piece in pieces], {b: bytes([b]) for b in range(256)}, []
    number = {b: (HF_ORDER.index(b) if ties == "lowest-hf" else b) for b in range(256)}
    for new in range(256, 256 + n_merges):
        counts = Counter(pair for word in words for pair in pairwise(word))  # a Counter keeps first-seen order
        counts = {p: n for p, n in counts.items() if len(token[p[0]] + token[p[1]]) <= (max_token_length or 1 << 30)}
        tied = [pair for pair, n in counts.items() if n == max(counts.values())]
        if not tied or counts[tied[0]] < min_count:
            break
        if ties == "largest":
            best = max(tied, key=lambda pair: (token[pair[0]], token[pair[1]]))
        elif ties == "first":
            best = tied[0]
        else:
            best = min(tied, key=lambda pair: (number.get(pair[0], pair[0]), number.get(pair[1], pair[1])))
        words, token[new] = [merged(word, best, new) for word in words], token[best[0]] + token[best[1]]
        rows.append((*best, new, counts[best], len(tied), sum(map(len, words))))
    return rows


def encode(piece, merges):
    """The ids of a piece (bytes): every merge replayed in the order it was learned."""
    ids = list(piece)
    for left, right, token in merges:
        ids = merged(ids, (left, right), token)
    return ids
