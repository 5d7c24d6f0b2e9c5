"""Tokens whose rows in a model's embeddings look as if they had hardly been trained."""

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from bpe_core.auditing.findings import Finding, Severity, Stage
from bpe_core.auditing.subject import AuditSubject
from bpe_core.embeddings.indicators import INDICATORS, Indicator, indicator, usual_indicator
from bpe_core.embeddings.matrix import Matrix
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import UNUSED_BYTES, incomplete_ends

STAGE = "embeddings"


def unused_rows(tokenizer: Tokenizer, n_rows: int) -> list[int]:
    """The rows, of `n_rows`, that no text can have trained: those of no id, and of the bytes UTF-8 never contains."""
    vocabulary = tokenizer.vocabulary
    known = set(vocabulary.ids())
    never = {bytes([byte]) for byte in UNUSED_BYTES}
    return [row for row in range(n_rows) if row not in known or vocabulary.token_bytes(row) in never]


@dataclass(frozen=True, slots=True)
class MeasuredRows:
    """An indicator of every row of a matrix that belongs to a token."""

    matrix: Matrix
    indicator: Indicator
    """The values of all rows of the matrix, and the threshold."""
    ordinary: list[int]
    """Ids of tokens that are neither special, nor in `unused_rows`, nor incomplete UTF-8."""
    values: dict[int, float]
    """Id -> indicator, of tokens whose row holds numbers only; not of special ones."""
    ranked: list[float]
    """The values of ordinary tokens, ascending."""


def measured(subject: AuditSubject, matrix: Matrix, name: str | None = None) -> MeasuredRows:
    """The indicator `name` (one of `INDICATORS`; None chooses by `usual_indicator`) of every token's row.

    Raises `EmbeddingsError` for an unknown indicator, or a matrix without a row for some id.
    """
    unused = unused_rows(subject.tokenizer, matrix.n_rows)
    skipped = set(unused)
    tokens = dict(subject.tokens(STAGE))
    ordinary = [token for token, data in tokens.items() if token not in skipped and incomplete_ends(data) is None]

    def progress(done: int, total: int) -> None:
        if subject.progress:
            subject.progress(Stage(STAGE, done, total))

    found = indicator(matrix, name or usual_indicator(matrix, len(unused)), unused, ordinary, progress)
    numbers = found.values.tolist()
    values = {token: numbers[token] for token in tokens if token < len(numbers) and math.isfinite(numbers[token])}
    return MeasuredRows(matrix, found, ordinary, values, sorted(values[token] for token in ordinary if token in values))


def undertrained(subject: AuditSubject, rows: MeasuredRows) -> Iterator[Finding]:
    """Ordinary tokens whose rows hold no numbers, then those at or below the 2nd percentile, the lowest first.

    Evidence: "indicator" (its name), "value", "threshold" (the 2nd percentile), "median" of ordinary tokens,
    "percentile" of the value among them (0 to 100), "tensor" (the name of the matrix).
    """
    name, ranked, threshold = rows.indicator.name, rows.ranked, rows.indicator.threshold
    broken = [token for token in rows.ordinary if token not in rows.values]
    for token in broken:
        reason = "Its row holds values that are no numbers (NaN or infinity), so the model cannot use it."
        yield subject.finding(
            token, "undertrained", Severity.PROBLEM, reason, indicator=name, value=None, tensor=rows.matrix.name
        )
    if not ranked:
        return
    median = ranked[len(ranked) // 2]
    low = [(value, token) for token in rows.ordinary if (value := rows.values.get(token, math.inf)) <= threshold]
    for value, token in sorted(low):
        percentile = 100 * bisect_right(ranked, value) / len(ranked)
        reason = (
            f"Its row looks untrained: {INDICATORS[name]} is {value:.4g}, of ordinary tokens {median:.4g} "
            f"at the median (percentile {percentile:.2g})."
        )
        yield subject.finding(
            token,
            "undertrained",
            Severity.WARNING,
            reason,
            indicator=name,
            value=value,
            threshold=threshold,
            median=median,
            percentile=percentile,
            tensor=rows.matrix.name,
        )
