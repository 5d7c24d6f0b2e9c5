"""The presets: each of the founding examples is run again and comes out, in the engine and at the prompt."""

from itertools import pairwise

import pytest

from bpe_core import Tokenizer, Trainer, load, train
from bpe_core.cli.main import main
from bpe_core.content.presets import PRESETS
from bpe_core.reference import train as slow

PROSE = PRESETS["S2-prose"]


@pytest.mark.parametrize("name", PRESETS)
def test_it_comes_out_and_what_an_article_states_and_is_not_so_is_said(name):
    came_out, sentence = PRESETS[name].verdict(PRESETS[name].train())
    assert came_out
    if name == "S2-prose":
        assert sentence == (
            "Differs from what its article states: tokens made, in order: "
            "we wes west west</w> lo ne newest</w> low low</w>, not es est lo low"
        )
    else:
        assert sentence.startswith("Matches the published result: ")


def test_sennrichs_example_has_the_merges_of_algorithm_1():
    """As the paper writes it: a dictionary of words; max takes the pair that was counted first."""
    words = {
        ("l", "o", "w", "</w>"): 5,
        ("l", "o", "w", "e", "r", "</w>"): 2,
        ("n", "e", "w", "e", "s", "t", "</w>"): 6,
        ("w", "i", "d", "e", "s", "t", "</w>"): 3,
    }
    merges = []
    for _ in range(10):
        counts = {}
        for word, count in words.items():
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + count
        best = max(counts, key=counts.get)
        merges.append("".join(best))
        words = {joined(word, best): count for word, count in words.items()}
    preset = PRESETS["sennrich"]
    assert merges == preset.tokens
    assert sum(len(word) * count for word, count in words.items()) == preset.n_tokens


def joined(word, pair):
    """A word in which each occurrence of a pair is one symbol."""
    symbols = []
    for symbol in word:
        if symbols and (symbols[-1], symbol) == pair:
            symbols[-1] += symbol
        else:
            symbols.append(symbol)
    return tuple(symbols)


def test_wikipedias_example_becomes_XdXac():
    ids = PRESETS["wikipedia"].train().encode_ordinary("aaabdaaabac")
    assert ids == [258, ord("d"), 258, ord("a"), ord("c")]


def test_another_training_does_not():
    preset = PRESETS["S1"]
    right = preset.train()
    fewer = train(preset.documents, vocab_size=261, pattern="none")
    others = train(preset.documents, vocab_size=262, pattern="none", ties="largest")
    recoded = Tokenizer(right.vocabulary, r"\w", record=right.record)
    for tokenizer, found in (
        (fewer, "5 merges, "),
        (others, "tokens made, in order: "),
        (recoded, "ids of 'newest': "),
    ):
        came_out, sentence = preset.verdict(tokenizer)
        assert not came_out and sentence.startswith(
            f"Does not match the published result: {found}"
        )


@pytest.mark.parametrize("ties", ["first", "lowest", "largest"])
def test_the_end_is_a_symbol_like_any_other(ties):
    """A byte that no text has, put behind each word, gives the same counts."""
    words = [word.encode() + b"\xff" for word in PROSE.documents[0].split()]
    expected = [tuple(row[3:]) for row in slow(words, 12, ties)]
    trainer = Trainer(
        PROSE.documents,
        vocab_size=257 + 12,
        pattern="words",
        ties=ties,
        end_of_word="</w>",
    )
    assert [(merge.count, merge.ties, merge.n_tokens) for merge in trainer] == expected


@pytest.mark.parametrize("name", ["S0", "S2-prose"])
def test_at_the_prompt(name, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["train", "--preset", name, "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    differs = "Differs from what its article states: tokens made, in order: we wes"
    assert (
        differs
        if name == "S2-prose"
        else "Matches the published result: 20 merges, 109 tokens left"
    ) in shown
    assert load(out).step == PRESETS[name].n_merges


def test_a_preset_needs_no_file_and_takes_no_text(tmp_path, capsys):
    assert main(["train", "--preset", "S3"]) == 0
    assert main(["train", "--preset", "S3", str(tmp_path)]) == 2
    assert "has its own text" in capsys.readouterr().err
    assert main(["train", str(tmp_path)]) == 2
    assert "with -o, the file" in capsys.readouterr().err
