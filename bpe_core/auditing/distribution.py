"""The distribution of an indicator over the rows of a model, and the threshold that separates untrained rows.

If many tokens were never trained, their rows are a mode of their own: a peak at low values, then a gap, then the peak of
the trained rows. The gap is searched in a histogram of the ordinary rows. It must be deep, must not be chance, and the
rows below it must be like those that are known to be unused. Otherwise a gap between two groups of trained rows, such as
two scripts, would be mistaken for it.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, Any]

PERCENT: Final = 2
"""Without a gap, ordinary rows at or below this percentile are findings (Land and Bartolo 2024)."""
MIN_UNUSED: Final = 3
"""Rows known to be unused, at least, for an indicator that needs them and for a gap."""
_TOP_PERCENT: Final = 99
"""Higher values are not in the histogram: a few very high ones would leave only a few bins for all others."""
_FEWEST_BINS: Final = 10
_MOST_BINS: Final = 100
_DEEP: Final = 0.5
"""Height of a gap, at most, as a share of the lower of the two peaks at its sides."""
_FOOT: Final = 0.1
"""Height at which the lower mode is over, as the same share. The deepest place may be far to the right of it, after many
rows that were trained a little: with 0.05, audits of five of eight small models flagged 46 to 293 more tokens that
occurred more than five times in the training."""
_DEVIATIONS: Final = 3.0
"""Standard deviations of that peak, as a random count, that the gap must be below it."""


class Bin(NamedTuple):
    """A part of a histogram."""

    start: float  # its lowest value
    n_rows: int


class Distribution(NamedTuple):
    """A histogram of the indicators of ordinary rows, and the threshold of the findings."""

    counts: tuple[int, ...]
    """The rows in each bin; all bins are equally wide."""
    start: float  # the lowest value
    end: float  # the 99th percentile, where the last bin ends
    n_rows: int  # all rows, including those with higher values
    threshold: float
    """Rows at or below it are findings: the gap, or the 2nd percentile if that is higher."""
    n_low: int  # rows at or below the threshold
    gap: float | None  # None if there is no gap

    def bins(self, most: int) -> list[Bin]:
        """Return a histogram of at most `most` equally wide bins."""
        step = self._step(most)
        width = (self.end - self.start) / len(self.counts)
        return [
            Bin(self.start + first * width, sum(self.counts[first : first + step]))
            for first in range(0, len(self.counts), step)
        ]

    def bin_of(self, value: float, most: int) -> int:
        """Return the index in `bins(most)` of the bin with a value, or of the nearest one."""
        share = (value - self.start) / (self.end - self.start)
        last = len(self.counts) - 1
        place = min(max(0, math.floor(share * len(self.counts))), last)
        return place // self._step(most)

    def _step(self, most: int) -> int:
        """Return how many bins are joined if at most `most` may be left."""
        return math.ceil(len(self.counts) / most)

    @property
    def sentence(self) -> str:
        """What the threshold is."""
        rows = f"{self.n_low:,} of {self.n_rows:,} rows are at or below it."
        if self.gap == self.threshold:
            return f"The threshold {self.threshold:.4g} is the gap between untrained and trained rows; {rows}"
        kind = f"The threshold {self.threshold:.4g} is the 2nd percentile; {rows}"
        if self.gap is None:
            return f"{kind} No gap was found between untrained and trained rows."
        return f"{kind} Rows below the gap at {self.gap:.4g} look untrained."


def distribution_of(ranked: Sequence[float], unused: Sequence[float]) -> Distribution:
    """Find the threshold between untrained and trained rows.

    Args:
        ranked: The indicators of ordinary rows, ascending, at least one.
        unused: The indicators of rows known to be unused.
    """
    import numpy

    values = numpy.array(ranked, numpy.float64)
    top = float(numpy.percentile(values, _TOP_PERCENT))
    n_bins = min(max(round(math.sqrt(len(values))), _FEWEST_BINS), _MOST_BINS)
    start = float(values[0])
    end = top if top > start else start + 1.0
    counts, edges = numpy.histogram(values, n_bins, (start, end))
    gap = None
    if len(unused) >= MIN_UNUSED:
        gaps = _gaps(counts, edges)
        is_plausible = partial(_is_plausible, values=values, unused=unused)
        gap = next(filter(is_plausible, gaps), None)
    threshold = float(numpy.percentile(values.astype(numpy.float32), PERCENT))
    if gap is not None:
        threshold = max(threshold, gap)
    return Distribution(
        counts=tuple(counts.tolist()),
        start=start,
        end=end,
        n_rows=len(values),
        threshold=threshold,
        n_low=int(numpy.searchsorted(values, threshold, "right")),
        gap=gap,
    )


def _gaps(counts: "Array", edges: "Array") -> Iterator[float]:
    """Yield the gaps between two peaks, the lowest first: the end of the bin in which the mode at the left is over."""
    import numpy

    heights = numpy.convolve(counts, [0.25, 0.5, 0.25], "same")
    left_peaks = numpy.maximum.accumulate(heights)
    right_peaks = numpy.maximum.accumulate(heights[::-1])[::-1]
    peaks = numpy.minimum(left_peaks, right_peaks)
    is_deep = heights <= _DEEP * peaks
    is_significant = peaks - heights > _DEVIATIONS * numpy.sqrt(peaks)
    is_gap = is_deep & is_significant
    shares = (heights + 1) / (peaks + 1)
    places = numpy.flatnonzero(is_gap)
    borders = numpy.flatnonzero(numpy.diff(places) > 1) + 1
    for run in numpy.split(places, borders):
        if not len(run):
            continue
        place = min(run, key=shares.__getitem__)
        foot = _FOOT * peaks[place]
        while is_gap[place - 1] and heights[place - 1] <= foot:
            place -= 1
        yield float(edges[place + 1])


def _is_plausible(gap: float, *, values: "Array", unused: Sequence[float]) -> bool:
    """Whether the rows below the gap are, in the median, nearer to the unused rows than to the gap."""
    import numpy

    median = float(numpy.median(values[values <= gap]))
    return abs(median - float(numpy.median(unused))) < gap - median
