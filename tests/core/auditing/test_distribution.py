"""The gap between rows that were never trained and the others, and the threshold that it gives."""

import numpy
import pytest

from bpe_core import save, train
from bpe_core.auditing import examine
from bpe_core.auditing.distribution import distribution_of
from bpe_core.auditing.embeddings import unused_rows
from bpe_core.auditing.matrix import Matrix
from bpe_core.auditing.subject import AuditSubject
from bpe_core.auditing.verdicts import verdicts
from bpe_core.cli.main import main

TRAINED = (1.0, 0.1)
"""Mean and standard deviation of the indicators of trained rows."""
UNTRAINED = (0.1, 0.02)


def rows_of(rng, n_rows, share, untrained=UNTRAINED):
    """Indicators of ordinary rows, which of them were never trained, and indicators of unused rows."""
    n_low = round(n_rows * share)
    low = rng.normal(*untrained, n_low)
    high = rng.normal(*TRAINED, n_rows - n_low)
    return low, high, rng.normal(*untrained, 13).tolist()


def found_in(low, high, unused):
    return distribution_of(sorted([*low, *high]), unused)


@pytest.mark.parametrize("n_rows", [500, 4000, 50_000])
@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.58, 0.8])
def test_all_rows_that_were_never_trained_are_below_the_threshold(n_rows, share):
    low, high, unused = rows_of(numpy.random.default_rng(2), n_rows, share)
    found = found_in(low, high, unused)
    assert (low <= found.threshold).mean() > 0.99
    assert found.threshold < min(high)
    assert found.threshold == found.gap
    assert f"is the gap between untrained and trained rows; {found.n_low:,} of" in (
        found.sentence
    )


@pytest.mark.parametrize("share", [0.1, 0.3, 0.58])
def test_modes_that_overlap_are_parted_with_few_errors(share):
    low, high, unused = rows_of(
        numpy.random.default_rng(3), 50_000, share, untrained=(0.55, 0.1)
    )
    found = found_in(low, high, unused)
    assert (low <= found.threshold).mean() > 0.9
    assert (high <= found.threshold).mean() < 0.02


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(*TRAINED, n),
        lambda rng, n: rng.lognormal(0, 0.5, n),
        lambda rng, n: rng.gamma(2, 1, n),
        lambda rng, n: rng.uniform(0.5, 1, n),
        lambda rng, n: 1 + 0.1 * rng.standard_t(2, n),
        lambda rng, n: 1 - rng.gamma(1.2, 0.1, n),
    ],
    ids=["normal", "lognormal", "gamma", "uniform", "outliers", "tail at the left"],
)
def test_where_all_rows_are_trained_no_gap_is_seen(draw):
    rng = numpy.random.default_rng(4)
    for n_rows in (150, 500, 4000, 20_000):
        for _ in range(25):
            values = draw(rng, n_rows)
            low = min(values) - 0.001 * rng.random(13)
            found = distribution_of(sorted(values), low.tolist())
            assert found.gap is None, n_rows
            assert abs(found.n_low - 0.02 * n_rows) <= 1
    assert "2nd percentile" in found.sentence and "No gap was found" in found.sentence


def test_a_gap_between_two_groups_of_trained_rows_is_not_taken():
    rng = numpy.random.default_rng(5)
    groups = [*rng.normal(0.8, 0.04, 1500), *rng.normal(1.2, 0.04, 2500)]
    near_zero = rng.normal(*UNTRAINED, 13).tolist()
    assert distribution_of(sorted(groups), near_zero).gap is None
    # The same values are a gap if the unused rows are in the lower group.
    assert distribution_of(sorted(groups), [0.8] * 13).gap is not None
    # Here the measure is upside down: rows never used have high values.
    assert distribution_of(sorted(groups), [1.1] * 13).gap is None
    assert distribution_of(sorted(groups), [0.8] * 2).gap is None, "too few to know"


def test_a_deeper_gap_between_groups_of_trained_rows_does_not_hide_the_gap():
    rng = numpy.random.default_rng(11)
    groups = [*rng.normal(0.8, 0.1, 12_000), *rng.normal(2.0, 0.1, 6000)]
    low = rng.normal(0.3, 0.1, 2000)
    found = found_in(low, groups, rng.normal(0.3, 0.1, 13).tolist())
    assert (low <= found.threshold).mean() > 0.9 and found.threshold < 0.7


def test_a_few_rows_below_the_untrained_ones_do_not_hide_the_gap():
    rng = numpy.random.default_rng(13)
    few = rng.normal(0.05, 0.01, 100)  # such as rows of control characters
    low = rng.normal(0.25, 0.04, 1500)
    high = rng.normal(*TRAINED, 6000)
    unused = rng.normal(0.24, 0.04, 13).tolist()
    found = found_in([*few, *low], high, unused)
    assert found.threshold > 0.3 and found.n_low > 1570


def test_two_modes_with_a_shallow_place_between_them_have_no_gap():
    low, high, unused = rows_of(
        numpy.random.default_rng(12), 50_000, 0.5, untrained=(0.75, 0.1)
    )
    assert found_in(low, high, unused).gap is None


def test_rows_with_very_high_values_do_not_hide_the_gap():
    low, high, unused = rows_of(numpy.random.default_rng(6), 4000, 0.1)
    found = found_in(low, [*high, *[500.0] * 20], unused)
    assert found.n_low == 400 and found.end < 2


def test_the_threshold_is_where_the_lower_mode_is_over_not_far_along_an_empty_gap():
    rng = numpy.random.default_rng(7)
    # Between the modes is a slope of rows that were trained a little, with its lowest place near the upper mode.
    slope = 0.2 + 0.5 * rng.beta(1, 3, 60)
    low, high, unused = rows_of(rng, 4000, 0.2)
    found = found_in(low, [*high, *slope], unused)
    assert 0.15 < found.threshold < 0.25


def test_a_gap_below_the_2nd_percentile_is_named():
    low, high, unused = rows_of(numpy.random.default_rng(8), 4000, 0.0125)
    found = found_in(low, high, unused)
    assert found.gap < min(high) < found.threshold and found.n_low == 80
    assert f"below the gap at {found.gap:.4g} look untrained" in found.sentence


@pytest.mark.parametrize("values", [[1.0], [1.0, 1.0, 1.0], [0.0, 1.0]])
def test_few_and_equal_values_have_a_distribution(values):
    found = distribution_of(values, [0.0] * 5)
    assert found.n_rows == len(values) and found.gap is None
    assert len(found.counts) == 10
    assert found.n_low == sum(value <= found.threshold for value in values)
    assert found.bin_of(values[-1], 40) < len(found.bins(40))


def test_bins_are_joined_for_a_narrow_place():
    low, high, unused = rows_of(numpy.random.default_rng(9), 4000, 0.1)
    found = found_in(low, high, unused)
    assert len(found.counts) == 63 and len(found_in(low, [*high] * 5, []).counts) == 100
    for most in (1, 7, 20, 63, 100):
        bins = found.bins(most)
        assert len(bins) <= most and sum(part.n_rows for part in bins) == 3960
        assert bins[0].start == found.start and found.bin_of(-1.0, most) == 0
        assert found.bin_of(99.0, most) == len(bins) - 1
        for place, part in enumerate(bins):
            assert found.bin_of(part.start + 1e-9, most) == place


LEARNED = train(
    "the theme of the other thesis, the thing that they thought through\n" * 20,
    vocab_size=330,
)
N = LEARNED.n_vocab


def model(untrained):
    """Rows of a model in which some tokens, and those that no text contains, were never trained."""
    rng = numpy.random.default_rng(10)
    rows = rng.standard_normal((N, 32)).astype(numpy.float32) + 0.3
    low = [*untrained, *unused_rows(LEARNED, N)]
    rows[low] = -1.5 + 0.1 * rng.standard_normal((len(low), 32))
    return rows


def audited(share):
    """Audit LEARNED with a model in which a share of the tokens of merges and ASCII was never trained."""
    ordinary = [*range(128), *range(256, N)]
    untrained = ordinary[:: round(1 / share)] if share else []
    rows = model(untrained)
    subject = AuditSubject(LEARNED)
    findings = list(examine(subject, Matrix(rows)))
    undertrained = [found for found in findings if found.kind == "undertrained"]
    return subject, undertrained, untrained, verdicts(subject, findings)


def test_every_row_below_the_gap_is_a_finding_with_its_reason_and_counts_at_least_half():
    subject, findings, untrained, ranked = audited(0.25)
    assert sorted(found.id for found in findings) == untrained
    gap = subject.distribution.gap
    assert all(f"below the gap at {gap:.4g}" in found.reason for found in findings)
    assert {found.evidence["gap"] for found in findings} == {gap}
    scores = {verdict.id: verdict.shares["undertrained"] for verdict in ranked}
    below = [scores[token] for token in untrained]
    others = scores.keys() - {*untrained, *unused_rows(LEARNED, N)}
    above = [scores[token] for token in others]
    assert min(below) == pytest.approx(0.45) and max(above) < 0.45 and above
    assert max(below) == pytest.approx(0.9, abs=0.05)
    share = 100 * len(untrained) / len(subject.ranked)
    assert subject.stretched(share / 2) == pytest.approx(1)
    assert subject.stretched(share + 5) == pytest.approx(7)


def test_without_a_gap_the_lowest_rows_are_findings_that_say_so():
    subject, findings, _, _ = audited(0)
    assert subject.distribution.gap is None and len(findings) == 4
    assert all("No gap was found" in found.reason for found in findings)
    assert all("among the lowest 2 %" in found.reason for found in findings)
    assert [subject.stretched(at) for at in (0.5, 2.0, 50.0)] == [0.5, 2.0, 50.0]


def test_an_unused_row_of_nan_does_not_hide_the_gap_and_equal_rows_are_found_together():
    rows = model(range(100, 128))
    rows[0xC0] = numpy.nan
    subject = AuditSubject(LEARNED)
    list(examine(subject, Matrix(rows)))
    assert subject.distribution.gap is not None
    rows = model([])
    equal = {40, 50, 60, 70, 80, 90}
    rows[[*equal]] = 0
    findings = examine(AuditSubject(LEARNED), Matrix(rows), "norm")
    lowest = {found.id for found in findings if found.kind == "undertrained"}
    assert lowest == equal, "more than 2 % of the rows, but none is lower than another"


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--html"]])
def test_reports_draw_the_rows_and_mark_the_threshold(tmp_path, capsys, form):
    save(LEARNED, tmp_path / "t.json")
    subject, _, untrained, _ = audited(0.25)
    numpy.save(tmp_path / "m.npy", model(untrained))
    words = ["-t", str(tmp_path / "t.json"), "--embeddings", str(tmp_path / "m.npy")]
    assert main(["audit", *words, *form]) == 0
    report = capsys.readouterr().out
    assert subject.distribution.sentence in report
    (marked,) = [line for line in report.splitlines() if "◀ threshold" in line]
    place = subject.distribution.bin_of(subject.distribution.threshold, 20)
    start = subject.distribution.bins(20)[place].start
    assert f"{start:.3g}" in marked
    bars = [line.count("█") for line in report.splitlines() if "█" in line]
    assert max(bars) == 30
    assert main(["audit", *words[:2], *form]) == 0
    assert "threshold" not in capsys.readouterr().out.split("How the score")[0]
