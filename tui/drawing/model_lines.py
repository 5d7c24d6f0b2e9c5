"""What a model's embeddings tell of a token, as lines: a histogram of the indicator, the nearest rows. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bpe_core.visible import token_label, visible
from tui.drawing.bars import bar
from tui.drawing.evidence_lines import Line, paragraph
from tui.drawing.info_lines import InfoLine
from tui.drawing.token_columns import number

if TYPE_CHECKING:
    from bpe_core.vocabulary import Vocabulary
    from tui.state.audit import JudgedRows, NearestRows

PERCENTILES: Final = (
    0.01,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1.0,
    1.5,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
    7.0,
    10.0,
    15.0,
    20.0,
    30.0,
    50.0,
)
"""Where the threshold can be put, in percent of ordinary tokens; an audit puts it at `USUAL`."""
USUAL: Final = 2.0

_BINS: Final = 14
_LEFT_OUT: Final = 0.5
"""Percent of the greatest values that share the last bin: a few outliers would leave no room for the others."""

_NO_MODEL: Final = (
    "Press m to choose a file with a model's embeddings: .safetensors, the index of several, or .npy. "
    "A token that the model hardly met has a row that looks untrained."
)
_WAITING: Final = "The audit is looking at the rows of the model."
_ROLES: Final[Mapping[str, str]] = {
    "input": "Input embeddings; the model has others for its output.",
    "output": "Output embeddings.",
    "tied": "Embeddings of input and output at once (tied).",
    "": "Its name does not tell whether it is of the input or of the output: choose below how its rows are judged.",
}
_INDICATORS: Final[Mapping[str, str]] = {
    "norm": "length; for untied inputs",
    "cosine": "angle to unused; output, tied",
    "cosine-pc": "less the main direction",
    "distance": "from the mean unused row",
}


@dataclass(frozen=True, slots=True)
class Bin:
    """A bar of the histogram."""

    first: float
    """The least value that belongs to it; those below the first of the next do."""
    n: int
    """How many tokens have such a value."""


def histogram(ranked: Sequence[float], n_bins: int = _BINS) -> list[Bin]:
    """Bins of equal width over ascending values, the greatest of which all share the last one; O(bins log n).

    >>> histogram([1.0, 1.0, 2.0, 3.0], 2)
    [Bin(first=1.0, n=2), Bin(first=1.9925, n=2)]
    """
    if not ranked:
        return []
    low, high = ranked[0], at_percentile(ranked, 100 - _LEFT_OUT)
    if not low < high:
        return [Bin(low, len(ranked))]
    firsts = [low + (high - low) * place / n_bins for place in range(n_bins)]
    ends = [*(bisect_left(ranked, first) for first in firsts[1:]), len(ranked)]
    return [Bin(first, end - start) for first, start, end in zip(firsts, [0, *ends], ends, strict=False)]


def at_percentile(ranked: Sequence[float], percentile: float) -> float:
    """The value below which so many percent of ascending values lie; between two of them it is interpolated.

    >>> at_percentile([1.0, 2.0, 3.0], 75)
    2.5
    """
    place = (len(ranked) - 1) * percentile / 100
    before = min(int(place), len(ranked) - 1)
    after = min(before + 1, len(ranked) - 1)
    return ranked[before] + (ranked[after] - ranked[before]) * (place - before)


def moved(percentile: float, by: int) -> float:
    """The next of `PERCENTILES` (1), or the one before (-1); the last and the first stay."""
    return PERCENTILES[min(max(PERCENTILES.index(percentile) + by, 0), len(PERCENTILES) - 1)]


@dataclass(frozen=True, slots=True)
class OwnRow:
    """The token that is looked at."""

    token: int
    indicator: float | None
    """That of its row; None if the row holds no numbers, or is a special token's."""


def model_lines(
    judged: "JudgedRows | None",
    vocabulary: "Vocabulary",
    own: OwnRow | None,
    nearest: "NearestRows",
    percentile: float,
    width: int,
    *,
    waiting: bool = False,
) -> list[Line]:
    """What an audit found in a model's embeddings, in lines of `width` cells; `waiting`: an audit is under way."""
    if judged is None:
        return [*paragraph(_WAITING if waiting else _NO_MODEL, width, "muted")]
    lines = [*_own(judged, vocabulary, own, width), *_histogram(judged, own, percentile, width)]
    if own is not None:
        lines += [Line(InfoLine()), *_nearest(vocabulary, own, nearest, width)]
    return [*lines, Line(InfoLine()), *_matrix(judged, width)]


def _own(judged: "JudgedRows", vocabulary: "Vocabulary", own: OwnRow | None, width: int) -> Iterator[Line]:
    if own is None:
        return
    yield Line(InfoLine(token_label(vocabulary.token_bytes(own.token)), f"id {own.token:,}", "token"))
    if own.indicator is None:
        special = own.token in vocabulary.special_tokens.values()
        yield from paragraph(
            "A special token: its row is not judged." if special else "Its row holds no numbers.", width, "muted"
        )
    elif judged.ranked:
        share = 100 * bisect_right(judged.ranked, own.indicator) / len(judged.ranked)
        value = number("indicator", own.indicator)
        yield Line(InfoLine(f"{judged.embedded.indicator} {value}", f"percentile {share:.3g}", "text"))


def _histogram(judged: "JudgedRows", own: OwnRow | None, percentile: float, width: int) -> Iterator[Line]:
    """The bars, the suspicious ones in the color of a warning, and a line where the threshold is."""
    ranked = judged.ranked
    if not ranked:
        yield from paragraph("No row of an ordinary token holds numbers.", width, "muted")
        return
    usual = judged.embedded.threshold if percentile == USUAL else None
    threshold = at_percentile(ranked, percentile) if usual is None else usual
    below = bisect_right(ranked, threshold)
    bins = histogram(ranked)
    most = max(one.n for one in bins)
    counts = max(len(f"{one.n:,}") for one in bins)
    cells = max(1, width - 11 - counts - 1)
    told_value = number("indicator", threshold)
    sentence = f"{below:,} of {len(ranked):,} ordinary tokens have {told_value} or less; - and + move this threshold."
    for line in paragraph(sentence, width):
        yield Line(line.info, sort="indicator")
    told = False
    for place, one in enumerate(bins):
        if not told and threshold < one.first:
            yield _threshold(threshold, percentile)
            told = True
        end = bins[place + 1].first if place + 1 < len(bins) else float("inf")
        first = one.first if place else float("-inf")  # bytes that no text has may lie below all ordinary tokens
        is_own = own is not None and own.indicator is not None and first <= own.indicator < end
        lead = f"{'▸' if is_own else ' '}{number('indicator', one.first):>8} "
        yield Line(InfoLine(bar(one.n, most, cells), f"{one.n:,}".rjust(counts), "accent" if told else "warning", lead))
    if not told:
        yield _threshold(threshold, percentile)


def _threshold(value: float, percentile: float) -> Line:
    return Line(InfoLine("┄ threshold", f"{percentile:g} %", "warning", f" {number('indicator', value):>8} "))


def _nearest(vocabulary: "Vocabulary", own: OwnRow, nearest: "NearestRows", width: int) -> Iterator[Line]:
    if nearest.token != own.token:
        return
    yield Line(InfoLine("nearest rows", "cosine", "muted"))
    if nearest.progress:
        yield from paragraph(nearest.progress, width, "muted")
    for token, cosine in nearest.found:
        if token in vocabulary:
            label = token_label(vocabulary.token_bytes(token))
            yield Line(InfoLine(label, f"{token:,}  {cosine:.3f}"), token=token)
        else:
            yield Line(InfoLine(f"row {token:,}, of no token", f"{cosine:.3f}", "muted"))


def _matrix(judged: "JudgedRows", width: int) -> Iterator[Line]:
    """Which matrix, and how its rows are judged; Enter judges them by something else."""
    told = judged.embedded
    yield from paragraph(f"{visible(told.tensor) or 'Matrix'}, {told.rows:,} rows of {told.columns:,}", width)
    yield from paragraph(_ROLES.get(told.role, _ROLES[""]), width, "muted")
    if told.unused:
        yield from paragraph(f"{told.unused:,} rows are known to be unused.", width, "muted")
    yield Line(InfoLine("rows are judged by", ink="muted"))
    for name, meaning in _INDICATORS.items():
        chosen = name == told.indicator
        ink = "accent" if chosen else "text"
        yield Line(
            InfoLine(f"{name}: {meaning}", "", ink, "● " if chosen else "○ "), indicator=None if chosen else name
        )
