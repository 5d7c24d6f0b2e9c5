"""The presets: each of the founding examples is run again and comes out, in the engine and at the prompt."""

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
            "S2-prose differs from what its article states: tokens made, in order: "
            "we wes west west</w> lo ne newest</w> low low</w>, not es est lo low"
        )
    else:
        assert sentence.startswith(f"{name} matches the published result: ")


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
            f"S1 does not match the published result: {found}"
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
    differs = "differs from what its article states: tokens made, in order: we wes"
    assert (
        differs
        if name == "S2-prose"
        else "matches the published result: 20 merges, 109 tokens left"
    ) in shown
    assert load(out).step == PRESETS[name].n_merges


def test_a_preset_needs_no_file_and_takes_no_text(tmp_path, capsys):
    assert main(["train", "--preset", "S3"]) == 0
    assert main(["train", "--preset", "S3", str(tmp_path)]) == 2
    assert "has its own text" in capsys.readouterr().err
    assert main(["train", str(tmp_path)]) == 2
    assert "with -o, the file" in capsys.readouterr().err
