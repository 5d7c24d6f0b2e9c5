"""Tokens whose rows in a model's embeddings look as if they had hardly been trained."""

from bisect import bisect_right
from collections.abc import Iterator

from bpe_core.auditing.findings import Finding, Severity
from bpe_core.auditing.partial_utf8 import UNUSED_BYTES, torn_ends
from bpe_core.auditing.progress import Stage
from bpe_core.auditing.subject import Subject
from bpe_core.embeddings.indicators import INDICATORS, indicator, usual_indicator
from bpe_core.embeddings.matrix import Matrix
from bpe_core.tokenizer import Tokenizer

STAGE = "embeddings"

_MEANING = dict(
    zip(
        INDICATORS,
        (
            "the length of its row",
            "the distance in direction from rows never used",
            "the same without the first principal component",
            "the distance from the mean of rows never used",
        ),
        strict=True,
    )
)


def unused_rows(tokenizer: Tokenizer, n_rows: int) -> list[int]:
    """The rows, of `n_rows`, that no text can have trained: those of no id, and of the bytes UTF-8 never contains."""
    vocabulary = tokenizer.vocabulary
    known = set(vocabulary.ids())
    never = {bytes([byte]) for byte in UNUSED_BYTES}
    return [row for row in range(n_rows) if row not in known or vocabulary.token_bytes(row) in never]


def undertrained(subject: Subject, matrix: Matrix, name: str | None = None) -> Iterator[Finding]:
    """Ordinary tokens at or below the 2nd percentile of an indicator, the lowest first.

    Ordinary are tokens that are neither special, nor in `unused_rows`, nor incomplete UTF-8. `name` is one of
    `INDICATORS`; None chooses by `usual_indicator`. Evidence: "indicator" (its name), "value", "threshold" (the 2nd
    percentile), "median" of ordinary tokens, "percentile" of the value among them (0 to 100), "tensor" (the name of
    the matrix). Raises `EmbeddingsError` for an unknown indicator, or a matrix without a row for some id.
    """
    unused = unused_rows(subject.tokenizer, matrix.n_rows)
    skipped = set(unused)
    ordinary = [token for token, data in subject.tokens(STAGE) if token not in skipped and torn_ends(data) is None]
    name = name or usual_indicator(matrix, len(unused))

    def progress(done: int, total: int) -> None:
        if subject.progress:
            subject.progress(Stage(STAGE, done, total))

    found = indicator(matrix, name, unused, ordinary, progress)
    values = [float(found.values[token]) for token in ordinary]
    ranked = sorted(value for value in values if value == value)
    if not ranked:
        return
    median = ranked[len(ranked) // 2]
    for value, token in sorted(zip(values, ordinary, strict=True)):
        if not value <= found.threshold:  # NaN, which is no number to compare, is neither
            continue
        percentile = 100 * bisect_right(ranked, value) / len(ranked)
        reason = (
            f"Its row looks untrained: {_MEANING[name]} is {value:.4g}, of ordinary tokens {median:.4g} at the median "
            f"(percentile {percentile:.2g})."
        )
        yield subject.finding(
            token,
            "undertrained",
            Severity.WARNING,
            reason,
            indicator=name,
            value=value,
            threshold=found.threshold,
            median=median,
            percentile=percentile,
            tensor=matrix.name,
        )
