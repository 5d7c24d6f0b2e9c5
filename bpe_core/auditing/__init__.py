"""Find suspicious tokens from the vocabulary alone, and from corpora and embeddings if they are given."""

import os
from collections.abc import Iterable, Iterator

from bpe_core.auditing import corpora, reachability, static
from bpe_core.auditing.elsewhere import ask, only_here
from bpe_core.auditing.embeddings import undertrained
from bpe_core.auditing.findings import Finding, Findings, OnStage
from bpe_core.auditing.matrix import Matrix, open_matrix
from bpe_core.auditing.scaffold import scaffold
from bpe_core.auditing.subject import AuditSubject
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer

_CHECKS = (
    static.spelling,
    reachability.unreachable,
    static.duplicates,
    corpora.absent_from_reference,
    corpora.seldom,
    scaffold,
    corpora.few_documents,
    only_here,
    static.shape,
    static.added_tokens,
)


def audit(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    against: Iterable[Tokenizer] = (),
    embeddings: Matrix | str | os.PathLike[str] | None = None,
    indicator: str | None = None,
    progress: OnStage | None = None,
) -> Findings:
    """Find suspicious tokens. Takes time linear in `n_tokens`, in the size of the counts and in the other tokenizers.

    Args:
        tokenizer: Any tokenizer.
        counts: Counts of the training corpus, or of any text of interest, split by the tokenizer's pattern.
        reference: Counts of the text that a model is going to learn from.
        against: Other tokenizers, the more the better. A token that none of them has is suspicious, except if both
            copied it from the same training.
        embeddings: The embedding matrix of a model that uses the tokenizer (row i belongs to id i), or its path; see
            `open_matrix`.
        indicator: How rows are judged; see `undertrained`.
        progress: Called with (done, total, stage).

    Returns:
        All findings, the worst first.

    Raises:
        OptionError: The texts were split by another pattern.
        EmbeddingsError: The matrix cannot be read, or has no row for some ids.

    Examples:
        >>> from bpe_core import train
        >>> audit(train("low lower lowest", vocab_size=258))
        <Findings: 1 never-used, 1 scaffold, 13 unused-byte>
    """
    if isinstance(embeddings, str | os.PathLike):
        embeddings = open_matrix(embeddings)
    subject = AuditSubject(
        tokenizer,
        counts=counts,
        reference=reference,
        elsewhere=ask(tokenizer, against),
        progress=progress,
    )
    return Findings(examine(subject, embeddings, indicator))


def examine(
    subject: AuditSubject,
    embeddings: Matrix | None = None,
    indicator: str | None = None,
) -> Iterator[Finding]:
    """Run the checks and yield their findings.

    A token that no text can become is not also reported as never used.
    """
    impossible: set[int] = set()  # tokens that no text becomes, so they are never used
    for check in _CHECKS:
        for finding in check(subject):
            if finding.kind in ("unused-byte", "unreachable"):
                impossible.add(finding.id)
            if finding.kind == "never-used" and finding.id in impossible:
                continue
            yield finding
    if embeddings is not None:
        yield from undertrained(subject, embeddings, indicator)
