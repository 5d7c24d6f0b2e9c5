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

    A token joins the family of the longest suspicious token that it was merged from. A part counts if it is a scaffold,
    or text of at least five bytes and three characters: shorter ones are in many words that have nothing else in
    common. A scaffold joins the token that was made from it.

    Args:
        vocabulary: The vocabulary with the tokens.
        kinds_of: Id -> kinds of its findings, for all tokens with a finding.
    """
    parts_of: dict[int, int] = {}
    """Id -> the longest suspicious part of the token, or the token itself."""

    def first(token: int) -> int:
        while parts_of[token] != token:
            token = parts_of[token]
        return token

    for token in sorted(kinds_of, key=lambda token: len(vocabulary.token_bytes(token))):
        parts_of[token] = token
        joining = [
            part
            for part in _parts(vocabulary, token)
            if part in parts_of and _can_join(vocabulary, part, kinds_of[part])
        ]
        if joining:
            parts_of[token] = max(
                joining, key=lambda part: len(vocabulary.token_bytes(part))
            )
    for token, kinds in kinds_of.items():
        if "scaffold" in kinds and parts_of[token] == token:
            children = [
                child for child in vocabulary.children(token) if child in parts_of
            ]
            if children:
                parts_of[token] = first(children[0])
    return {token: first(token) for token in parts_of}


def _can_join(vocabulary: Vocabulary, part: int, kinds: Iterable[str]) -> bool:
    """Whether tokens that contain `part` are a family."""
    if "scaffold" in kinds:
        return True
    data = vocabulary.text_bytes(part)
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
