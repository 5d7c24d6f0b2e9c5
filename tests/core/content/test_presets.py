"""The presets: each of the founding examples is run again and comes out, in the engine and at the prompt."""

import re

import pytest

from bpe_core import Trainer, load, save, train
from bpe_core.cli.main import main
from bpe_core.content.presets import PRESETS, verdict
from bpe_core.reference import train as slow
from bpe_core.visible import token_label

PROSE = PRESETS["S2-prose"]


@pytest.mark.parametrize("name", PRESETS)
def test_it_comes_out(name):
    preset = PRESETS[name]
    lines = preset.check(preset.train())
    assert [line for line in lines if not line.is_as_expected] == []
    assert len(lines) > 3


def test_another_training_does_not():
    preset = PRESETS["S0"]
    other = train(preset.documents, vocab_size=276, pattern="gpt4")
    lines = preset.check(other)
    assert not all(line.is_as_expected for line in lines)
    came_out, sentence = verdict("S0", lines)
    assert not came_out and sentence.startswith("S0 did not come out as promised: ")


@pytest.mark.parametrize("name", PRESETS)
def test_the_verdict_says_what_an_article_tells_and_is_not_so(name):
    came_out, sentence = verdict(name, PRESETS[name].check(PRESETS[name].train()))
    assert came_out
    if name == "S2-prose":
        assert sentence == (
            "S2-prose differs from what its article states: tokens made, in order: "
            "we wes west west</w> lo ne newest</w> low low</w>, not es est lo low"
        )
    else:
        assert sentence.startswith(f"{name} came out as promised: ")


@pytest.mark.parametrize("ties", ["first", "lowest", "lowest-hf", "largest"])
def test_no_rule_for_ties_walks_as_the_prose_does(ties):
    """It tells es, est, lo, low; but what comes of the four pairs at 8 goes on being more frequent than l + o."""
    trainer = Trainer(PROSE.documents, vocab_size=261, pattern="words", ties=ties, end_of_word="</w>")
    walk = [merge.token_bytes for merge in trainer]
    assert len(walk) == 4
    assert walk != [b"es", b"est", b"lo", b"low"]


@pytest.mark.parametrize("name", PRESETS)
def test_tokens_are_shown_as_their_bytes_and_never_as_numbers(name):
    preset = PRESETS[name]
    labels = next(line for line in preset.check(preset.train()) if line.what.startswith("tokens made")).found
    assert not re.search(r"<\d+>", labels)
    assert labels.split()[0] == token_label(preset.tokens[0])


@pytest.mark.parametrize("ties", ["first", "lowest", "largest"])
def test_the_end_is_a_symbol_like_any_other(ties):
    """A byte that no text has, put behind each word, gives the same counts."""
    words = [word.encode() + b"\xff" for word in PROSE.documents[0].split()]
    expected = [tuple(row[3:]) for row in slow(words, 12, ties)]
    trainer = Trainer(PROSE.documents, vocab_size=257 + 12, pattern="words", ties=ties, end_of_word="</w>")
    assert [(merge.count, merge.ties, merge.n_tokens) for merge in trainer] == expected


@pytest.mark.parametrize("id_layout", ["bytes-first", "specials-first"])
def test_the_end_is_kept_in_the_file(id_layout, tmp_path):
    tokenizer = train(
        PROSE.documents,
        vocab_size=270,
        pattern="words",
        end_of_word="</w>",
        special_tokens=["<s>"],
        id_layout=id_layout,
    )
    save(tokenizer, tmp_path / "mine.json")
    again = load(tmp_path / "mine.json")
    assert again.record == tokenizer.record
    assert again.encode("lower newest wide <s>", allowed_special="all") == tokenizer.encode(
        "lower newest wide <s>", allowed_special="all"
    )
    assert again.vocabulary.end_of_word == (256 if id_layout == "bytes-first" else 257)


@pytest.mark.parametrize("name", ["S0", "S2-prose"])
def test_at_the_prompt(name, tmp_path, capsys):
    out = tmp_path / "out.json"
    assert main(["train", "--preset", name, "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "as promised: merges" in shown
    assert "NOT" not in shown
    assert ("not as its article states: tokens made, in order: we wes" in shown) == (name == "S2-prose")
    assert load(out).step == PRESETS[name].n_merges


def test_a_preset_needs_no_file_and_takes_no_text(tmp_path, capsys):
    assert main(["train", "--preset", "S3"]) == 0
    assert main(["train", "--preset", "S3", str(tmp_path)]) == 2
    assert "has its own text" in capsys.readouterr().err
    assert main(["train", str(tmp_path)]) == 2
    assert "with -o, the file" in capsys.readouterr().err
