"""Two vocabularies compared: the tokens and first merges they share, and where two trainings part."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Self

from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.metrics.run_options import run_options
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, token_label, visible

_NAMED = 5
"""Tokens that are named of those that only one has."""
_LONGEST_VALUE = 50
"""Characters of the value of an option."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """The tokens of two vocabularies compared by their bytes, without special tokens."""

    n_shared: int
    """How many byte strings are tokens of both."""
    only_first: tuple[int, ...]
    """The ids of the first whose bytes the second does not have, ascending."""
    only_second: tuple[int, ...]
    """The ids of the second whose bytes the first does not have, ascending."""

    @property
    def jaccard(self) -> float:
        """Jaccard index: shared tokens / different tokens of both together; 1.0 for two empty vocabularies."""
        n = self.n_shared + len(self.only_first) + len(self.only_second)
        return self.n_shared / n if n else 1.0


def overlap(first: Tokenizer, second: Tokenizer) -> Overlap:
    """The shared tokens of two vocabularies, and those of only one; O(n log n) for n tokens."""
    ours, theirs = _ids_by_bytes(first), _ids_by_bytes(second)
    return Overlap(
        len(ours.keys() & theirs.keys()),
        tuple(sorted(ours[data] for data in ours.keys() - theirs.keys())),
        tuple(sorted(theirs[data] for data in theirs.keys() - ours.keys())),
    )


def _ids_by_bytes(tokenizer: Tokenizer) -> dict[bytes, int]:
    special = set(tokenizer.special_tokens.values())
    ids = (id for id in tokenizer.vocabulary.ids() if id not in special)
    return {tokenizer.token_bytes(id): id for id in ids}


def merges_in_common(first: Tokenizer, second: Tokenizer) -> int:
    """The length of the common prefix of two merge lists, where merges are equal if they join the same two byte
    strings."""

    def same(merges: tuple[tuple[int, int, int], tuple[int, int, int]]) -> bool:
        (a, b, _), (c, d, _) = merges
        return first.token_bytes(a) == second.token_bytes(c) and first.token_bytes(b) == second.token_bytes(d)

    return sum(1 for _ in takewhile(same, zip(first.vocabulary.merges, second.vocabulary.merges, strict=False)))


@dataclass(frozen=True, slots=True)
class NextMerge:
    """The merge of one training at the step where two of them part."""

    left: bytes
    right: bytes
    count: int | None
    """How often the pair occurred; None if there is no record of it."""
    ties: int | None
    """How many pairs had this count; None likewise, 0 if the merge was given."""

    def __str__(self) -> str:
        pair = f"{token_label(self.left)} + {token_label(self.right)}"
        if self.count is None:
            return pair
        why = "given" if not self.ties else "no tie" if self.ties == 1 else f"one of {self.ties:,} with this count"
        return f"{pair}, {self.count:,} times ({why})"


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two lists of merges compared; merges are equal if they join the same two byte strings, whatever the ids."""

    options: dict[str, tuple[str, str]]
    """Options that differ: name -> its value in each; empty where one has no record."""
    n_same: int
    """The first so many merges are the same."""
    next: tuple[NextMerge | None, NextMerge | None]
    """The first merge that differs, of each; None of one that has no more."""
    n_both: int
    """Tokens that both learned after that, perhaps at other steps or from other parts."""
    only: tuple[tuple[bytes, ...], tuple[bytes, ...]]
    """Tokens that only the first, and only the second, learned after that, in the order of the steps."""
    compression: tuple[float | None, float | None]
    """Bytes a token of its own corpus at the end, of each; None without a record."""

    @classmethod
    def of(cls, first: Tokenizer, second: Tokenizer) -> Self:
        """Compare two tokenizers; linear in their merges."""
        n_same = merges_in_common(first, second)
        ours, theirs = (
            [one.token_bytes(token) for _, _, token in one.vocabulary.merges[n_same:]] for one in (first, second)
        )
        in_ours, in_theirs = set(ours), set(theirs)
        options, others = run_options(first), run_options(second)
        return cls(
            {name: (value, others[name]) for name, value in options.items() if value != others.get(name, value)},
            n_same,
            (_merge_at(first, n_same), _merge_at(second, n_same)),
            len(in_ours & in_theirs),
            (
                tuple(token for token in ours if token not in in_theirs),
                tuple(token for token in theirs if token not in in_ours),
            ),
            (_compression(first), _compression(second)),
        )

    def sentences(self, first: str, second: str) -> Iterator[str]:
        """The difference for a person; `first` and `second` are what the two are called."""
        if self.options:
            values = (f"{name} {_short(a)} and {_short(b)}" for name, (a, b) in self.options.items())
            yield f"Asked of {first} and {second}: {'; '.join(values)}."
        ours, theirs = self.next
        if ours is None and theirs is None:
            yield f"The same merges: all {self.n_same:,}."
            return
        if ours is None or theirs is None:
            shorter, longer, more = (first, second, self.only[1]) if ours is None else (second, first, self.only[0])
            yield f"The same until step {self.n_same:,}, where {shorter} ends; {longer} has {len(more):,} more."
        else:
            yield f"The same until step {self.n_same:,}, then:"
            yield f"  {first}: {ours}"
            yield f"  {second}: {theirs}"
            yield f"What they learned after that has {counted(self.n_both, 'token')} in common."
            for name, only in ((first, self.only[0]), (second, self.only[1])):
                if only:
                    labels = ", ".join(shortened(token_label(token), 30) for token in only[:_NAMED])
                    yield f"  only {name}: {len(only):,}: {labels}{', …' if len(only) > _NAMED else ''}"
        if None not in self.compression:
            a, b = self.compression
            yield f"Bytes a token of its corpus at the end: {first} {a:.4f}, {second} {b:.4f}."


def _merge_at(tokenizer: Tokenizer, index: int) -> NextMerge | None:
    if index >= tokenizer.step:
        return None
    left, right, _ = tokenizer.vocabulary.merges[index]
    steps = tokenizer.record.steps if tokenizer.record else ()
    count, ties, _ = steps[index] if index < len(steps) else (None, None, None)
    return NextMerge(tokenizer.token_bytes(left), tokenizer.token_bytes(right), count, ties)


def _compression(tokenizer: Tokenizer) -> float | None:
    record = tokenizer.record
    if record is None:
        return None
    steps = record.steps[: tokenizer.step]
    return bytes_per_token(record.n_bytes, steps[-1][2] if steps else record.n_tokens_start)


def _short(value: str) -> str:
    return visible(shortened(value, _LONGEST_VALUE))
