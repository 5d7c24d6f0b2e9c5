"""The formulas of metrics, checked where they can be worked out by hand, and against libraries where these are."""

import math
import random
from collections import Counter

import pytest

from bpe_core import metrics as formulas
from bpe_core.auditing.subject import Usage
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.metrics import renyi_efficiency, renyi_entropy, shannon_efficiency, utilization
from bpe_core.trainer import train

PUBLISHED = Counter(["pick", "@@ed", "pick", "@@l", "@@ed", "pick", "@@les"]).values()


@pytest.mark.parametrize(
    ("metric", "arguments", "value"),
    [
        ("bytes_per_token", (11, 5), 2.2),  # aaabdaaabac becomes aaab d aaab a c
        ("bytes_per_token", (27, 4), 6.75),  # おはようございます
        ("characters_per_token", (9, 4), 2.25),
        ("fertility", (35, 16), 35 / 16),
        ("parity", (6, 4), 1.5),
        *((name, (0, 0), 0.0) for name in ("bytes_per_token", "characters_per_token", "fertility", "parity")),
        # Half, a quarter, a quarter of the tokens, in a vocabulary of four.
        ("renyi_efficiency", ([2, 1, 1], 0, 4), math.log(3) / math.log(4)),
        ("renyi_efficiency", ([2, 1, 1], 1, 4), 1.5 / 2),  # Shannon: 1.5 bits of 2
        ("renyi_efficiency", ([2, 1, 1], 2, 4), math.log(8 / 3) / math.log(4)),
        ("renyi_efficiency", ([2, 1, 1], math.inf, 4), 1 / 2),
        # No power of a small frequency underflows.
        ("renyi_efficiency", ([10**12, *[1] * 999], 300, 1000), 0.0),
        ("renyi_efficiency", ([1] * 1000, 300, 1000), 1.0),
        # Zeros count as types of the vocabulary only.
        ("renyi_efficiency", ([3, 0, 1, 0], 2.5, 4), renyi_efficiency([3, 1], n_types=4)),
        *(("renyi_efficiency", (counts, 2.5, 4), 0.0) for counts in ([], [0, 0])),
        ("renyi_efficiency", ([5], 2.5, 1), 0.0),
        ("renyi_efficiency", (PUBLISHED,), 0.8265064834225245),
        ("renyi_entropy", (PUBLISHED,), 1.653012966845049),
        ("shannon_efficiency", (PUBLISHED,), 0.9211854965885544),
        ("utilization", ([3, 0, 1, 0], 4), 0.5),
        ("utilization", ([], 0), 0.0),
    ],
)
def test_by_hand(metric, arguments, value):
    compute = getattr(formulas, metric)
    if len(arguments) == 3:
        *arguments, n_types = arguments
        compute = lambda *given: renyi_efficiency(*given, n_types=n_types)  # noqa: E731
    assert compute(*arguments) == pytest.approx(value, rel=1e-12, abs=1e-6)


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2, 2.5, 10, math.inf])
def test_renyi_efficiency_lies_between_one_token_for_all_and_all_alike(alpha):
    assert renyi_efficiency([7] * 8, alpha, n_types=8) == pytest.approx(1.0)
    assert renyi_efficiency([1000], alpha, n_types=8) == 0.0
    assert 0 < renyi_efficiency([100, 10, 1], alpha, n_types=8) < 1


def test_renyi_efficiency_is_continuous_at_one_and_falls_with_the_order():
    counts = [50, 20, 20, 5, 5, 1]
    near = [renyi_efficiency(counts, alpha, n_types=8) for alpha in (1 - 1e-6, 1, 1 + 1e-6)]
    assert max(near) - min(near) < 1e-5
    falling = [renyi_efficiency(counts, alpha, n_types=8) for alpha in (0, 1, 2, 2.5, 100, math.inf)]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("alpha", [-1, math.nan])
def test_an_order_that_makes_no_sense(alpha):
    with pytest.raises(OptionError, match="order of a Rényi entropy"):
        renyi_efficiency([1, 2], alpha, n_types=4)


def test_utilization_counts_what_occurs():
    counts = Usage.of(train("ab", vocab_size=257, pattern="none"), Counts.of("abc", "none")).remaining
    assert utilization(counts.values(), 257) == 2 / 257  # ab and c


def test_entropies_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed; it is held against it where it is")
    rng = random.Random(1)
    for _ in range(50):
        counts = [rng.randrange(1, 10 ** rng.randrange(1, 6)) for _ in range(rng.randrange(1, 200))]
        assert renyi_entropy(counts, 1) == pytest.approx(stats.entropy(counts, base=2), abs=1e-9)


def test_efficiencies_are_those_of_tokenization_scorer():
    scorer = pytest.importorskip("tokenization_scorer", reason="tokenization-scorer is not installed")
    rng = random.Random(2)
    for _ in range(20):
        words = rng.choices([f"w{i}" for i in range(rng.randrange(2, 60))], k=rng.randrange(50, 500))
        counts, text = Counter(words).values(), [" ".join(words)]
        if len(counts) > 1:
            for order in (0.5, 2, 2.5, 3):
                theirs = scorer.score(text, metric="renyi", power=order)
                assert renyi_efficiency(counts, order) == pytest.approx(theirs, rel=1e-9)
            assert shannon_efficiency(counts) == pytest.approx(
                scorer.score(text, metric="shannon_efficiency"), rel=1e-9
            )
