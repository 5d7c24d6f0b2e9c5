"""The formulas of metrics, checked by hand and against libraries; each point of a curve is what encoding then gives."""

import math
import random
from collections import Counter
from dataclasses import replace

import pytest

from bpe_core import (
    OptionError,
    Tokenizer,
    Trainer,
    Vocabulary,
    load,
    metrics,
    save,
    train,
)
from bpe_core.content.presets import PRESETS
from bpe_core.corpus import Counts
from bpe_core.metrics import renyi_efficiency, training_curve
from bpe_core.tokenizer.tie_rules import TIES

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
        ("renyi_efficiency", (PUBLISHED, 1), 0.9211854965885544),
    ],
)
def test_by_hand(metric, arguments, value):
    assert getattr(metrics, metric)(*arguments) == pytest.approx(
        value, rel=1e-12, abs=1e-6
    )


def test_renyi_efficiency_is_continuous_at_one_and_falls_with_the_order():
    counts = [50, 20, 20, 5, 5, 1]
    near = [renyi_efficiency(counts, alpha) for alpha in (1 - 1e-6, 1, 1 + 1e-6)]
    assert max(near) - min(near) < 1e-5
    falling = [
        renyi_efficiency(counts, alpha) for alpha in (0, 1, 2, 2.5, 100, math.inf)
    ]
    assert falling == sorted(falling, reverse=True)


@pytest.mark.parametrize("alpha", [-1, math.nan])
def test_an_order_that_makes_no_sense(alpha):
    with pytest.raises(OptionError, match="order of a Rényi entropy"):
        renyi_efficiency([1, 2], alpha)


S0 = PRESETS["S0"].documents


def test_twenty_merges_are_a_curve_of_twenty_one_points_and_a_lossy_pattern_begins_above_one_byte_a_token():
    points = training_curve(train(S0, vocab_size=276, pattern="none"))
    assert len(points) == 21 and sum(point.saved for point in points) == 168 - 109
    assert (points[0].step, points[0].n_tokens, points[0].bytes_per_token) == (
        0,
        168,
        1.0,
    )
    assert (
        points[-1].step,
        points[-1].n_tokens,
        round(points[-1].bytes_per_token, 2),
    ) == (20, 109, 1.54)
    points = training_curve(train("low low", vocab_size=258, pattern="words"))
    assert [(point.n_tokens, point.bytes_per_token) for point in points] == [
        (6, 7 / 6),
        (4, 7 / 4),
        (2, 7 / 2),
    ]


def check(trainer: Trainer, pieces: dict[str, int]) -> None:
    trainer.learn(trainer.n_merges_wanted)
    tokenizer = trainer.tokenizer()
    points = training_curve(tokenizer)
    assert len(points) == tokenizer.step + 1
    for point in points:
        then, used = tokenizer.at(point.step), Counter[int]()
        for piece, n in pieces.items():
            for token in then.encode_piece(piece):
                used[token] += n
        assert (point.n_tokens, point.n_used) == (used.total(), len(used))
        assert point.n_vocab == then.n_tokens
        assert point.utilization == len(used) / point.n_vocab
        assert point.renyi_efficiency == pytest.approx(
            renyi_efficiency(used.values()), abs=1e-11
        )
    assert {token: n for token, n in trainer.token_counts().items() if n} == used


def test_every_point_is_what_encoding_the_corpus_gives():
    for seed in range(30):
        r = random.Random(seed)
        texts = [
            "".join(
                r.choices(r.choice(["ab", "abc ", "aé 😊", "a\n b"]), k=r.randrange(40))
            )
            for _ in range(5)
        ]
        pattern, ties = r.choice(("none", "words", "gpt4")), r.choice(TIES)
        options = r.choice(
            [
                {},
                {"special_tokens": ["<s>", "<e>"]},
                {"special_tokens": ["<s>"], "id_layout": "specials-first"},
            ]
        )
        if pattern == "words" and r.random() < 0.5:
            options = {**options, "end_of_word": r.choice(["</w>", "_"])}
        counts = Counts.of(texts, pattern)
        check(
            Trainer(counts, vocab_size=259 + r.randrange(25), ties=ties, **options),
            counts.pieces,
        )


def test_given_merges_have_points_too():
    old = train("abcabcabd", vocab_size=262, pattern="none").vocabulary
    counts = Counts.of("the abc of abc, and bcd", "none")
    check(Trainer(counts, vocab_size=270, start=old), counts.pieces)


def test_a_kept_tokenizer_has_the_same_curve(tmp_path):
    tokenizer = train(
        "low low lower", vocab_size=270, pattern="words", end_of_word="</w>"
    )
    save(tokenizer, tmp_path / "a.json")
    assert training_curve(load(tmp_path / "a.json")) == training_curve(tokenizer)
    assert training_curve(tokenizer.at(3)) == training_curve(tokenizer)[:4]


def test_without_a_record_there_is_no_curve_and_without_counts_no_use():
    with pytest.raises(OptionError, match="no record of a training"):
        training_curve(Tokenizer(Vocabulary.of_bytes(), "gpt4"))
    trained = train("abcabab", vocab_size=257, pattern="none")
    record = replace(trained.record, first_counts=())
    point = training_curve(Tokenizer(trained.vocabulary, "none", record=record))[1]
    assert (point.saved, point.n_used, point.utilization, point.renyi_efficiency) == (
        3,
        None,
        None,
        None,
    )
