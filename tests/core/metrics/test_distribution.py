"""Single numbers about a tokenizer, checked where they can be worked out by hand."""

import math
import random
from collections import Counter

import pytest

from bpe_core import metrics
from bpe_core.auditing import token_counts
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.trainer import train

S0 = (
    "Consider this as a trainig text and this can be as big as you want and be carefull\n"
    "while choosing the data because wrong type of data can lead to lots of irregularities"
)


def test_the_compression_of_a_text_one_can_count_on_fingers():
    # aaabdaaabac becomes aaab d aaab a c
    assert metrics.bytes_per_token(11, 5) == 2.2
    assert metrics.characters_per_token(len("おはようございます"), 4) == 2.25
    assert metrics.bytes_per_token(len("おはようございます".encode()), 4) == 6.75


def test_nothing_compresses_to_nothing():
    assert metrics.bytes_per_token(0, 0) == metrics.characters_per_token(0, 0) == metrics.fertility(0, 0) == 0.0


def test_fertility_is_tokens_a_word():
    text = "low low low low low lower lower widest widest widest newest newest newest newest newest newest"
    assert metrics.count_words(text) == 16
    assert metrics.fertility(35, metrics.count_words(text)) == 35 / 16


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 2, 2.5, 10, math.inf])
def test_renyi_efficiency_lies_between_one_token_for_all_and_all_alike(alpha):
    assert metrics.renyi_efficiency([7] * 8, alpha, n_types=8) == pytest.approx(1.0)
    assert metrics.renyi_efficiency([1000], alpha, n_types=8) == 0.0
    assert 0 < metrics.renyi_efficiency([100, 10, 1], alpha, n_types=8) < 1


def test_renyi_efficiency_by_hand():
    # Half, a quarter, a quarter of the tokens, in a vocabulary of four.
    assert metrics.renyi_efficiency([2, 1, 1], 1, n_types=4) == pytest.approx(1.5 / 2)  # Shannon: 1.5 bits of 2
    assert metrics.renyi_efficiency([2, 1, 1], 2, n_types=4) == pytest.approx(math.log(8 / 3) / math.log(4))
    assert metrics.renyi_efficiency([2, 1, 1], math.inf, n_types=4) == pytest.approx(1 / 2)
    assert metrics.renyi_efficiency([2, 1, 1], 0, n_types=4) == pytest.approx(math.log(3) / math.log(4))


def test_renyi_efficiency_is_continuous_at_one_and_falls_with_the_order():
    counts = [50, 20, 20, 5, 5, 1]
    near = [metrics.renyi_efficiency(counts, alpha, n_types=8) for alpha in (1 - 1e-6, 1, 1 + 1e-6)]
    assert max(near) - min(near) < 1e-5
    falling = [metrics.renyi_efficiency(counts, alpha, n_types=8) for alpha in (0, 1, 2, 2.5, 100, math.inf)]
    assert falling == sorted(falling, reverse=True)


def test_tokens_that_do_not_occur_change_the_vocabulary_but_not_the_entropy():
    assert metrics.renyi_efficiency([3, 0, 1, 0], n_types=4) == metrics.renyi_efficiency([3, 1], n_types=4)
    assert metrics.renyi_efficiency([], n_types=4) == metrics.renyi_efficiency([0, 0], n_types=4) == 0.0
    assert metrics.renyi_efficiency([5], n_types=1) == 0.0


@pytest.mark.parametrize("alpha", [-1, math.nan])
def test_an_order_that_makes_no_sense(alpha):
    with pytest.raises(OptionError, match="order of a Rényi entropy"):
        metrics.renyi_efficiency([1, 2], alpha, n_types=4)


def test_very_frequent_tokens_do_not_underflow():
    assert metrics.renyi_efficiency([10**12, *[1] * 999], 300, n_types=1000) == pytest.approx(0, abs=1e-6)
    assert metrics.renyi_efficiency([1] * 1000, 300, n_types=1000) == pytest.approx(1)


def test_utilization_counts_what_occurs():
    counts = token_counts(train("ab", vocab_size=257, pattern="none"), Counts.of("abc", "none"))
    assert metrics.utilization(counts.values(), 257) == 2 / 257  # ab and c
    assert metrics.utilization([], 0) == 0.0


def test_the_published_example():
    counts = Counter(["pick", "@@ed", "pick", "@@l", "@@ed", "pick", "@@les"]).values()
    assert metrics.renyi_efficiency(counts) == pytest.approx(0.8265064834225245, rel=1e-12)
    assert metrics.renyi_entropy(counts) == pytest.approx(1.653012966845049, rel=1e-12)
    assert metrics.shannon_efficiency(counts) == pytest.approx(0.9211854965885544, rel=1e-12)


def test_entropies_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed; it is held against it where it is")
    rng = random.Random(1)
    for _ in range(50):
        counts = [rng.randrange(1, 10 ** rng.randrange(1, 6)) for _ in range(rng.randrange(1, 200))]
        assert metrics.renyi_entropy(counts, 1) == pytest.approx(stats.entropy(counts, base=2), abs=1e-9)


def test_efficiencies_are_those_of_tokenization_scorer():
    scorer = pytest.importorskip("tokenization_scorer", reason="tokenization-scorer is not installed")
    rng = random.Random(2)
    for _ in range(20):
        words = rng.choices([f"w{i}" for i in range(rng.randrange(2, 60))], k=rng.randrange(50, 500))
        counts, text = Counter(words).values(), [" ".join(words)]
        if len(counts) > 1:
            for order in (0.5, 2, 2.5, 3):
                theirs = scorer.score(text, metric="renyi", power=order)
                assert metrics.renyi_efficiency(counts, order) == pytest.approx(theirs, rel=1e-9)
            assert metrics.shannon_efficiency(counts) == pytest.approx(
                scorer.score(text, metric="shannon_efficiency"), rel=1e-9
            )
