"""An audit: count texts, examine the tokenizer, and send measures and verdicts in batches."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from bpe_core.auditing import examine
from bpe_core.auditing.elsewhere import Elsewhere, ask, only_here
from bpe_core.auditing.findings import Finding, Findings
from bpe_core.auditing.matrix import open_matrix
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import spread_of
from bpe_core.auditing.verdicts import Verdict, verdicts
from bpe_core.corpus import Counts, TextFile, find_files
from bpe_core.corpus.counts import is_counts
from bpe_core.errors import BpeError, OptionError, Stopped
from bpe_core.formats import load
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from bpe_core.weighted import Measure
from bpe_core.worker.job import Job, Request
from bpe_core.worker.messages import Done, Role
from bpe_core.worker.recipe import Recipe
from bpe_core.worker.weights import recorded_weights

BATCH: Final = 256
"""Maximum number of verdicts in an event."""
_COLUMN_BATCH: Final = 16_384
"""Maximum number of values of a column in an event."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AuditRequest(Request):
    """Audit a tokenizer file, with texts and with the embeddings of a model."""

    tokenizer: str
    pattern: str | None = None  # the split pattern; None for the pattern in the file
    corpus: tuple[str, ...] = ()
    """Files and folders of the texts in which tokens are counted, or files of counts."""
    reference: tuple[str, ...] = ()
    """Files and folders of the texts that a model is going to learn from, or files of counts."""
    embeddings: str = ""  # a file or folder with an embedding matrix; "" for none
    tensor: str | None = None
    """The name of the matrix in the file; None to try the usual names."""
    against: tuple["OtherTokenizer", ...] = ()
    """Other tokenizers, which are asked what they make of each token."""
    leave_out_bad: bool = False
    """Whether to leave out other tokenizers whose files can't be used."""
    least_asked: int = 0
    """Tokens that another tokenizer must have to be asked."""
    indicator: str | None = None
    """The measure by which the rows of the matrix are judged; None for the measure that suits the matrix."""
    recipe: Recipe = field(default_factory=Recipe)
    """How texts are selected and weighed; its paths are not used. The reference has only the selection of bad rows."""

    def run(self, job: Job) -> None:
        tokenizer = load(self.tokenizer, pattern=self.pattern)
        without_others = replace(self, against=())
        findings, subject = examine_request(tokenizer, without_others, job)
        if subject is not None:
            _send_results(subject, findings, job)
            if self.against and not job.stopped:
                job.send(FirstRoundDone())
                with suppress(Stopped):
                    subject.add_elsewhere(_ask_others(tokenizer, self, job))
                    findings = Findings([*findings, *only_here(subject)])
                _send_results(subject, findings, job)
        job.send(Done(job.stopped or "audited", len(findings), job.seconds))


class OtherTokenizer(NamedTuple):
    """The file of another tokenizer."""

    path: str
    pattern: str | None = None  # its split pattern; None for the pattern in the file


class Asked(NamedTuple):
    """Another tokenizer was asked what it makes of the tokens."""

    path: str


class FirstRoundDone(NamedTuple):
    """The results without other tokenizers are complete. All results follow again, with what the others say."""


class Measured(NamedTuple):
    """Some values of a column of `AuditSubject.columns`. Other events may bring more values."""

    column: str
    values: Mapping[int, Measure]  # by token id


class Verdicts(NamedTuple):
    """A batch of verdicts on tokens with findings, the highest scores of all batches first."""

    verdicts: tuple[Verdict, ...]


def _send_results(subject: AuditSubject, findings: Findings, job: Job) -> None:
    for name, column in subject.columns.items():
        for values in _batches(column.items(), _COLUMN_BATCH):
            job.send(Measured(name, dict(values)))
    if subject.distribution is not None:
        job.send(subject.distribution)
    for batch in _batches(verdicts(subject, findings), BATCH):
        job.send(Verdicts(tuple(batch)))


def examine_request(
    tokenizer: Tokenizer, request: AuditRequest, job: Job
) -> tuple[Findings, AuditSubject | None]:
    """Count the texts of a request, and examine the tokenizer.

    Returns:
        The findings, and the subject that was examined. If the job is stopped, the findings so far,
        and None as the subject if not all texts were counted.
    """
    matrix = None
    if request.embeddings:
        matrix = open_matrix(request.embeddings, request.tensor)
    findings: list[Finding] = []
    subject = None
    with suppress(Stopped):
        subject = _subject(tokenizer, request, job)
        for finding in examine(subject, matrix, request.indicator):
            findings.append(finding)
    return Findings(findings), subject


def _subject(tokenizer: Tokenizer, request: AuditRequest, job: Job) -> AuditSubject:
    """Count the texts, and how often each token of the tokenizer occurs in them. Raises `Stopped`."""
    report_audit = partial(job.progress, "auditing")
    # Other tokenizers are loaded first: one that can't be read is reported before the texts are counted.
    elsewhere = _ask_others(tokenizer, request, job)

    def report_document(done: int, total: int, name: str) -> None:
        report_audit(done, total, "tokens in each document")

    recipe = replace(request.recipe, paths=request.corpus)
    weights: Mapping[str, Fraction] = {}
    has_files = not recipe.has_streams and not all(map(is_counts, recipe.paths))
    if has_files and not recipe.weights and not recipe.alpha:
        weights = recorded_weights(
            tokenizer.record, tokenizer.splitter, recipe.paths, job
        )
    counts = counted_texts(recipe, "corpus", weights, tokenizer.pattern, job)
    files: list[TextFile] = []
    is_sample = recipe.sample or recipe.documents or recipe.dedupe
    if has_files and counts is not None and not is_sample:
        read = {source.name for source in counts.sources}
        found = find_files(recipe.paths, skip_bad=recipe.skip_bad).files
        files = [file for file in found if file.source_name in read]
    spread = spread_of(tokenizer, files, report_document)
    reference_recipe = Recipe(paths=request.reference, skip_bad=recipe.skip_bad)
    reference = counted_texts(reference_recipe, "reference", {}, tokenizer.pattern, job)
    return AuditSubject(
        tokenizer,
        counts=counts,
        reference=reference,
        spread=spread,
        elsewhere=elsewhere,
        progress=report_audit,
    )


def _ask_others(
    tokenizer: Tokenizer, request: AuditRequest, job: Job
) -> dict[int, Elsewhere]:
    """Ask the other tokenizers about each token. Say which of them could not be asked. Raises `Stopped`."""
    path = ""

    def others() -> Iterator[Tokenizer]:
        """Load the other tokenizers, one at a time."""
        nonlocal path
        for done, other in enumerate(request.against):
            path = other.path
            name = Path(path).name
            job.progress("auditing", done, len(request.against), f"asking {name}")
            try:
                tokenizer = load(path, pattern=other.pattern)
            except BpeError as error:
                if not request.leave_out_bad:
                    raise
                job.say(f"{visible(name)} was not asked. {error}")
            else:
                if tokenizer.n_tokens >= request.least_asked:
                    yield tokenizer

    def describe(_: Tokenizer, n_asked: int) -> None:
        if n_asked:
            job.send(Asked(path))
        else:
            job.say(
                f"{visible(Path(path).name)} was not asked: it has these tokens from the same training, or there are "
                "none to ask about."
            )

    return ask(tokenizer, others(), describe)


def counted_texts(
    recipe: Recipe,
    role: Role,
    weights: Mapping[str, Fraction],
    pattern: str,
    job: Job,
) -> Counts | None:
    """Count texts, or merge counts if all paths are files of counts. Return None without paths."""
    if not recipe.paths:
        return None
    if not all(map(is_counts, recipe.paths)):
        return recipe.count(pattern, job, role=role, weights=weights)
    if replace(recipe, skip_bad=False) != Recipe(paths=recipe.paths):
        raise OptionError(
            "Files of counts are read as they are. Leave out samples, weights and --dask, or count the texts with them."
        )
    counts = Counts(pattern)
    for path in recipe.paths:
        counts.merge(Counts.load(path))
    return counts


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size` items, in order; the last one may be shorter."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
