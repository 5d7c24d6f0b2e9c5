"""Tokens whose rows in a model's embeddings look untrained, by indicators: the lower, the less trained a row looks.

Source: S. Land and M. Bartolo, "Fishing for Magikarp" (2024, arXiv 2405.05417). The row of a token that the model never
sees stays near its initialization (input embeddings), or is pushed in a direction common to all such tokens (output
embeddings, and tied ones, which are both). With u the mean of rows known to be unused, and m that of all rows:

- "norm" = |row|, for input embeddings: weight decay shrinks rows that no token updates;
- "cosine" = 1 - cos(row - m, u - m), for output and tied embeddings;
- "cosine-pc" = "cosine" after projecting the first principal component out of row - m and u - m;
- "distance" = |row - u|.

A matrix is read slice by slice, in one pass, two for "cosine", `_ROUNDS` more for "cosine-pc". Memory: a slice, and a
number for each row. Needs numpy, of the extra [embeddings].
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bpe_core.auditing.embeddings import Matrix
from bpe_core.auditing.findings import Finding, OnStage, Severity
from bpe_core.auditing.subject import AuditSubject
from bpe_core.errors import EmbeddingsError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import UNUSED_BYTES, incomplete_ends

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

INDICATORS: Final[Mapping[str, str]] = {
    "norm": "the length of its row",
    "cosine": "the distance in direction from rows never used",
    "cosine-pc": "the same without the first principal component",
    "distance": "the distance from the mean of rows never used",
}
"""Name -> what it measures, as a part of a sentence."""

_MIN_UNUSED: Final = 3  # rows known to be unused that u is computed from
_ROUNDS: Final = 6  # of the power iteration: the first component is so dominant that more change no ranking


def undertrained(subject: AuditSubject, matrix: Matrix, name: str | None = None) -> Iterator[Finding]:
    """Ordinary tokens whose rows hold no numbers, then those at or below the 2nd percentile, the lowest first.

    Ordinary are tokens that are neither special, nor in `unused_rows`, nor incomplete UTF-8. `name` is one of
    `INDICATORS`. None chooses "norm" for untied input embeddings, or with too few unused rows, otherwise "cosine":
    norms mislead on tied matrices, where the rows of tokens that never occur grow long, and cosines are meaningless for
    untied input embeddings, where such rows keep their random directions.

    Sets `subject.indicators` and `subject.ranked`. Evidence: "indicator" (its name), "value", "threshold" (the 2nd
    percentile), "median" of ordinary tokens, "percentile" of the value among them (0 to 100), "tensor" (the matrix).
    Raises `EmbeddingsError` as `indicator` does.
    """
    unused = unused_rows(subject.tokenizer, matrix.n_rows)
    skipped = set(unused)
    tokens = dict(subject.tokens("embeddings"))
    ordinary = [token for token, data in tokens.items() if token not in skipped and incomplete_ends(data) is None]
    name = name or ("norm" if matrix.role == "input" or len(unused) < _MIN_UNUSED else "cosine")
    measured, threshold = indicator(matrix, name, unused, ordinary, subject.progress)
    numbers = measured.tolist()
    values = {token: numbers[token] for token in tokens if token < len(numbers) and math.isfinite(numbers[token])}
    ranked = sorted(values[token] for token in ordinary if token in values)
    subject.indicators, subject.ranked = values, ranked
    for token in ordinary:
        if token not in values:
            reason = "Its row holds values that are no numbers (NaN or infinity), so the model cannot use it."
            evidence = {"indicator": name, "value": None, "tensor": matrix.name}
            yield subject.finding(token, "undertrained", Severity.PROBLEM, reason, **evidence)
    median = ranked[len(ranked) // 2] if ranked else 0.0
    low = [(value, token) for token in ordinary if (value := values.get(token, math.inf)) <= threshold]
    for value, token in sorted(low):
        percentile = subject.percentile(token)
        reason = (
            f"Its row looks untrained: {INDICATORS[name]} is {value:.4g}, of ordinary tokens {median:.4g} "
            f"at the median (percentile {percentile:.2g})."
        )
        found = {"indicator": name, "value": value, "threshold": threshold, "median": median, "percentile": percentile}
        yield subject.finding(token, "undertrained", Severity.WARNING, reason, **found, tensor=matrix.name)


def unused_rows(tokenizer: Tokenizer, n_rows: int) -> list[int]:
    """The rows, of `n_rows`, that no text can have trained: those of no id, and of the bytes UTF-8 never contains."""
    vocabulary = tokenizer.vocabulary
    known = set(vocabulary.ids())
    never = {bytes([byte]) for byte in UNUSED_BYTES}
    return [row for row in range(n_rows) if row not in known or vocabulary.token_bytes(row) in never]


def indicator(
    matrix: Matrix, name: str, unused: Sequence[int], ordinary: Sequence[int], progress: OnStage | None = None
) -> "tuple[Array, float]":
    """The indicator `name` of each row, and its 2nd percentile over the rows `ordinary` (all if empty).

    The values are float32 of shape (n_rows,), NaN where the row has a NaN; the percentile is -inf if there is none.
    `progress` is called with the rows done and in all, over all passes together. Raises `EmbeddingsError` for an
    unknown name, too few rows known to be `unused`, or ids that have no row.
    """
    import numpy

    if name not in INDICATORS:
        raise EmbeddingsError(f"There is no indicator {name!r}; choose one of {', '.join(INDICATORS)}.")
    if name != "norm" and len(unused) < _MIN_UNUSED:
        few = f"Only {len(unused)} rows are known to be unused"
        raise EmbeddingsError(f"{few}, and {name} needs {_MIN_UNUSED}; choose norm.")
    if ordinary and max(ordinary) >= matrix.n_rows:
        sizes = f"The matrix has {matrix.n_rows:,} rows, and the tokenizer ids up to {max(ordinary):,}"
        raise EmbeddingsError(f"{sizes}: they do not belong together.")
    done, total = 0, matrix.n_rows * {"norm": 1, "distance": 1, "cosine": 2, "cosine-pc": 2 + _ROUNDS}[name]

    def slices() -> "Iterator[Array]":
        nonlocal done
        for rows in matrix.slices():
            if progress:
                progress(done, total, "embeddings")
            yield rows
            done += len(rows)

    mean, component = numpy.zeros(matrix.n_columns, numpy.float32), None
    if name.startswith("cosine"):
        sums = [(rows.sum(axis=0, dtype=numpy.float64), len(rows)) for rows in map(_sound, slices())]
        mean = (numpy.sum([total for total, _ in sums], axis=0) / max(1, sum(n for _, n in sums))).astype(numpy.float32)
        component = _principal(slices, mean) if name == "cosine-pc" else None

    def flat(rows: "Array") -> "Array":
        """Rows (or one) relative to the mean, without their projection on the component."""
        rows = rows - mean
        without: Array = rows if component is None else rows - (rows @ component)[..., None] * component
        return without

    center: Array | float = 0.0
    if name != "norm":
        known = _sound(numpy.concatenate([matrix.rows(row, row + 1) for row in unused]))
        if not len(known):
            raise EmbeddingsError("None of the rows known to be unused holds numbers only; choose norm.")
        center = flat(known.mean(axis=0))

    def measure(rows: "Array") -> "Array":
        if not name.startswith("cosine"):
            distances: Array = numpy.linalg.norm(rows - center, axis=1)
            return distances
        rows = flat(rows)
        lengths = numpy.linalg.norm(rows, axis=1)
        lengths[lengths == 0] = 1.0
        distances = 1 - (rows @ center) / (lengths * (float(numpy.linalg.norm(center)) or 1.0))
        return distances

    values = numpy.concatenate([measure(rows) for rows in slices()])
    of_ordinary = values[numpy.asarray(ordinary, dtype=numpy.int64)] if len(ordinary) else values
    finite = of_ordinary[numpy.isfinite(of_ordinary)]
    return values, float(numpy.percentile(finite, 2)) if finite.size else float("-inf")


def _sound(rows: "Array") -> "Array":
    import numpy

    return rows[numpy.isfinite(rows).all(axis=1)]


def _principal(slices: "Callable[[], Iterator[Array]]", mean: "Array") -> "Array":
    """The first principal component of the sound rows, of length 1: power iteration on their covariance."""
    import numpy

    component = numpy.random.default_rng(0).standard_normal(len(mean)).astype(numpy.float32)
    for _ in range(_ROUNDS):
        component /= float(numpy.linalg.norm(component)) or 1.0
        following = numpy.zeros(len(mean), dtype=numpy.float64)
        for rows in slices():
            sound = _sound(rows) - mean
            following += sound.T @ (sound @ component)
        component = following.astype(numpy.float32)
    component /= float(numpy.linalg.norm(component)) or 1.0
    return component
