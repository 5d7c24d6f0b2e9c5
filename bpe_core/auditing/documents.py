"""Tokens that come from one or two documents only, such as the name of someone who wrote one long file."""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.corpus import Counts
from bpe_core.visible import visible

MIN_DOCUMENTS: Final = 10
"""Documents that a corpus must have for the check to be made: one or two of fewer than these are not few."""
MIN_COUNT: Final = 5
"""Occurrences that a token must have; fewer come from one or two documents by chance."""
MAX_SHARE: Final = 0.5
"""Part of the corpus, in bytes, above which the one or two documents are no surprising source of a token."""


def few_documents(subject: Subject) -> Iterator[Finding]:
    """Tokens all of whose occurrences come from one or two documents of a corpus of ten or more.

    Evidence: "documents" (their names), "share" (their bytes / bytes of the corpus; None if it is not known).
    """
    usage, counts = subject.usage, subject.counts
    if usage is None or counts is None or counts.n_documents < MIN_DOCUMENTS:
        return
    for token, _ in subject.tokens("documents", sorted(usage.documents)):
        documents, count = sorted(usage.documents[token]), usage.remaining[token]
        share = _share(counts, documents)
        if count >= MIN_COUNT and (share or 0) <= MAX_SHARE:
            names = [counts.name_of(document) for document in documents]
            reason = (
                f"All its {count:,} occurrences come from {len(names)} of {counts.n_documents:,} documents: "
                f"{visible(' and '.join(names))}."
            )
            severity = subject.severity(token, Severity.WARNING)
            yield subject.finding(token, "few-documents", severity, reason, documents=names, share=share)


def _share(counts: Counts, documents: list[int]) -> float | None:
    """Bytes of these documents / bytes of the corpus, from 0 to 1; None where only the total size was kept."""
    if len(counts.sources) != counts.n_documents:
        return None
    return round(sum(counts.sources[document].bytes for document in documents) / counts.n_bytes, 4)
