"""Pairs of tokens that are valid UTF-8 only together: the first ends inside a character, the second completes it.

A model has rarely met such a pair, and may fail to repeat it: S. Jang et al., "Improbable Bigrams Expose
Vulnerabilities of Incomplete Tokens" (2024, arXiv 2410.23684).
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.auditing.subject import Subject
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import character_length, incomplete_ends


class Bigram(NamedTuple):
    """The ids of two tokens, each of which is no valid UTF-8, and the text that they make together."""

    left: int
    right: int
    text: str


def incomplete_bigrams(tokenizer: Tokenizer) -> Iterator[Bigram]:
    """All pairs with `tokenizer.encode_ordinary(text) == [left, right]`, sorted by left, then right.

    `left` begins at a character's beginning and ends inside a character; `right` begins with the bytes missing there
    and ends at a character's end. Tokens of a single byte are included. Each left token is tried with every right one
    that begins with as many bytes as it lacks.
    """
    by_missing: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    lefts: list[tuple[int, bytes, bytes]] = []
    for token, data in Subject(tokenizer).tokens("incomplete bigrams"):
        found = incomplete_ends(data)
        if found and found.where == "end":
            lefts.append((token, data, found.pending))
        elif found and found.where == "start":
            by_missing[len(found.stray)].append((token, data))
    for left, start, pending in lefts:
        for right, end in by_missing[character_length(pending[0]) - len(pending)]:
            try:
                text = (start + end).decode()
            except UnicodeDecodeError:  # not every byte may follow every other
                continue
            if tokenizer.encode_ordinary(text) == [left, right]:
                yield Bigram(left, right, text)
