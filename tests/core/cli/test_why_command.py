"""`bpescope why`: the founding examples step by step, and one step of a kept tokenizer."""

import json
from pathlib import Path

import pytest

from bpe_core import save, train
from bpe_core.cli.main import main

TEXT = "low low low lower lowest\nnewest newest widest\n" * 3


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text(TEXT)
    return path


def test_sennrichs_example_is_printed_step_by_step(capfd: pytest.CaptureFixture[str]) -> None:
    """The table, the choice among ties, the words before and after, as the article prints them."""
    assert main(["why", "--preset", "S2"]) == 0
    told = capfd.readouterr().out
    assert "  s + t      9          tied\n  e + s      9          tied\n  w + e      8" in told
    assert "Step 1: s + t → st (id 257)\n  2 pairs occur 9 times; 'largest' takes this one:" in told
    assert "    first      e + s\n" in told and "    largest    s + t ●\n" in told
    assert "       6 × n e w e s t → n e w e st\n" in told
    assert "9 uses when made, 0 left in the end\n    step 2 est absorbed 9\n" in told
    assert told.count("\nAfter step") == 6


def test_one_step_of_a_kept_tokenizer(corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    kept = corpus.with_suffix(".json")
    save(train(TEXT, vocab_size=266), kept)
    assert main(["why", "-t", str(kept), "--step", "1", str(corpus)]) == 0
    told = capfd.readouterr().out
    assert told.startswith("Step 1: ") and "words.txt:1: [l·o]w low" in told
    assert main(["why", "-t", str(kept), "--step", "2", "--json", str(corpus)]) == 0
    body = json.loads(capfd.readouterr().out)
    assert body["step"] == 2 and body["places"][0]["name"].endswith("words.txt")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "Name the tokenizer with -t"),
        ("-t gpt.json", "Name the texts"),
        ("--preset S2 --step 7", "There is no step 7; this vocabulary has the steps 0 to 6."),
        ("-t gpt.json missing.txt", "no such file"),
    ],
)
def test_what_cannot_be_told_is_one_sentence(
    arguments: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(train(TEXT, vocab_size=266), "gpt.json")
    assert main(["why", *arguments.split()]) == 2
    error = capfd.readouterr().err
    assert sentence in error and error.count("\n") == 1
