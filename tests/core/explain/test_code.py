"""The reference run line by line: what it sets at a merge is what a training counted, and its pieces are the tokens."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from bpe_core import TextError, Vocabulary, reference, train
from bpe_core.content.samples import SAMPLES
from bpe_core.corpus import Counts
from bpe_core.explain.code import (
    SHORT_SOURCE,
    SOURCE,
    CodeLine,
    encode_in_code,
    merge_in_code,
)
from bpe_core.explain.merge_choice import CorpusPiece, explain
from bpe_core.explain.pair_counts import PairCounts
from bpe_core.tokenizer.tie_rules import TIES


def value(run: list[CodeLine], name: str):
    return [line.values[name] for line in run if name in line.values]


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"id_layout": "specials-first", "special_tokens": ["<s>"]},
        {"end_of_word": "§"},
    ],
)
def test_on_all_of_a_small_corpus_each_line_has_what_the_training_had(ties, more):
    text = " ".join(
        random.Random(ties).choices(
            ["low", "lower", "newest", "widest", "née", "aaaa"], k=24
        )
    )
    tokenizer = train(text, vocab_size=280, ties=ties, pattern="words", **more)
    counts = PairCounts(tokenizer, Counter(text.split()))
    assert tokenizer.step > 15 and tokenizer.record
    for step, (count, tied, *_) in enumerate(tokenizer.record.steps, 1):
        words = explain(counts, step, ties).words
        run = merge_in_code(tokenizer.vocabulary, step, words, ties)
        left, right, token = tokenizer.merges[step - 1]
        assert (value(run, "best"), value(run, "new"), value(run, "most")) == (
            [(left, right)],
            [token],
            [count],
        )
        assert (
            len(value(run, "tied")[0]) == tied
            and value(run, "counts")[0][left, right] == count
        )
        before, after = zip(
            *(word[1:] for word in words for _ in range(word.times)), strict=True
        )
        assert value(run, "words") == [[*map(list, before)], [*map(list, after)]]
        assert (
            "for new in" in SOURCE[run[0].number - 1]
            and "rows.append" in SOURCE[run[-1].number - 1]
        )


TEXTS = {
    "wikipedia": "aaabdaaabac",
    "sennrich": " ".join(["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3),
    "runs": "aaaa aaaaa aaaaaaa a aa",
    "accents": "née né naïve naïveté 雨 雨雨 😊😊 😊",
    "random": "".join(random.Random(7).choices("ab ", k=400)),
    "english": next(
        sample.path for sample in SAMPLES if "english" in sample.name
    ).read_text()[:3000],
}


def test_the_short_code_has_twelve_lines():
    assert len([line for line in SHORT_SOURCE if line]) == 12


@pytest.mark.parametrize("name", TEXTS)
def test_the_twelve_lines_learn_the_merges_of_the_reference(name):
    pieces = [word.encode() for word in TEXTS[name].split()]
    rows = reference.train(pieces, 25, "first")
    assert len(rows) > 2
    for n_merges, (*best, new, count, _, n_tokens) in enumerate(rows, 1):
        variables = {"words": [list(piece) for piece in pieces], "n_merges": n_merges}
        exec("\n".join(SHORT_SOURCE), variables)
        assert variables["best"] == tuple(best)
        assert variables["new"] == new
        assert variables["counts"][variables["best"]] == count
        assert sum(map(len, variables["words"])) == n_tokens


def test_the_short_code_has_the_values_of_the_step():
    text = TEXTS["sennrich"]
    tokenizer = train(text, vocab_size=270, pattern="words")
    counts = PairCounts(tokenizer, Counter(text.split()))
    for step, (count, *_) in enumerate(tokenizer.record.steps, 1):
        words = explain(counts, step).words
        run = merge_in_code(tokenizer.vocabulary, step, words, is_short=True)
        left, right, token = tokenizer.merges[step - 1]
        assert value(run, "best") == [(left, right)]
        assert value(run, "new") == [token]
        assert value(run, "counts")[0][left, right] == count
        before, after = zip(
            *(word[1:] for word in words for _ in range(word.times)), strict=True
        )
        assert value(run, "words") == [[*map(list, before)], [*map(list, after)]]
        assert [SHORT_SOURCE[line.number - 1].split()[0] for line in run] == [
            "for",
            "counts",
            "best",
            "words",
        ]


def test_of_a_large_corpus_some_words_are_taken_that_lead_to_the_same_merge():
    text = next(
        sample.path for sample in SAMPLES if "english" in sample.name
    ).read_text()
    tokenizer = train(text, vocab_size=400)
    counts = PairCounts(tokenizer, Counter(tokenizer.splitter.split(text)))
    runs = [
        merge_in_code(tokenizer.vocabulary, step, explain(counts, step).words)
        for step in range(1, 145)
    ]
    assert [value(run, "best")[0] for run in runs] == [
        merge[:2] for merge in tokenizer.merges
    ]
    assert sum(len(value(run, "words")[0]) > 1 for run in runs) > 135
    assert value(merge_in_code(tokenizer.vocabulary, 99), "words")[1] == [
        [tokenizer.merges[98][2]]
    ]


def test_words_with_a_fraction_as_weight_run_once():
    low = Counts.of("low lower"), Fraction(1, 2)
    corpus = Counts.weighted([low, (Counts.of("newest"), 3)])
    tokenizer = train(corpus, vocab_size=259)
    words = explain(PairCounts(tokenizer, corpus.pieces), 3).words
    assert any(word.times.denominator > 1 for word in words)
    run = merge_in_code(tokenizer.vocabulary, 3, words)
    assert value(run, "best") == [tokenizer.merges[2][:2]]


def test_the_loop_of_encoding_ends_in_the_tokens_at_any_step():
    text = "".join(random.Random(1).choices("abé ", k=900))
    vocabulary = train(text, vocab_size=300, pattern="none").vocabulary
    for step in range(1, vocabulary.n_merges + 1):
        at, piece = vocabulary.at(step), text[step : 2 * step]
        ids = value(run := encode_in_code(at, piece), "ids")
        assert ids[0] == [*piece.encode()] and ids[-1] == [*at.encode(piece.encode())]
        assert len(value(run, "left")) == len(ids) - 1


def test_what_the_plain_algorithm_does_not_do_is_said():
    odd = Vocabulary.of_bytes().extended(
        [(98, 99, 256), (97, 98, 257), (99, 256, 258), (257, 258, 259)]
    )
    with pytest.raises(TextError, match="own order of merges"):
        merge_in_code(odd, 4)
    assert value(merge_in_code(odd, 1, [CorpusPiece(9, (97,), (97,))]), "words")[0] == [
        [98, 99]
    ], "of other texts, none"
    for piece in "", "a" * 201:
        with pytest.raises(TextError, match="1 to 200 bytes"):
            encode_in_code(odd, piece)
