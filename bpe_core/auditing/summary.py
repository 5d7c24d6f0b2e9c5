"""What holds of a vocabulary as a whole, in sentences, and the figures of well-known ones."""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from bpe_core.auditing.scaffold import end_of_order
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible


def summary(tokenizer: Tokenizer) -> list[str]:
    """Sentences for a person about the vocabulary as a whole, safe to write to a terminal; O(ids)."""
    vocabulary = tokenizer.vocabulary
    n_merges, last = vocabulary.n_merges, end_of_order(vocabulary)
    said = [
        f"{counted(tokenizer.n_vocab, 'token')}, {counted(n_merges, 'merge')}, "
        f"{counted(len(vocabulary.special_tokens), 'special token')}, pattern {visible(tokenizer.pattern)}."
    ]
    if last < n_merges:
        said.append(
            f"Behind merge {last:,} (id {vocabulary.merges[last - 1][2]:,}) the ranks are not the order of the same "
            f"training any more: the {n_merges - last:,} merges that follow were appended, and are not judged by their "
            "rank."
        )
    holes = [(a + 1, b - 1) for a, b in pairwise([-1, *vocabulary.ids()]) if b > a + 1]
    if holes:
        n = sum(end - first + 1 for first, end in holes)
        first, end = holes[0]
        where = f"{first:,}" if first == end else f"{first:,} to {end:,}"
        more = f", and in {counted(len(holes) - 1, 'other range')}" if len(holes) > 1 else ""
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
