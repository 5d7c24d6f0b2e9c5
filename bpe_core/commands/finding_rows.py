"""The findings of an audit as a table for people: grouped by kind, the numbers aligned on the right."""

from collections.abc import Iterable, Iterator

from bpe_core.audit import KINDS, Finding, Findings
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_LABEL = 24
"""Characters of a token shown at most."""


def table(found: Findings, tokenizer: Tokenizer, *, first: int | None) -> str:
    """The findings as lines; of each kind the `first` ones and how many more there are, or all of them if None."""
    return "\n".join(_lines(found, tokenizer, first))


def _lines(found: Findings, tokenizer: Tokenizer, first: int | None) -> Iterator[str]:
    yield f"{tokenizer.n_vocab:,} tokens, {tokenizer.step:,} merges, pattern {visible(tokenizer.pattern)}"
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
    ids, labels = (max(len(row[column]) for row in rows) for column in (0, 1))
    for number, label, reason in rows:
        yield f"  {number:>{ids}}  {label:{labels}}  {visible(reason)}"


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"
