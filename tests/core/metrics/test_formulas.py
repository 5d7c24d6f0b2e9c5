"""The formulas of metrics, checked where they can be worked out by hand, and against libraries where these are."""

import math
from collections import Counter

import pytest

from bpe_core import metrics as formulas
from bpe_core.errors import OptionError
from bpe_core.metrics import renyi_efficiency

PUBLISHED = Counter(["pick", "@@ed", "pick", "@@l", "@@ed", "pick", "@@les"]).values()


@pytest.mark.parametrize(
    ("metric", "arguments", "value"),
    [
        ("ratio", (11, 5), 2.2),  # aaabdaaabac becomes aaab d aaab a c
        ("ratio", (27, 4), 6.75),  # おはようございます
        ("ratio", (0, 0), 0.0),
        # Half, a quarter, a quarter of the tokens.
        ("renyi_entropy", ([2, 1, 1], 0), math.log2(3)),
        ("renyi_entropy", ([2, 1, 1], 1), 1.5),
        ("renyi_entropy", ([2, 1, 1], 2), math.log2(8 / 3)),
        ("renyi_entropy", ([2, 1, 1], math.inf), 1.0),
        # No power of a small frequency underflows.
        ("renyi_efficiency", ([10**12, *[1] * 999], 300), 0.0),
        ("renyi_efficiency", ([1] * 1000, 300), 1.0),
        ("renyi_efficiency", ([3, 0, 1, 0], 2.5), renyi_efficiency([3, 1])),
        *(("renyi_efficiency", (counts, 2.5), 0.0) for counts in ([], [0, 0], [5])),
        ("renyi_efficiency", (PUBLISHED,), 0.8265064834225245),
        ("renyi_entropy", (PUBLISHED,), 1.653012966845049),
        ("shannon_efficiency", (PUBLISHED,), 0.9211854965885544),
    ],
)
def test_by_hand(metric, arguments, value):
    assert getattr(formulas, metric)(*arguments) == pytest.approx(value, rel=1e-12, abs=1e-6)


def test_renyi_efficiency_is_continuous_at_one_and_falls_with_the_order():
    counts = [50, 20, 20, 5, 5, 1]
    near = [renyi_efficiency(counts, alpha) for alpha in (1 - 1e-6, 1, 1 + 1e-6)]
    assert max(near) - min(near) < 1e-5
    falling = [renyi_efficiency(counts, alpha) for alpha in (0, 1, 2, 2.5, 100, math.inf)]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("alpha", [-1, math.nan])
def test_an_order_that_makes_no_sense(alpha):
    with pytest.raises(OptionError, match="order of a Rényi entropy"):
        renyi_efficiency([1, 2], alpha)
