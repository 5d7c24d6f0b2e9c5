"""Where two trainings part: up to which step they made the same merges, and what became of the rest."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from bpe_core.metrics.compression import bytes_per_token
from bpe_core.metrics.overlap import merges_in_common
from bpe_core.metrics.run_options import run_options
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import shortened, token_label, visible

_SHOWN = 5
"""Tokens that are named of those that only one has."""
_LONGEST_VALUE = 50
"""Characters of the value of an option."""


@dataclass(frozen=True, slots=True)
class NextMerge:
    """What one of them did at the step where they part."""

    left: bytes
    right: bytes
    count: int | None
    """How often the pair occurred; None if there is no record of it."""
    ties: int | None
    """How many pairs had this count; None likewise, 0 if the merge was given."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, index: int) -> Self | None:
        """The merge at `index`; None if there are fewer."""
        if index >= tokenizer.step:
            return None
        left, right, _ = tokenizer.vocabulary.merges[index]
        steps = tokenizer.record.steps if tokenizer.record else ()
        count, ties, _ = steps[index] if index < len(steps) else (None, None, None)
        return cls(tokenizer.token_bytes(left), tokenizer.token_bytes(right), count, ties)


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two lists of merges compared; merges are equal if they join the same two byte strings, whatever the ids."""

    options: dict[str, tuple[str, str]]
    """What was asked for otherwise: the name of an option -> its value in each; empty where one has no record."""
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
        ours, theirs = (list(_made(tokenizer, n_same)) for tokenizer in (first, second))
        in_ours, in_theirs = set(ours), set(theirs)
        asked, theirs_asked = run_options(first), run_options(second)
        return cls(
            {
                name: (value, theirs_asked[name])
                for name, value in asked.items()
                if value != theirs_asked.get(name, value)
            },
            n_same,
            (NextMerge.of(first, n_same), NextMerge.of(second, n_same)),
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
            told = (f"{name} {_short(a)} and {_short(b)}" for name, (a, b) in self.options.items())
            yield f"Asked of {first} and {second}: {'; '.join(told)}."
        ours, theirs = self.next
        if ours is None and theirs is None:
            yield f"The same merges: all {self.n_same:,}."
            return
        if ours is None or theirs is None:
            shorter, longer, more = (first, second, self.only[1]) if ours is None else (second, first, self.only[0])
            yield f"The same until step {self.n_same:,}, where {shorter} ends; {longer} has {len(more):,} more."
        else:
            yield f"The same until step {self.n_same:,}, then:"
            for name, merge in ((first, ours), (second, theirs)):
                yield f"  {name}: {_told(merge)}"
            yield f"What they learned after that has {counted(self.n_both, 'token')} in common."
            for name, only in ((first, self.only[0]), (second, self.only[1])):
                if only:
                    labels = ", ".join(shortened(token_label(token), 30) for token in only[:_SHOWN])
                    more_of_them = ", …" if len(only) > _SHOWN else ""
                    yield f"  only {name}: {len(only):,}: {labels}{more_of_them}"
        if None not in self.compression:
            a, b = self.compression
            yield f"Bytes a token of its corpus at the end: {first} {a:.4f}, {second} {b:.4f}."


def _made(tokenizer: Tokenizer, begin: int) -> Iterator[bytes]:
    return (tokenizer.token_bytes(token) for _, _, token in tokenizer.vocabulary.merges[begin:])


def _compression(tokenizer: Tokenizer) -> float | None:
    record = tokenizer.record
    if record is None:
        return None
    steps = record.steps[: tokenizer.step]
    return bytes_per_token(record.n_bytes, steps[-1][2] if steps else record.n_tokens_start)


def _short(value: str) -> str:
    return visible(shortened(value, _LONGEST_VALUE))


def _told(merge: NextMerge) -> str:
    pair = f"{token_label(merge.left)} + {token_label(merge.right)}"
    if merge.count is None:
        return pair
    why = "given" if not merge.ties else "no tie" if merge.ties == 1 else f"one of {merge.ties:,} with this count"
    return f"{pair}, {merge.count:,} times ({why})"
