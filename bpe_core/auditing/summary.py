"""The summary of an audit: figures of the vocabulary as a whole, in sentences too, and those of well-known ones."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Self

from bpe_core.auditing.findings import KINDS, Finding
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a whole vocabulary; each is a value that can be written as JSON."""

    n_vocab: int
    """Ids, special tokens included."""
    n_merges: int
    n_special: int
    pattern: str
    kinds: dict[str, int]
    """Kind -> tokens with a finding of it, in the order of `KINDS`; without kinds that do not occur."""
    holes: list[list[int]]
    """[first, last] of each range of ids without a token, between ids that have one."""
    order_ends: int | None
    """The last step whose rank is the order of one training, see `training_order`; None if all are."""
    order_ends_id: int | None
    """The id that this step made."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, findings: Iterable[Finding]) -> Self:
        """The summary of these findings about a tokenizer; O(ids)."""
        vocabulary = tokenizer.vocabulary
        about = Counter(kind for kind, _ in {(finding.kind, finding.id) for finding in findings})
        last = end_of_order(vocabulary)
        ends = last if last < vocabulary.n_merges else None
        return cls(
            tokenizer.n_vocab,
            vocabulary.n_merges,
            len(vocabulary.special_tokens),
            tokenizer.pattern,
            {kind: about[kind] for kind in KINDS if about[kind]},
            holes(vocabulary.ids()),
            ends,
            vocabulary.merges[ends - 1][2] if ends else None,
        )

    @property
    def sentences(self) -> list[str]:
        """What holds of the whole, for a person; safe to write to a terminal."""
        said = [
            f"{counted(self.n_vocab, 'token')}, {counted(self.n_merges, 'merge')}, "
            f"{counted(self.n_special, 'special token')}, pattern {visible(self.pattern)}."
        ]
        if self.order_ends is not None:
            said.append(
                f"Behind merge {self.order_ends:,} (id {self.order_ends_id:,}) the ranks are not the order of the same "
                f"training any more: the {self.n_merges - self.order_ends:,} merges that follow were appended, and are "
                "not judged by their rank."
            )
        if self.holes:
            n = sum(last - first + 1 for first, last in self.holes)
            first, last = self.holes[0]
            where = f"{first:,}" if first == last else f"{first:,} to {last:,}"
            more = f", and in {counted(len(self.holes) - 1, 'other range')}" if len(self.holes) > 1 else ""
            said.append(f"{counted(n, 'id has', 'ids have')} no token: {where}{more}.")
        return said

    def to_json(self) -> dict[str, Any]:
        """The figures by name."""
        return {name: getattr(self, name) for name in self.__slots__}


def holes(ids: list[int]) -> list[list[int]]:
    """[first, last] of the ranges that are missing in an ascending list of ids, from 0 on.

    >>> holes([0, 1, 4, 5, 7])
    [[2, 3], [6, 6]]
    """
    missing, expected = [], 0
    for token in ids:
        if token > expected:
            missing.append([expected, token - 1])
        expected = token + 1
    return missing


@dataclass(frozen=True, slots=True)
class KnownVocabulary:
    """A vocabulary whose figures were counted by hand and by other programs, to compare an audit with."""

    name: str
    """What it is called, with the models that use it."""
    figures: Mapping[str, int]
    """Kind of finding -> how many tokens it holds for, without texts and without a model."""


class Fingerprint:
    """The digest of the ordinary tokens of a vocabulary, which are added by ascending id, whatever its file's name."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, tokens: Iterable[tuple[int, bytes]]) -> None:
        """More tokens, as (id, bytes)."""
        self._digest.update(b"".join(b"%d %d %b" % (token, len(data), data) for token, data in tokens))

    @property
    def known(self) -> KnownVocabulary | None:
        """The well-known vocabulary of just these tokens; None if it is none."""
        return KNOWN.get(self._digest.hexdigest())


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
