"""The audit: suspicious tokens, found in the vocabulary alone, and in corpora and embeddings where they are given."""

import os
from collections.abc import Iterator

from bpe_core.auditing import corpora, static
from bpe_core.auditing.embeddings import Matrix, open_matrix, undertrained
from bpe_core.auditing.findings import Finding, Findings, OnStage
from bpe_core.auditing.subject import AuditSubject
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer


def audit(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: Matrix | str | os.PathLike[str] | None = None,
    indicator: str | None = None,
    progress: OnStage | None = None,
) -> Findings:
    """All findings about the tokenizer's tokens, the worst first.

    `counts` and `reference` are those of `AuditSubject`; `embeddings` is the embedding matrix of a model that uses the
    tokenizer (row i belongs to id i), or the path of one, see `open_matrix`; `indicator` that of `undertrained`. Raises
    `OptionError` for texts split by another pattern, `EmbeddingsError` for a matrix that cannot be read or lacks rows.
    O(`n_tokens`), and linear in what was counted; `progress` is called now and then.

    >>> from bpe_core import train
    >>> audit(train("low lower lowest", vocab_size=258))
    <Findings: 1 never-used, 1 scaffold, 13 unused-byte>
    """
    if isinstance(embeddings, str | os.PathLike):
        embeddings = open_matrix(embeddings)
    subject = AuditSubject(
        tokenizer, counts=counts, reference=reference, progress=progress
    )
    return Findings(examine(subject, embeddings, indicator))


def examine(
    subject: AuditSubject,
    embeddings: Matrix | None = None,
    indicator: str | None = None,
) -> Iterator[Finding]:
    """The findings as they are made, check by check; `indicator` is that of `undertrained`."""
    impossible: set[int] = set()
    for check in (
        *(
            static.spelling,
            static.unreachable,
            static.duplicates,
            corpora.absent_from_reference,
            corpora.seldom,
        ),
        *(corpora.scaffold, corpora.few_documents, static.shape, static.added_tokens),
    ):
        for finding in check(subject):
            if finding.kind in ("unused-byte", "unreachable"):
                impossible.add(finding.id)
            if (
                finding.kind != "never-used" or finding.id not in impossible
            ):  # what no text becomes is never used
                yield finding
    if embeddings is not None:
        yield from undertrained(subject, embeddings, indicator)
