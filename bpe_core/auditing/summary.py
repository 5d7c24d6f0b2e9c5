"""The summary of an audit: figures of the vocabulary as a whole, in sentences too, and those of well-known ones."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple, Self

from bpe_core.auditing.findings import KINDS, Finding
from bpe_core.auditing.scaffold import end_of_order
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a whole vocabulary.

    `n_vocab` counts ids, special tokens included; `kinds`: kind -> tokens with a finding of it, in the order of
    `KINDS`; `holes`: [first, last] of each range of ids without a token, between ids that have one. `order_ends` is the
    last step whose rank is the order of one training (None if all are, see `end_of_order`), and `order_ends_id` the id
    that it made.
    """

    n_vocab: int
    n_merges: int
    n_special: int
    pattern: str
    kinds: dict[str, int]
    holes: list[list[int]]
    order_ends: int | None
    order_ends_id: int | None

    @classmethod
    def of(cls, tokenizer: Tokenizer, findings: Iterable[Finding]) -> Self:
        """The summary of these findings about a tokenizer; O(ids)."""
        vocabulary = tokenizer.vocabulary
        about = Counter(kind for kind, _ in {(finding.kind, finding.id) for finding in findings})
        last = end_of_order(vocabulary)
        ends = last if last < vocabulary.n_merges else None
        ids = [-1, *vocabulary.ids()]
        return cls(
            tokenizer.n_vocab,
            vocabulary.n_merges,
            len(vocabulary.special_tokens),
            tokenizer.pattern,
            {kind: about[kind] for kind in KINDS if about[kind]},
            [[before + 1, token - 1] for before, token in pairwise(ids) if token > before + 1],
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


class KnownVocabulary(NamedTuple):
    """A vocabulary whose figures were counted by hand and by other programs, to compare an audit with.

    `name` is what it is called, with the models that use it; `figures`: kind of finding -> how many tokens it holds
    for, without texts and without a model.
    """

    name: str
    figures: Mapping[str, int]


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
        return _KNOWN.get(self._digest.hexdigest())


def _known(name: str, unreachable: int, in_context: int, partial: int) -> KnownVocabulary:
    figures = {"unreachable": unreachable, "partial-utf8": partial, "reachable-in-context": in_context}
    return KnownVocabulary(name, figures | {"unused-byte": 13})


_KNOWN: Final = {
    "d371d9ea2ca1f804a8971cfa85d87fe8": _known("r50k_base (GPT-2)", 0, 0, 216),
    "56b7babc5a5f8f93c70612967373378e": _known("cl100k_base (GPT-4)", 0, 0, 645),
    "b867158b79b1d62915b0d1a2318644a8": _known("o200k_base (GPT-4o)", 1, 11, 1434),
}
"""Digest -> vocabulary. Of the twelve tokens of o200k_base whose own text becomes others, eleven occur in context."""
