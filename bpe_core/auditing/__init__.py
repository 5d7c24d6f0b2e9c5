"""The audit: suspicious tokens, found in the vocabulary alone, and in corpora and embeddings where they are given."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from bpe_core.auditing import absence, documents, rare, reachability, scaffold, static
from bpe_core.auditing.findings import KINDS, Finding, Findings, Severity
from bpe_core.auditing.progress import OnStage, Stage
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.usage import Usage, token_counts
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer

__all__ = [
    "KINDS",
    "Finding",
    "Findings",
    "OnStage",
    "Severity",
    "Stage",
    "Usage",
    "audit",
    "run_checks",
    "token_counts",
]

if TYPE_CHECKING:
    from bpe_core.embeddings.matrix import Matrix

Check = Callable[[Subject], Iterator[Finding]]

_CHECKS: Final[tuple[Check, ...]] = (
    static.unused_bytes,
    reachability.unreachable,
    static.duplicates,
    static.partial_utf8,
    static.lookalikes,
    absence.absent_from_reference,
    rare.never_used,
    rare.rare,
    scaffold.scaffold,
    documents.few_documents,
)


def audit(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: "Matrix | str | os.PathLike[str] | None" = None,
    indicator: str | None = None,
    progress: OnStage | None = None,
) -> Findings:
    """All findings about the tokenizer's tokens, the worst first; arguments and errors are those of `run_checks`."""
    found = run_checks(
        tokenizer,
        counts=counts,
        reference=reference,
        embeddings=embeddings,
        indicator=indicator,
        progress=progress,
    )
    return Findings(found)


def run_checks(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: "Matrix | str | os.PathLike[str] | None" = None,
    indicator: str | None = None,
    progress: OnStage | None = None,
) -> Iterator[Finding]:
    """The findings as they are made, check by check; stop iterating to stop the audit.

    `counts`: counted pieces of the corpus the tokenizer was trained on, or of any text of interest. Without them the
    training record, if there is one, tells how often each learned token is left in the training corpus.
    `reference`: counted pieces of the text that a model is to learn from, to compare with.
    `embeddings`: the embedding matrix of a model that uses the tokenizer (row i belongs to id i), or the path of one,
    see `bpe_core.embeddings.matrix.open_matrix`.
    `indicator`: one of `bpe_core.embeddings.indicators.INDICATORS`; None chooses by `usual_indicator`.

    Raises `OptionError` if `counts` or `reference` were split by another pattern than the tokenizer's, and
    `EmbeddingsError` if the matrix cannot be read, or has no row for some id.
    """
    matrix = None
    if embeddings is not None:
        from bpe_core.embeddings.matrix import Matrix, open_matrix  # late: it is an extra

        matrix = embeddings if isinstance(embeddings, Matrix) else open_matrix(embeddings)
    return _run_checks(tokenizer, counts, reference, matrix, indicator, progress)


def _run_checks(
    tokenizer: Tokenizer,
    counts: Counts | None,
    reference: Counts | None,
    matrix: "Matrix | None",
    indicator: str | None,
    progress: OnStage | None,
) -> Iterator[Finding]:
    subject = Subject(
        tokenizer,
        usage=Usage.of_record(tokenizer) if counts is None else Usage.of(tokenizer, counts, progress),
        counts=counts,
        reference=None if reference is None else Usage.of(tokenizer, reference, progress),
        progress=progress,
    )
    impossible: set[int] = set()
    for check in _CHECKS:
        for finding in check(subject):
            if finding.kind in ("unused-byte", "unreachable"):
                impossible.add(finding.id)
            if finding.kind != "never-used" or finding.id not in impossible:  # what no text becomes is never used
                yield finding
    if matrix is not None:
        from bpe_core.auditing.undertrained import undertrained  # late: it is an extra

        yield from undertrained(subject, matrix, indicator)
