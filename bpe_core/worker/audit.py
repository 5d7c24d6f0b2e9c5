"""An audit of a tokenizer: texts are counted, the tokenizer is examined, and what was found is sent part by part."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import islice
from typing import Final, NamedTuple

from bpe_core.auditing import examine
from bpe_core.auditing.findings import Finding, Findings
from bpe_core.auditing.matrix import open_matrix
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import spread_of
from bpe_core.auditing.verdicts import Verdict, verdicts
from bpe_core.corpus import Counts, find_files
from bpe_core.corpus.counts import is_counts
from bpe_core.errors import Stopped
from bpe_core.formats import load
from bpe_core.tokenizer import Tokenizer
from bpe_core.weighted import Measure
from bpe_core.worker.inputs import count_files, recorded_weights
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Done, Role

BATCH: Final = 256  # verdicts in one event at most
_VALUES: Final = 16_384  # values of a column in one event at most


@dataclass(frozen=True, slots=True)
class AuditRequest(Request):
    """An audit of a tokenizer's file, with texts and the rows of a model."""

    tokenizer: str
    pattern: str | None = None  # instead of the file's
    corpus: tuple[
        str, ...
    ] = ()  # files and folders in which tokens are counted, or files of counts
    reference: tuple[str, ...] = ()  # those that a model is to learn from
    embeddings: str = ""  # a file
    tensor: str | None = None  # the matrix in it; None: the usual one
    indicator: str | None = None  # what its rows are judged by; None: what suits

    def run(self, job: Job) -> None:
        tokenizer = load(self.tokenizer, pattern=self.pattern)
        found, subject = examined(tokenizer, self, job)
        if subject:
            for name, column in subject.columns.items():
                numbers = iter(column.items())
                while some := dict(islice(numbers, _VALUES)):
                    job.send(Measured(name, some))
            judged = iter(verdicts(subject, found))
            while batch := tuple(islice(judged, BATCH)):
                job.send(Verdicts(batch))
        job.send(Done(job.stopped or "audited", len(found), job.seconds))


class Measured(NamedTuple):
    """A part of a column of `AuditSubject.columns`: id -> number; others may follow in another event."""

    column: str
    values: Mapping[int, Measure]


class Verdicts(NamedTuple):
    """A batch of verdicts on tokens with findings; over all batches of an audit, the highest score comes first."""

    verdicts: tuple[Verdict, ...]


def examined(
    tokenizer: Tokenizer, asked: AuditRequest, job: Job
) -> tuple[Findings, AuditSubject | None]:
    """All findings, and of what; if the job is stopped, what was made until then."""
    matrix = open_matrix(asked.embeddings, asked.tensor) if asked.embeddings else None
    found: list[Finding] = []
    subject = None

    report = partial(job.progress, "auditing")

    def count(
        paths: tuple[str, ...],
        role: Role,
        weights: Mapping[str, Fraction] | None = None,
    ) -> Counts | None:
        if paths and all(map(is_counts, paths)):
            return reduce(
                Counts.merge, map(Counts.load, paths), Counts(tokenizer.pattern)
            )
        return (
            count_files(paths, tokenizer.pattern, job, role=role, weights=weights)
            if paths
            else None
        )

    with suppress(Stopped):
        texts = () if all(map(is_counts, asked.corpus)) else asked.corpus
        weights = (
            recorded_weights(tokenizer.record, tokenizer.splitter, texts, job)
            if texts
            else None
        )
        counts = count(asked.corpus, "corpus", weights)
        read = {source.name for source in counts.sources} if counts else set()
        files = (
            [file for file in find_files(texts).files if file.source_name in read]
            if texts
            else []
        )
        subject = AuditSubject(
            tokenizer,
            counts=counts,
            spread=spread_of(
                tokenizer,
                files,
                lambda done, total, _: report(done, total, "tokens in each document"),
            ),
            reference=count(asked.reference, "reference"),
            progress=report,
        )
        found.extend(
            examine(subject, matrix, asked.indicator)
        )  # also those before it is stopped
    return Findings(found), subject
