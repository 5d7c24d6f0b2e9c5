"""The findings of an audit as tables for people: the most suspicious tokens, then the findings of each kind."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bpe_core.auditing import KINDS, Finding, Findings, Verdict
from bpe_core.auditing.findings import Severity
from bpe_core.auditing.summary import Summary
from bpe_core.cells import cells, fitted
from bpe_core.visible import visible

_WORST: Final = 10
"""Tokens shown before everything else."""
_LABEL: Final = 24
"""Terminal cells of a token label at most."""


def table(found: Findings, summary: Summary, verdicts: Sequence[Verdict], *, first: int | None) -> str:
    """The summary, the ten tokens with the highest scores, and the findings of each kind: the `first` ones; None: all.

    Tokens about which there are only notes are not among the ten.
    """
    return "\n".join(_lines(found, summary, verdicts, first))


def _lines(found: Findings, summary: Summary, verdicts: Sequence[Verdict], first: int | None) -> Iterator[str]:
    yield from summary.sentences
    worst = [verdict for verdict in verdicts if verdict.severity and verdict.severity > Severity.NOTE][:_WORST]
    if worst:
        yield ""
        yield "Look at first, by score:"
        yield from _aligned([(f"{v.id:,}", fitted(v.label, _LABEL), v.making) for v in worst])
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
    yield from _aligned(rows)


def _aligned(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    ids = max(len(number) for number, _, _ in rows)
    labels = max(cells(label) for _, label, _ in rows)
    for number, label, reason in rows:
        yield f"  {number:>{ids}}  {label}{' ' * (labels - cells(label))}  {visible(reason)}"
