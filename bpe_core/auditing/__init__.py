"""The audit: everything suspicious about a vocabulary, from itself, from its corpus, from a corpus to compare with."""

import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Final

from bpe_core.auditing.counts import never_used, rare
from bpe_core.auditing.documents import few_documents
from bpe_core.auditing.findings import KINDS, Finding, Findings, Severity
from bpe_core.auditing.progress import Progress, Stage
from bpe_core.auditing.reach import unreachable
from bpe_core.auditing.reference import absent_from_reference
from bpe_core.auditing.scaffold import scaffold
from bpe_core.auditing.static import duplicates, lookalikes, partial_utf8, unused_bytes
from bpe_core.auditing.subject import Subject
from bpe_core.auditing.usage import Usage, token_counts
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer

__all__ = [
    "KINDS",
    "Finding",
    "Findings",
    "Progress",
    "Severity",
    "Stage",
    "Usage",
    "audit",
    "findings",
    "token_counts",
]

Check = Callable[[Subject], Iterator[Finding]]

_CHECKS: Final[tuple[Check, ...]] = (
    unused_bytes,
    unreachable,
    duplicates,
    partial_utf8,
    lookalikes,
    absent_from_reference,
    never_used,
    rare,
    scaffold,
    few_documents,
)


def audit(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: None = None,
    progress: Progress | None = None,
) -> Findings:
    """Everything suspicious about the tokenizer's vocabulary, the worst first; see `findings` for the arguments."""
    return Findings(findings(tokenizer, counts=counts, reference=reference, embeddings=embeddings, progress=progress))


def findings(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: None = None,
    progress: Progress | None = None,
) -> Iterator[Finding]:
    """The findings as they are made, check by check; stop iterating to stop the audit.

    `counts` are the counted pieces of the corpus the tokenizer was trained on, or of any other text of interest.
    Without them the training record, if there is one, tells how often each learned token is left in that corpus.
    `reference` are those of text that a model is to learn from. Both must be split by the tokenizer's own pattern;
    `OptionError` if not.
    """
    if embeddings is not None:
        raise OptionError(
            "Embeddings cannot be audited by this version, which reads no model weights; leave `embeddings` out."
        )
    return _findings(tokenizer, counts, reference, progress)


def _findings(
    tokenizer: Tokenizer, counts: Counts | None, reference: Counts | None, progress: Progress | None
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
            if finding.kind != "never-used" or finding.id not in impossible:  # that goes without saying
                yield finding


class _Verb(ModuleType):
    """This package as a callable: `bpe_core.auditing` is its name and, as promised to callers, that of its verb."""

    __call__ = staticmethod(audit)


sys.modules[__name__].__class__ = _Verb
