"""Families: suspicious tokens that contain one another and so say one thing together.

A chain of merges such as "ore", "oreAnd", "InstoreAndOnline" gives several findings about one string, and 87 tokens of
o200k contain the name of one lottery. A reader wants to see each string once.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from bpe_core.utf8 import is_utf8
from bpe_core.vocabulary import Vocabulary

_LEAST_BYTES: Final = 5
_LEAST_CHARACTERS: Final = 3


def families(
    vocabulary: Vocabulary, kinds_of: Mapping[int, Iterable[str]]
) -> dict[int, int]:
    """Return id -> id of the token that it shares with its family, for tokens with findings.

    A token belongs to the family of the longest suspicious token that it was merged from, and so on down to one that
    was merged from none. A part counts if it is a scaffold, or text of at least five bytes and three characters: shorter
    ones are in many words that have nothing else in common. A scaffold joins the token that was made from it.

    Args:
        vocabulary: The vocabulary with the tokens.
        kinds_of: Id -> kinds of its findings, for all tokens with a finding.
    """
    roots: dict[int, int] = {}
    for token in sorted(kinds_of, key=lambda token: len(vocabulary.token_bytes(token))):
        roots[token] = token
        parts = [
            part
            for part in _parts(vocabulary, token)
            if part in roots and _counts(vocabulary.token_bytes(part), kinds_of[part])
        ]
        if parts:
            longest = max(parts, key=lambda part: len(vocabulary.token_bytes(part)))
            roots[token] = roots[longest]
    joined = {
        token: roots[child]
        for token, kinds in kinds_of.items()
        if "scaffold" in kinds and roots[token] == token
        for child in vocabulary.children(token)
        if child in roots
    }
    return {token: joined.get(root, root) for token, root in roots.items()}


def _counts(data: bytes, kinds: Iterable[str]) -> bool:
    if "scaffold" in kinds:
        return True
    if len(data) < _LEAST_BYTES or not is_utf8(data):
        return False
    return len(data.decode()) >= _LEAST_CHARACTERS


def _parts(vocabulary: Vocabulary, token: int) -> Iterator[int]:
    """Yield the tokens that a token was merged from, and those that these were merged from."""
    waiting = list(vocabulary.parents(token) or ())
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(vocabulary.parents(part) or ())
