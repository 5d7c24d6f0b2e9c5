"""A histogram of an indicator, its threshold, and the nearest rows, as lines."""

from itertools import pairwise

import pytest

from bpe_core import train
from bpe_core.cli.result_events import Embedded
from tui.drawing.model_lines import PERCENTILES, USUAL, OwnRow, at_percentile, histogram, model_lines, moved
from tui.state.audit import AuditInputs, JudgedRows, NearestRows

VOCABULARY = train("low lower lowest " * 40, vocab_size=260).vocabulary
RANKED = [place / 100 for place in range(1, 201)]
WIDTH = 44


def judged(ranked=RANKED, role="output", threshold=None):
    return JudgedRows(AuditInputs("m"), Embedded("lm_head.weight", role, 300, 8, "cosine", 13, threshold), ranked)


def said(lines):
    return [f"{line.info.lead}{line.info.left} {line.info.right}" for line in lines]


@pytest.mark.parametrize("ranked", [RANKED, [1.0], [2.0] * 50, [0.0] * 999 + [1e9], [-1.0, 0.0, 5.0]])
def test_every_value_is_in_one_bin(ranked):
    bins = histogram(ranked)
    assert sum(one.n for one in bins) == len(ranked) and bins[0].first == ranked[0]
    for one, after in pairwise(bins):
        assert one.n == sum(one.first <= value < after.first for value in ranked)
    assert histogram([]) == []


def test_the_threshold_goes_from_place_to_place_and_stays_at_the_ends():
    assert moved(moved(USUAL, 1), -1) == USUAL
    assert moved(PERCENTILES[0], -1) == PERCENTILES[0] and moved(PERCENTILES[-1], 1) == PERCENTILES[-1]
    assert at_percentile(RANKED, 0) == RANKED[0] and at_percentile(RANKED, 100) == RANKED[-1]


@pytest.mark.parametrize("percentile", [0.5, USUAL, 10.0, 50.0])
def test_what_lies_below_the_threshold_is_counted_and_colored(percentile):
    threshold = at_percentile(RANKED, percentile)
    lines = model_lines(judged(), VOCABULARY, None, NearestRows(), percentile, WIDTH)
    below = sum(value <= threshold for value in RANKED)
    told = " ".join(said(lines)).split()
    assert f"{below} of 200 ordinary tokens" in " ".join(told)
    (mark,) = (
        place for place, line in enumerate(lines) if "threshold" in str(line.info.left) and "┄" in str(line.info.left)
    )
    bars = [line.info for line in lines if "█" in str(line.info.left)]
    suspicious = [info for info in bars if info.ink == "warning"]
    assert lines[mark].info.right == f"{percentile:g} %" and suspicious == bars[: len(suspicious)]
    assert sum(int(info.right) for info in bars) == 200
    assert sum(int(info.right) for info in suspicious) + 1 > below >= sum(int(info.right) for info in suspicious[:-1])
    assert all(len(row.rstrip()) <= WIDTH for row in said(lines))


def test_the_own_row_the_nearest_rows_and_another_indicator():
    least = said(model_lines(judged(), VOCABULARY, OwnRow(9, -1.0), NearestRows(), USUAL, WIDTH))
    assert sum("▸" in row for row in least) == 1, "a row below all ordinary ones is in the first bin"
    nearest = NearestRows(257, "", ((256, 0.5), (299, 0.25)))
    lines = model_lines(judged(role=""), VOCABULARY, OwnRow(257, 0.5), nearest, USUAL, WIDTH)
    told = said(lines)
    assert "percentile 25" in told[1] and sum("▸" in row for row in told) == 1
    assert [line.token for line in lines if line.token is not None] == [256]
    assert any("row 299, of no token 0.250" in row for row in told)
    assert [line.indicator for line in lines if line.indicator] == ["norm", "cosine-pc", "distance"]
    assert any("does not tell" in row for row in told)
    assert not any(
        "nearest" in row for row in said(model_lines(judged(), VOCABULARY, OwnRow(9, 1.0), nearest, USUAL, WIDTH))
    )


def test_what_is_missing_is_told():
    assert "Press m" in said(model_lines(None, VOCABULARY, None, NearestRows(), USUAL, WIDTH))[0]
    assert "is looking" in said(model_lines(None, VOCABULARY, None, NearestRows(), USUAL, 60, waiting=True))[0]
    told = said(model_lines(judged([]), VOCABULARY, OwnRow(257, None), NearestRows(257), USUAL, 60))
    assert "Its row holds no numbers" in told[1] and any("No row of an ordinary token" in row for row in told)
