"""Find tokens whose rows in a model's embeddings look untrained. An indicator is lower if a row looks less trained.

Source: S. Land and M. Bartolo, "Fishing for Magikarp" (2024, arXiv 2405.05417). The row of a token that the model never
sees stays near its initialization (input embeddings), or is pushed in a direction common to all such tokens (output
embeddings, and tied ones, which are both). Let u be the mean of rows known to be unused, and m the mean of all rows:

- "norm" = |row|, for input embeddings: weight decay shrinks rows that no token updates;
- "cosine" = 1 - cos(row - m, u - m), for output and tied embeddings;
- "cosine-pc" = 1 - cos(row', u'), where ' removes c, the first principal component of the rows as they are: what nearly
  all rows share. It must not be computed from row - m: there it may be exactly the direction of the untrained rows, and
  removing it would remove everything that distinguishes them;
- "distance" = |row - u|.

A matrix is read slice by slice, in one pass, one more for "cosine", and `_ROUNDS` more for "cosine-pc". This takes the
memory of one slice, and of one number per row. It needs numpy, from the extra [embeddings].
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from bpe_core.auditing.distribution import MIN_UNUSED, PERCENT, distribution_of
from bpe_core.auditing.findings import Finding, OnStage, Severity
from bpe_core.auditing.matrix import Matrix
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

_ROUNDS: Final = 6
"""Passes in search of the first component. It is so dominant that more passes change no ranking."""
_VECTORS: Final = 4
"""Directions searched for at the same time, so that a strong second component does not slow down the search."""
_PASSES: Final = {"norm": 1, "distance": 1, "cosine": 2, "cosine-pc": 1 + _ROUNDS}
"""Passes over the matrix."""
_SLICE_BYTES: Final = 1 << 25  # of a slice, as float32


def undertrained(
    subject: AuditSubject, matrix: Matrix, name: str | None = None
) -> Iterator[Finding]:
    """Find ordinary tokens whose rows contain no numbers, then those at or below the threshold, the lowest first.

    Ordinary tokens are neither special, nor in `unused_rows`, nor incomplete UTF-8. This sets `subject.indicators`,
    `subject.ranked` and `subject.distribution`. Evidence: "indicator" (its name), "value", "threshold" and "gap" (see
    `Distribution`), "median" of ordinary tokens, "percentile" of the value among them (0 to 100), "tensor" (the matrix).

    Args:
        subject: The tokenizer under audit.
        matrix: The embeddings of a model that uses it.
        name: One of `INDICATORS`. None chooses "norm" for untied input embeddings, or if too few rows are unused, and
            "cosine" otherwise. Norms mislead on tied matrices, in which the rows of unused tokens grow long. Cosines
            mean nothing for untied input embeddings, in which such rows keep their random directions.

    Raises:
        EmbeddingsError: As in `indicator`, and if an id has no row.
    """
    n_rows = len(matrix.data)
    unused = unused_rows(subject.tokenizer, n_rows)
    if name is None:
        prefers_norm = matrix.is_input or len(unused) < MIN_UNUSED
        name = "norm" if prefers_norm else "cosine"
    tokens = dict(subject.tokens("embeddings"))
    ordinary = _ordinary_tokens(tokens, set(unused))
    if ordinary and max(ordinary) >= n_rows:
        raise EmbeddingsError(
            f"The matrix has {n_rows:,} rows, but the tokenizer has ids up to {max(ordinary):,}; take the matrix of a "
            "model that uses this tokenizer."
        )
    numbers: list[float] = indicator(matrix, name, unused, subject.progress).tolist()
    values = {
        token: numbers[token]
        for token in tokens
        if token < n_rows and math.isfinite(numbers[token])
    }
    ranked = sorted(values[token] for token in ordinary if token in values)
    subject.indicators = values
    subject.ranked = ranked
    for token in ordinary:
        if token not in values:
            yield subject.finding(
                token,
                "undertrained",
                Severity.PROBLEM,
                "Its row contains NaN or infinity, so the model cannot use it.",
                indicator=name,
                value=None,
                tensor=matrix.name,
            )
    if ranked:
        values_of_unused = [
            numbers[row] for row in unused if math.isfinite(numbers[row])
        ]
        subject.distribution = distribution_of(ranked, values_of_unused)
        yield from _lowest(subject, name, matrix.name, ordinary)


def _ordinary_tokens(tokens: Mapping[int, bytes], unused: set[int]) -> list[int]:
    return [
        token
        for token, data in tokens.items()
        if token not in unused and incomplete_ends(data) is None
    ]


def _lowest(
    subject: AuditSubject, name: str, tensor: str, ordinary: Sequence[int]
) -> Iterator[Finding]:
    """Report the ordinary tokens at or below the threshold."""
    ranked = subject.ranked
    values = subject.indicators
    distribution = subject.distribution
    assert distribution is not None
    median = ranked[len(ranked) // 2]
    low = [
        token
        for token in ordinary
        if values.get(token, math.inf) <= distribution.threshold
    ]
    low.sort(key=lambda token: (values[token], token))
    for token in low:
        percentile = subject.percentile(token)
        gap = distribution.gap
        measured = (
            f"{INDICATORS[name]} is {values[token]:.4g} (percentile {percentile:.2g})"
        )
        of_median = f"the median of ordinary tokens is {median:.4g}"
        reason = f"Its row is among the lowest {PERCENT} %: {measured}; {of_median}."
        if gap is None:
            reason += " No gap was found between untrained and trained rows, so it may be trained."
        elif values[token] <= gap:
            reason = f"Its row looks untrained: {measured}, below the gap at {gap:.4g}; {of_median}."
        else:
            reason += f" It is above the gap at {gap:.4g}, so it may be trained."
        yield subject.finding(
            token,
            "undertrained",
            Severity.WARNING,
            reason,
            indicator=name,
            value=values[token],
            threshold=distribution.threshold,
            gap=gap,
            median=median,
            percentile=percentile,
            tensor=tensor,
        )


def unused_rows(tokenizer: Tokenizer, n_rows: int) -> list[int]:
    """Return the rows that no text can have trained: rows without an id, and rows of bytes that UTF-8 never contains."""
    vocabulary = tokenizer.vocabulary
    known = set(vocabulary.ids())
    never = {bytes([byte]) for byte in UNUSED_BYTES}
    return [
        row
        for row in range(n_rows)
        if row not in known or vocabulary.token_bytes(row) in never
    ]


def indicator(
    matrix: Matrix, name: str, unused: Sequence[int], progress: OnStage | None = None
) -> "Array":
    """Compute an indicator of each row.

    Args:
        matrix: The embeddings.
        name: One of `INDICATORS`.
        unused: Rows known to be unused.
        progress: Called with (rows done, rows in all), counted over all passes.

    Returns:
        float32 of shape (n_rows,), NaN for a row that contains NaN.

    Raises:
        EmbeddingsError: The name is unknown, or too few rows are known to be unused.
    """
    import numpy

    if name not in INDICATORS:
        raise EmbeddingsError(
            f"Unknown indicator {name!r}; choose one of {', '.join(INDICATORS)}."
        )
    slices = _Slices(matrix, _PASSES[name], progress)
    if name == "norm":
        lengths = [numpy.linalg.norm(rows, axis=1) for rows in slices]
        return numpy.concatenate(lengths)
    mean_of_unused = _mean_of_unused(matrix, name, unused)
    if name == "distance":
        distances = [
            numpy.linalg.norm(rows - mean_of_unused, axis=1) for rows in slices
        ]
        return numpy.concatenate(distances)
    reduce = _without_mean(slices) if name == "cosine" else _without_component(slices)
    direction = reduce(mean_of_unused)
    return numpy.concatenate([1 - _cosines(reduce(rows), direction) for rows in slices])


class _Slices:
    """The rows of a matrix, slice by slice; it can be iterated several times."""

    def __init__(self, matrix: Matrix, n_passes: int, progress: OnStage | None) -> None:
        self.n_rows, self.n_columns = matrix.data.shape
        self._matrix = matrix
        self._progress = progress
        self._n_done = 0  # rows, over all passes
        self._n_total = self.n_rows * n_passes

    def __iter__(self) -> "Iterator[Array]":
        n_rows_at_once = max(1, _SLICE_BYTES // (4 * self.n_columns))
        for start in range(0, self.n_rows, n_rows_at_once):
            if self._progress:
                self._progress(self._n_done, self._n_total, "embeddings")
            rows = self._matrix.rows(start, start + n_rows_at_once)
            yield rows
            self._n_done += len(rows)


def _mean_of_unused(matrix: Matrix, name: str, unused: Sequence[int]) -> "Array":
    import numpy

    if len(unused) < MIN_UNUSED:
        raise EmbeddingsError(
            f"Only {len(unused)} rows are known to be unused, and {name} needs {MIN_UNUSED}; choose norm."
        )
    rows = numpy.concatenate([matrix.rows(row, row + 1) for row in unused])
    rows = _finite(rows)
    if not len(rows):
        raise EmbeddingsError(
            "All rows known to be unused contain NaN or infinity; choose norm."
        )
    mean: Array = rows.mean(axis=0)
    return mean


def _without_mean(slices: _Slices) -> "Callable[[Array], Array]":
    """Return a function that subtracts the mean of all rows from rows, or from one."""
    mean = _mean(slices)
    return lambda rows: rows - mean


def _without_component(slices: _Slices) -> "Callable[[Array], Array]":
    """Return a function that removes the first principal component from rows, or from one."""
    component = _first_component(slices)

    def reduce(rows: Any) -> Any:
        return rows - (rows @ component)[..., None] * component

    return reduce


def _cosines(rows: Any, direction: Any) -> Any:
    """Return the cosine of each row with a direction; 0 for a row of zeros."""
    import numpy

    lengths = numpy.linalg.norm(rows, axis=1)
    lengths[lengths == 0] = 1.0
    length = float(numpy.linalg.norm(direction)) or 1.0
    return (rows @ direction) / (lengths * length)


def _finite(rows: Any) -> Any:
    """Return the rows without NaN and infinity."""
    import numpy

    return rows[numpy.isfinite(rows).all(axis=1)]


def _mean(slices: _Slices) -> "Array":
    """Return the mean of all rows: float32 of shape (n_columns,)."""
    import numpy

    total = numpy.zeros(slices.n_columns, numpy.float64)
    n_rows = 0
    for rows in map(_finite, slices):
        total += rows.sum(axis=0, dtype=numpy.float64)
        n_rows += len(rows)
    mean = total / max(1, n_rows)
    return numpy.asarray(mean, numpy.float32)


def _first_component(slices: _Slices) -> "Array":
    """Return the first right singular vector of all rows, of length 1: float32 of shape (n_columns,).

    This is subspace iteration: `_VECTORS` directions are multiplied by rows.T @ rows `_ROUNDS` times, and made
    orthonormal each time. The first component is the best combination of these directions.
    """
    import numpy

    n_columns = slices.n_columns
    n_vectors = min(_VECTORS, n_columns)
    random = numpy.random.default_rng(0)
    directions = random.standard_normal((n_columns, n_vectors)).astype(numpy.float32)
    products = directions
    for _ in range(_ROUNDS):
        directions = numpy.linalg.qr(products)[0].astype(numpy.float32)
        products = numpy.zeros((n_columns, n_vectors), numpy.float64)
        for rows in map(_finite, slices):
            products += rows.T @ (rows @ directions)
    # directions.T @ products is rows.T @ rows restricted to these directions. Its eigenvector with the largest
    # eigenvalue, which comes last, is the best combination.
    _, combinations = numpy.linalg.eigh(directions.T @ products)
    component = directions @ combinations[:, -1]
    length = float(numpy.linalg.norm(component)) or 1.0
    return numpy.asarray(component / length, numpy.float32)
