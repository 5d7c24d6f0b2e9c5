"""The findings of an audit as a table for people: grouped by kind, the numbers aligned on the right."""

from collections.abc import Iterable, Iterator
from typing import Final
from unicodedata import combining, east_asian_width

from bpe_core.auditing import KINDS, Finding, Findings
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_LABEL: Final = 24
"""Characters of a token shown at most."""


def table(found: Findings, tokenizer: Tokenizer, *, first: int | None) -> str:
    """The findings as lines; of each kind the `first` ones and how many more there are, or all of them if None."""
    return "\n".join(_lines(found, tokenizer, first))


def _lines(found: Findings, tokenizer: Tokenizer, first: int | None) -> Iterator[str]:
    size = f"{counted(tokenizer.n_vocab, 'token')}, {counted(tokenizer.step, 'merge')}"
    yield f"{size}, pattern {visible(tokenizer.pattern)}"
    kinds = found.kinds()
    if not kinds:
        yield "Nothing suspicious."
    for kind, n in kinds.items():
        yield ""
        yield f"{kind}  {n:,}"
        yield f"  {KINDS[kind]}"
        group = found.of(kind)
        yield from _rows(group[:first])
        if first is not None and n > first:
            yield f"  and {n - first:,} more (--all shows them)"


def _rows(group: Iterable[Finding]) -> Iterator[str]:
    rows = [(f"{finding.id:,}", _short(finding.label), finding.reason) for finding in group]
    ids = max(len(number) for number, _, _ in rows)
    labels = max(_cells(label) for _, label, _ in rows)
    for number, label, reason in rows:
        yield f"  {number:>{ids}}  {label}{' ' * (labels - _cells(label))}  {visible(reason)}"


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"


def _cells(label: str) -> int:
    """Columns a terminal gives it: two for most of what Chinese, Japanese and Korean are written in."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in label)
