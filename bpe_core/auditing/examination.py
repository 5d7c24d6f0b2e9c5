"""An examination of a tokenizer: the checks of an audit, run one after the other, and what they measured."""

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from bpe_core.auditing import corpora, reachability, scaffold, static
from bpe_core.auditing.findings import Finding, Measures, OnStage
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.usage import Spread, Usage
from bpe_core.corpus import Counts
from bpe_core.tokenizer import Tokenizer

if TYPE_CHECKING:
    from bpe_core.auditing.undertrained import MeasuredRows
    from bpe_core.embeddings.matrix import Matrix

_CHECKS: Final[tuple[Callable[[AuditSubject], Iterator[Finding]], ...]] = (
    static.unused_bytes,
    reachability.unreachable,
    static.duplicates,
    static.partial_utf8,
    static.lookalikes,
    corpora.absent_from_reference,
    corpora.never_used,
    corpora.rare,
    scaffold.scaffold,
    corpora.few_documents,
    static.shape,
    static.added_tokens,
)


class Examination:
    """One audit of a tokenizer, without texts, with texts, with the rows of a model."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        counts: Counts | None = None,
        reference: Counts | None = None,
        embeddings: "Matrix | str | os.PathLike[str] | None" = None,
        indicator: str | None = None,
        spread: Spread | None = None,
        progress: OnStage | None = None,
    ) -> None:
        """Nothing is computed yet, but the matrix is opened.

        `counts`: counted pieces of the corpus the tokenizer was trained on, or of any text of interest. Without them
        the training record, if there is one, tells how often each learned token is left in the training corpus.
        `reference`: counted pieces of the text that a model is to learn from, to compare with.
        `embeddings`: the embedding matrix of a model that uses the tokenizer (row i belongs to id i), or the path of
        one, see `bpe_core.embeddings.matrix.open_matrix`.
        `spread`: how the tokens are spread over the documents of the corpus, where that was counted.
        `indicator`: one of `bpe_core.embeddings.indicators.INDICATORS`; None chooses by `usual_indicator`.

        Raises `EmbeddingsError` if the matrix cannot be read.
        """
        self._tokenizer = tokenizer
        self._counts, self._reference, self._progress = counts, reference, progress
        self._matrix = None if embeddings is None else _opened(embeddings)
        self._indicator = indicator
        self._spread = spread
        self._subject = AuditSubject(tokenizer)
        self._rows: MeasuredRows | None = None

    def findings(self) -> Iterator[Finding]:
        """The findings as they are made, check by check; stop iterating to stop the examination.

        Raises `OptionError` if the texts were split by another pattern than the tokenizer's, and `EmbeddingsError`
        if the matrix has no row for some id.
        """
        tokenizer, counts, reference, progress = self._tokenizer, self._counts, self._reference, self._progress
        self._subject = subject = AuditSubject(
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
        if self._matrix is not None:
            from bpe_core.auditing.undertrained import measured, undertrained  # late: it is an extra

            self._rows = measured(subject, self._matrix, self._indicator)
            yield from undertrained(subject, self._rows)

    @property
    def measures(self) -> Measures:
        """The columns measured of every token; complete when `findings` is at its end."""
        usage, reference, rows, spread = self._subject.usage, self._subject.reference, self._rows, self._spread
        columns = {
            "count": usage and usage.remaining,
            "merged": usage and usage.merged,
            "document_frequency": spread and spread.document_frequency,
            "largest_share": spread and spread.largest_share,
            "reference": reference and reference.remaining,
            "surprise": usage and reference and corpora.surprises(usage, reference),
            "indicator": rows and rows.values,
        }
        return Measures(
            {name: column for name, column in columns.items() if column},
            frozenset(self._tokenizer.special_tokens.values()),
            rows.ranked if rows else (),
        )


def _opened(embeddings: "Matrix | str | os.PathLike[str]") -> "Matrix":
    from bpe_core.embeddings.matrix import Matrix, open_matrix  # late: it is an extra

    return embeddings if isinstance(embeddings, Matrix) else open_matrix(embeddings)
