"""An audit of a tokenizer: texts are counted, the tokenizer is examined, and what was found is told part by part."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Final

from bpe_core.errors import Stopped
from bpe_core.worker.inputs import count_files
from bpe_core.worker.messages import Done, Role

if TYPE_CHECKING:
    from bpe_core.auditing import Finding, Findings, Measures, Stage, Verdict
    from bpe_core.auditing.usage import Spread
    from bpe_core.corpus import Counts, Progress
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.worker.job import Job

BATCH: Final = 256
"""Verdicts in one event at most."""
_VALUES: Final = 16_384
"""Values of a column in one event at most."""


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """An audit of a tokenizer, with the texts and the rows of a model that it is given."""

    NICE: ClassVar[int] = 5
    tokenizer: str
    """The file."""
    pattern: str | None = None
    """How text is split where the file does not say it, or wrongly."""
    corpus: tuple[str, ...] = ()
    """Files and folders in which tokens are counted."""
    reference: tuple[str, ...] = ()
    """Those that a model is to learn from."""
    embeddings: str = ""
    """The file of a model's embeddings."""
    tensor: str | None = None
    """Which matrix of it; None: the usual one."""
    indicator: str | None = None
    """What rows are judged by; None: what suits the matrix."""

    def run(self, job: Job) -> None:
        from bpe_core.auditing import verdicts
        from bpe_core.formats import load

        tokenizer = load(self.tokenizer, pattern=self.pattern)
        found, measures = examined(tokenizer, self, job)
        for name, column in measures.columns.items():
            numbers = iter(column.items())
            while some := dict(islice(numbers, _VALUES)):
                job.send(Measured(name, some))
        judged = iter(verdicts(tokenizer, found, measures))
        while batch := tuple(islice(judged, BATCH)):
            job.send(Verdicts(batch))
        job.send(Done(job.stopped or "audited", len(found), job.seconds))


@dataclass(frozen=True, slots=True)
class Measured:
    """A part of one column of what an audit measured of every token; see `bpe_core.auditing.findings`."""

    column: str
    """One of `bpe_core.auditing.findings.COLUMNS`."""
    values: Mapping[int, float]
    """Id -> number, of the tokens that have one; others may follow in another event."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """A batch of verdicts on tokens with findings; over all batches of an audit, the highest score comes first."""

    verdicts: tuple[Verdict, ...]


def examined(tokenizer: Tokenizer, asked: AuditRequest, job: Job) -> tuple[Findings, Measures]:
    """All findings, and what was measured; if the job is stopped, what was made until then."""
    from bpe_core.auditing import Examination, Findings, Measures
    from bpe_core.embeddings.matrix import open_matrix

    matrix = open_matrix(asked.embeddings, asked.tensor) if asked.embeddings else None
    found: list[Finding] = []

    def count(paths: tuple[str, ...], role: Role) -> Counts | None:
        return count_files(paths, tokenizer.pattern, job, role=role) if paths else None

    def progress(stage: Stage) -> None:
        job.progress("auditing", stage.done, stage.total, stage.name)

    examination = None
    with suppress(Stopped):
        examination = Examination(
            tokenizer,
            counts=count(asked.corpus, "corpus"),
            spread=_spread(tokenizer, asked.corpus, job),
            reference=count(asked.reference, "reference"),
            embeddings=matrix,
            indicator=asked.indicator,
            progress=progress,
        )
        for finding in examination.findings():
            found.append(finding)
    return Findings(found), examination.measures if examination else Measures()


def _spread(tokenizer: Tokenizer, paths: tuple[str, ...], job: Job) -> Spread | None:
    """How tokens are spread over the files of the corpus; None where that is not counted."""
    from bpe_core.auditing.usage import spread_of
    from bpe_core.corpus import find_files

    def progress(now: Progress) -> None:
        job.progress("auditing", now.done, now.total, "tokens in each document")

    return spread_of(tokenizer, find_files(paths).files, progress=progress) if paths else None
