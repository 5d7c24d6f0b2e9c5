"""Indicators of under-trained tokens: numbers for the rows of an embedding matrix, low if a row looks untrained.

Source: S. Land and M. Bartolo, "Fishing for Magikarp" (2024, arXiv 2405.05417). The row of a token that the model never
sees stays near its initialization (input embeddings), or is pushed in a direction common to all such tokens (output
embeddings, and tied ones, which are both). With u the mean of rows known to be unused, and m that of all rows:

- "norm" = |row|, for input embeddings: weight decay shrinks rows that no token updates;
- "cosine" = 1 - cos(row - m, u - m), for output and tied embeddings;
- "cosine-pc" = "cosine" after projecting the first principal component out of row - m and u - m;
- "distance" = |row - u|.

A matrix is read slice by slice: in one pass for "norm" and "distance", two for "cosine", and `_ROUNDS` more for
"cosine-pc". Memory: a slice, and a number for each row.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bpe_core.embeddings.matrix import Matrix
from bpe_core.errors import EmbeddingsError

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
MIN_UNUSED: Final = 3
"""The least number of rows known to be unused that u is computed from."""

_ROUNDS: Final = 6
"""Steps of the power iteration; the first component of embeddings is so dominant that more change no ranking."""

Progress = Callable[[int, int], None]
"""Called with (rows done, rows in all) over all passes together; what it raises ends the computation."""


@dataclass(frozen=True, slots=True)
class Indicator:
    """The values of one indicator for all rows: the lower, the less trained a row looks."""

    name: str
    """One of `INDICATORS`."""
    values: "Array"
    """float32 of shape (n_rows,); NaN where the row has a NaN."""
    threshold: float
    """The 2nd percentile of the values of ordinary rows; at or below it a token is suspected. -inf without values."""


def usual_indicator(matrix: Matrix, n_unused: int) -> str:
    """The default indicator: "norm" for untied input embeddings, or with too few unused rows; otherwise "cosine".

    Norms mislead on tied matrices, where the rows of tokens that never occur grow long, and cosines are meaningless for
    untied input embeddings, where such rows keep their random directions.
    """
    return "norm" if matrix.role == "input" or n_unused < MIN_UNUSED else "cosine"


def indicator(
    matrix: Matrix,
    name: str,
    unused: Sequence[int],
    ordinary: Sequence[int],
    progress: Progress = lambda done, total: None,
) -> Indicator:
    """The indicator `name` for all rows.

    `unused` are the rows known to be unused; `ordinary` are those whose 2nd percentile is the threshold (all if empty).

    Raises `EmbeddingsError` for an unknown name, too few unused rows, or ids that have no row.
    """
    import numpy

    if name not in INDICATORS:
        raise EmbeddingsError(f"There is no indicator {name!r}; choose one of {', '.join(INDICATORS)}.")
    if name != "norm" and len(unused) < MIN_UNUSED:
        raise EmbeddingsError(
            f"Only {len(unused)} rows are known to be unused, and {name} needs {MIN_UNUSED}; choose norm."
        )
    if ordinary and max(ordinary) >= matrix.n_rows:
        raise EmbeddingsError(
            f"The matrix has {matrix.n_rows:,} rows, and the tokenizer ids up to {max(ordinary):,}: "
            "they do not belong together."
        )
    passes = _Passes(matrix, progress, {"norm": 1, "distance": 1, "cosine": 2, "cosine-pc": 2 + _ROUNDS}[name])
    if name == "norm":
        values = passes.each_row(lambda rows: numpy.linalg.norm(rows, axis=1))
    elif name == "distance":
        center = _mean_of(matrix, unused)
        values = passes.each_row(lambda rows: numpy.linalg.norm(rows - center, axis=1))
    else:
        mean = passes.mean()
        component = passes.principal(mean) if name == "cosine-pc" else None
        direction = _without(_mean_of(matrix, unused) - mean, component)
        length = float(numpy.linalg.norm(direction)) or 1.0

        def distance(rows: "Array") -> "Array":
            rows = _without(rows - mean, component)
            lengths = numpy.linalg.norm(rows, axis=1)
            lengths[lengths == 0] = 1.0
            cosines: Array = (rows @ direction) / (lengths * length)
            return 1 - cosines

        values = passes.each_row(distance)
    of_ordinary = values[numpy.asarray(ordinary, dtype=numpy.int64)] if len(ordinary) else values
    finite = of_ordinary[numpy.isfinite(of_ordinary)]
    threshold = float(numpy.percentile(finite, 2)) if finite.size else float("-inf")
    return Indicator(name, values, threshold)


class _Passes:
    """Computations that read a whole matrix slice by slice, with progress over `n_passes` of them together."""

    def __init__(self, matrix: Matrix, progress: Progress, n_passes: int) -> None:
        self._matrix = matrix
        self._progress = progress
        self._total = n_passes * matrix.n_rows
        self._done = 0

    def _slices(self) -> Any:
        for start, rows in self._matrix.slices():
            self._progress(self._done, self._total)
            yield start, rows
            self._done += len(rows)

    def each_row(self, measure: "Callable[[Array], Array]") -> "Array":
        import numpy

        values = numpy.empty(self._matrix.n_rows, dtype=numpy.float32)
        for start, rows in self._slices():
            values[start : start + len(rows)] = measure(rows)
        return values

    def mean(self) -> "Array":
        """The mean of all rows without NaN or infinity in them."""
        import numpy

        total = numpy.zeros(self._matrix.n_columns, dtype=numpy.float64)
        n = 0
        for _, rows in self._slices():
            sound = rows[numpy.isfinite(rows).all(axis=1)]
            total += sound.sum(axis=0, dtype=numpy.float64)
            n += len(sound)
        return (total / max(n, 1)).astype(numpy.float32)

    def principal(self, mean: "Array") -> "Array":
        """The first principal component of the rows, of length 1: power iteration on their covariance."""
        import numpy

        component = numpy.random.default_rng(0).standard_normal(self._matrix.n_columns).astype(numpy.float32)
        for _ in range(_ROUNDS):
            component /= float(numpy.linalg.norm(component)) or 1.0
            following = numpy.zeros(self._matrix.n_columns, dtype=numpy.float64)
            for _, rows in self._slices():
                sound = rows[numpy.isfinite(rows).all(axis=1)] - mean
                following += sound.T @ (sound @ component)
            component = following.astype(numpy.float32)
        component /= float(numpy.linalg.norm(component)) or 1.0
        return component


def _mean_of(matrix: Matrix, rows: Sequence[int]) -> "Array":
    """The mean of some rows; without those with NaN or infinity in them."""
    import numpy

    found = numpy.concatenate([matrix.rows(row, row + 1) for row in rows])
    sound = found[numpy.isfinite(found).all(axis=1)]
    if not len(sound):
        raise EmbeddingsError("None of the rows known to be unused holds numbers only; choose norm.")
    mean: Array = sound.mean(axis=0)
    return mean


def _without(rows: "Array", component: "Array | None") -> "Array":
    """`rows` (or one row) minus their projections on `component`, a unit vector; unchanged if that is None."""
    if component is None:
        return rows
    along = rows @ component
    part: Array = along[:, None] * component if rows.ndim == 2 else along * component
    return rows - part
