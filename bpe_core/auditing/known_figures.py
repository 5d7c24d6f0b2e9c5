"""Figures of well-known vocabularies, counted by hand and by other programs, to see those of an audit beside.

A vocabulary is known by a digest of its ordinary tokens, in the order of their ids, whatever its file is called.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownVocabulary:
    """A vocabulary that others have looked into."""

    name: str
    """What it is called, with the models that use it."""
    figures: Mapping[str, int]
    """Kind of finding -> how many tokens it holds for, without texts and without a model."""


class Fingerprint:
    """The digest of the ordinary tokens of a vocabulary, which are added by ascending id."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, tokens: Iterable[tuple[int, bytes]]) -> None:
        """More tokens, as (id, bytes)."""
        self._digest.update(b"".join(b"%d %d %b" % (token, len(data), data) for token, data in tokens))

    @property
    def known(self) -> KnownVocabulary | None:
        """The well-known vocabulary of just these tokens; None if it is none."""
        return KNOWN.get(self._digest.hexdigest())

    def hexdigest(self) -> str:
        """The digest, in hexadecimal."""
        return self._digest.hexdigest()


def _figures(unreachable: int, in_context: int, partial: int) -> Mapping[str, int]:
    return MappingProxyType(
        {"unreachable": unreachable, "partial-utf8": partial, "reachable-in-context": in_context, "unused-byte": 13}
    )


KNOWN: Final[Mapping[str, KnownVocabulary]] = MappingProxyType(
    {
        "d371d9ea2ca1f804a8971cfa85d87fe8": KnownVocabulary("r50k_base (GPT-2)", _figures(0, 0, 216)),
        "56b7babc5a5f8f93c70612967373378e": KnownVocabulary("cl100k_base (GPT-4)", _figures(0, 0, 645)),
        "b867158b79b1d62915b0d1a2318644a8": KnownVocabulary("o200k_base (GPT-4o)", _figures(1, 11, 1434)),
    }
)
"""Digest -> vocabulary. Of the twelve tokens of o200k_base whose own text becomes others, eleven occur in context."""
