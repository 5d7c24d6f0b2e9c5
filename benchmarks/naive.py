"""Byte-pair encoding in the most obvious way, as minbpe teaches it: the baseline that shows what cleverness buys."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import regex


def train(texts: Iterable[str], vocab_size: int, pattern: str) -> list[tuple[int, int]]:
    """The merges; every pair of the whole corpus is counted before each of them."""
    words = [
        list(piece.encode()) for text in texts for piece in regex.findall(pattern, text)
    ]
    merges: list[tuple[int, int]] = []
    for token in range(256, vocab_size):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            break
        best = max(pairs, key=pairs.__getitem__)
        merges.append(best)
        words = [_merged(word, best, token) for word in words]
    return merges


def _merged(word: list[int], pair: tuple[int, int], token: int) -> list[int]:
    merged: list[int] = []
    for symbol in word:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] = token
        else:
            merged.append(symbol)
    return merged
