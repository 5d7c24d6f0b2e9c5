"""Boundaries, agreement, measures and comparisons, each held against a recount that goes another way."""

import json
from collections import Counter
from itertools import accumulate

import pytest

from bpe_core import load, save, train
from bpe_core.metrics import merges_in_common, overlap
from bpe_core.metrics.boundaries import (
    Agreement,
    EncodedText,
    compared,
    edit_survival,
    encoded,
    morphological_alignment,
)
from bpe_core.metrics.comparison import Comparison, script_runs, sections
from tests.nasty import nasty_texts

TEXT = "the theme of the other thesis, the thing that they thought through 12345 times; мир и 世界 नमस्ते\n" * 9


@pytest.fixture(scope="module")
def pair():
    return train(TEXT, vocab_size=300), train(TEXT, vocab_size=340, pattern="gpt2")


def slow_boundaries(tokenizer, text):
    """By decoding ever more tokens; for tokenizers that keep every byte."""
    ids = tokenizer.encode_ordinary(text)
    return [len(tokenizer.decode_bytes(ids[:n])) for n in range(1, len(ids))]


def test_boundaries_are_where_decoding_ever_more_tokens_ends(pair):
    for text in ["", "a", TEXT, *nasty_texts(60)]:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for tokenizer in pair:
            cuts = encoded(tokenizer, text).cuts
            assert [end for end in range(1, len(cuts) - 1) if cuts[end]] == slow_boundaries(tokenizer, text)


def test_a_pattern_that_drops_white_space_keeps_places():
    tokenizer = train("low low lower", vocab_size=257, pattern="words")
    found = encoded(tokenizer, "  low lower ")
    assert [found.data[:end] for end in found.ends][-1].strip() == b"low lower"
    assert len(found.ids) == len(found.ends) == len(tokenizer.encode("  low lower "))


def test_a_tokenizer_that_changes_a_text_has_boundaries_in_the_text_as_it_was(pair, tmp_path):
    save(pair[0], tmp_path / "tokenizer.json", format="huggingface")
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps(file | {"normalizer": {"type": "Lowercase"}}))
    lower = load(tmp_path / "tokenizer.json")
    found = encoded(lower, "THE THEME")
    assert found.ids == pair[0].encode("the theme")
    assert list(found.ends) == list(encoded(pair[0], "the theme").ends)


def test_agreement_by_hand_and_with_oneself(pair):
    found, _ = compared(EncodedText(b"12345678", [], [1, 2, 5]), EncodedText(b"12345678", [], [2, 5, 6, 7]))
    assert (found.n_shared, found.recall, found.precision) == (2, 2 / 3, 2 / 4)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert Agreement().f1 == 1.0
    comparison = Comparison([pair[0], pair[0]])
    comparison.add("text", TEXT)
    assert comparison.pairs[0].agreement.f1 == 1.0 and overlap(pair[0], pair[0])[1:] == ([], [])
    assert comparison.pairs[0].examples(5) == [] and merges_in_common(pair[0], pair[0]) == pair[0].step


def slow_words(tokenizer, text):
    """(words, words without a boundary inside), walked through character by character."""
    cuts = set(slow_boundaries(tokenizer, text))
    offsets = [0, *accumulate(len(c.encode()) for c in text)]
    words, whole, start = 0, 0, None
    for index, character in enumerate(text + " "):
        if character.isspace():
            if start is not None:
                words += 1
                whole += not any(at in cuts for at in range(offsets[start] + 1, offsets[index]))
            start = None
        elif start is None:
            start = index
    return words, whole


def test_amounts_are_those_of_a_slow_recount(pair):
    for text in (TEXT, "", "one", " two words ", "12 345 6789 0.5", "a\u00a0бв\u3000世界th\u2028z"):
        comparison = Comparison(pair)
        comparison.add("text", text)
        total, scripts = comparison.total, comparison.scripts()
        assert total.n_bytes == len(text.encode()) == sum(script.n_bytes for script in scripts)
        for index, tokenizer in enumerate(pair):
            assert (total.n_words, total.n_whole_words[index]) == slow_words(tokenizer, text)
            assert comparison.token_counts[index] == Counter(tokenizer.encode(text))
            assert total.n_tokens[index] == len(tokenizer.encode(text))
            assert sum(script.n_tokens[index] for script in scripts) == total.n_tokens[index]
            assert sum(script.n_whole_words[index] for script in scripts) == total.n_whole_words[index]
            assert sum(n * times for n, times in comparison.token_lengths(index).items()) == total.n_bytes


def test_numbers_are_counted_by_how_they_are_cut():
    tokenizer = train("123 456 " * 20, vocab_size=256 + 4, pattern="gpt4")
    ids = [tokenizer.decode_bytes([id]).strip() for id in tokenizer.encode("1234567")]
    comparison = Comparison([tokenizer])
    for text in ("1234567 123", "9 " + "1" * 50):  # of a long run 40 digits count
        comparison.add("text", text)
    ways = comparison.number_splits[0]
    assert ways[tuple(map(len, ids))] == ways[3,] == ways[1,] == 1 and sorted(map(sum, ways)) == [1, 3, 7, 40]


def test_every_character_belongs_to_one_script():
    for text in [TEXT, "", "12 !", "\u0378x", *nasty_texts(40, seed=9)]:
        runs = list(script_runs(text))
        assert "".join(text[start:end] for _, start, end in runs) == text
        assert all(runs[i][2] == runs[i + 1][1] and runs[i][0] != runs[i + 1][0] for i in range(len(runs) - 1))
    assert [run[0] for run in script_runs("12 hello мир! 中文abc")] == ["Latin", "Cyrillic", "Han", "Latin"]
    assert list(script_runs("12 !")) == [("no script", 0, 4)]


def test_morphemes_that_are_tokens_are_recalled():
    tokenizer = train("un break able un break able", vocab_size=256 + 9, pattern="words")
    found = morphological_alignment(tokenizer, [("un", "break", "able")])
    assert (found.n_first, found.recall) == (2, 1.0)
    assert morphological_alignment(tokenizer, []).f1 == 1.0


def test_an_edit_leaves_far_boundaries_alone(pair):
    assert edit_survival(pair[0], "") == edit_survival(pair[0], "a") == 1.0
    assert edit_survival(pair[0].at(0), TEXT.encode("ascii", "ignore").decode(), n_edits=20) == 1.0


def test_sections_are_texts_of_their_own():
    assert sections("before\n# One\n\na\nb\n\n# Two\n## c\n") == [("One", "a\nb", 4), ("Two", "## c", 8)]
    assert sections("\f\u2028x\n# One\na\f\n# Two\nb") == [("One", "a\f", 3), ("Two", "b", 5)], "LF ends a line"
    assert sections("nothing") == []
