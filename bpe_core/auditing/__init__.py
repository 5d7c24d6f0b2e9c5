"""The audit: suspicious tokens, found in the vocabulary alone, and in corpora and embeddings where they are given.

`audit` gives findings, one for each token and kind of evidence; `Examination` gives them as they are made, with what
was measured of every token; `verdicts` joins both into one row a token, the most suspicious first.
"""

import os
from typing import TYPE_CHECKING

from bpe_core.auditing.examination import Examination
from bpe_core.auditing.findings import KINDS, Finding, Findings, Measures, OnStage, Severity, Stage
from bpe_core.auditing.usage import Usage, token_counts
from bpe_core.auditing.verdicts import Share, Verdict, on_every_token, verdicts
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer

__all__ = [
    "KINDS",
    "Examination",
    "Finding",
    "Findings",
    "Measures",
    "OnStage",
    "Severity",
    "Share",
    "Stage",
    "Usage",
    "Verdict",
    "audit",
    "on_every_token",
    "token_counts",
    "verdicts",
]

if TYPE_CHECKING:
    from bpe_core.embeddings.matrix import Matrix


def audit(
    tokenizer: Tokenizer,
    *,
    counts: Counts | None = None,
    reference: Counts | None = None,
    embeddings: "Matrix | str | os.PathLike[str] | None" = None,
    indicator: str | None = None,
    progress: OnStage | None = None,
) -> Findings:
    """All findings about the tokenizer's tokens, the worst first; arguments and errors are those of `Examination`."""
    examination = Examination(
        tokenizer, counts=counts, reference=reference, embeddings=embeddings, indicator=indicator, progress=progress
    )
    return Findings(examination.findings())
