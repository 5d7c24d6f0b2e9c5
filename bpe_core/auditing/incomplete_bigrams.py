"""Pairs of tokens that are text only together: the first ends inside a character, the second completes it.

Such a pair is no word and nothing else a model has met often, and it may be repeated wrongly, or not at all: S. Jang et
al., "Improbable Bigrams Expose Vulnerabilities of Incomplete Tokens" (2024, arXiv 2410.23684).
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.auditing.partial_utf8 import length, torn_ends
from bpe_core.auditing.subject import Subject
from bpe_core.tokenizer import Tokenizer


class Bigram(NamedTuple):
    """Two tokens that are incomplete, and the text they are together."""

    left: int
    right: int
    text: str


def incomplete_bigrams(tokenizer: Tokenizer) -> Iterator[Bigram]:
    """All pairs whose text is encoded as just these two tokens, by the left one, then the right one.

    Left is a token that ends inside a character and begins where one begins, right one that begins with the bytes that
    are missing and ends where a character ends; single bytes are among both.
    """
    by_missing: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    lefts: list[tuple[int, bytes, bytes]] = []
    for token, data in Subject(tokenizer).tokens("incomplete bigrams"):
        found = torn_ends(data)
        if found and found.where == "end":
            lefts.append((token, data, found.pending))
        elif found and found.where == "start":
            by_missing[len(found.stray)].append((token, data))
    for left, start, pending in lefts:
        for right, end in by_missing[length(pending[0]) - len(pending)]:
            try:
                text = (start + end).decode()
            except UnicodeDecodeError:  # not every byte may follow every other
                continue
            if tokenizer.encode_ordinary(text) == [left, right]:
                yield Bigram(left, right, text)
