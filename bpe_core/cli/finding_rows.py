"""The findings of an audit as a table for people: grouped by kind, the numbers aligned on the right."""

from collections.abc import Iterable, Iterator
from typing import Final

from bpe_core.auditing import KINDS, Finding, Findings
from bpe_core.cells import cells, fitted
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_LABEL: Final = 24
"""Terminal cells of a token label at most."""


def table(found: Findings, tokenizer: Tokenizer, *, first: int | None) -> str:
    """The findings as one text, grouped by kind: of each the `first` ones and how many more there are; None: all."""
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
    rows = [(f"{finding.id:,}", fitted(finding.label, _LABEL), finding.reason) for finding in group]
    ids = max(len(number) for number, _, _ in rows)
    labels = max(cells(label) for _, label, _ in rows)
    for number, label, reason in rows:
        yield f"  {number:>{ids}}  {label}{' ' * (labels - cells(label))}  {visible(reason)}"
