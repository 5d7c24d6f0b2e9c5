"""Tokens that come from one or two documents only, such as the name of someone who wrote one long file."""

from collections.abc import Iterator
from typing import Final

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.subject import Subject
from bpe_core.corpus import Counts
from bpe_core.visible import visible

MIN_DOCUMENTS: Final = 10
"""Documents a corpus must have for one or two of them to be few."""
MIN_COUNT: Final = 5
"""Occurrences from which on it is a surprise that they all come from few documents."""
MAX_SHARE: Final = 0.5
"""It is none where those documents are more than this part of the corpus."""


def few_documents(subject: Subject) -> Iterator[Finding]:
    """Tokens all of whose occurrences come from one or two documents of a corpus of ten or more.

    Evidence: "documents" (their names), "share" (of the corpus that they are, in bytes; None if it is not known).
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
    """The part of the corpus that these documents are; None where only the size of all together was kept."""
    if len(counts.sources) != counts.n_documents:
        return None
    return round(sum(counts.sources[document].bytes for document in documents) / counts.n_bytes, 4)
