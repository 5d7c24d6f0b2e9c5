"""Experiments, each against the slow definition: what is learned, and that encoding gives what training ended with."""

import random
from pathlib import Path

import pytest
from amounts import amount

from bpe_core import load
from bpe_core import reference as oracle
from bpe_core.cli.main import main
from bpe_core.trainer.ties import TIES


@amount(12, 100)
def test_superbpe_is_two_trainings_of_the_oracle(amount: int, tmp_path: Path) -> None:
    """The first merges are learned from words, the others from whole texts in which these have been made."""
    for seed in range(amount):
        r = random.Random(seed)
        ties, step, n_merges = r.choice(TIES), r.randint(1, 12), r.randint(13, 40)
        words = ["".join(r.choices("abc", k=r.randint(1, 3))) for _ in range(6)]
        texts = [" ".join(r.choices(words, k=r.randint(5, 30))) for _ in range(3)]
        folder = tmp_path / f"texts{seed}"
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"{number}.txt").write_text(text)
        out = tmp_path / "out.json"
        specials = r.choice([[], ["--special", "<s>"]])
        size = 256 + n_merges + len(specials) // 2
        command = ["train", str(folder), "-o", str(out), "--vocab-size", str(size), "--ties", ties, *specials]
        command += ["--pattern", "words", "--experiment", f"superbpe={step}"]
        assert main(command) == 0
        first = oracle.train([word.encode() for text in texts for word in text.split()], step, ties)
        given = [row[:2] for row in first]
        expected = oracle.train([text.encode() for text in texts], n_merges, ties, given=given)
        learned = load(out)
        assert learned.record and learned.record.n_given == len(first)
        assert learned.record.experiment == f"superbpe={step}"
        assert [(*merge, *of) for merge, of in zip(learned.merges, learned.record.steps, strict=True)] == expected
        merges = [row[:3] for row in expected]
        for text in texts:
            assert learned.encode_ordinary(text) == oracle.encode(text.encode(), merges)
        assert sum(len(learned.encode_ordinary(text)) for text in texts) == learned.record.steps[-1][2]
        assert list(learned.special_tokens.values()) == [size - 1] * bool(specials)
        assert main([*command, "--resume"]) == 0
        assert load(out).merges == learned.merges


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["superbpe"], "names no step"),
        (["superbpe=0"], "names no step"),
        (["other=3"], "superbpe=STEP"),
        (["superbpe=44"], "name an earlier step"),
        (["superbpe=4", "--sample", "1/2"], "does not go together with --sample"),
        (["superbpe=4", "--end-of-word", "</w>"], "does not go together with an end-of-word marker"),
    ],
)
def test_what_is_no_experiment(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("low lower lowest")
    command = ["train", str(tmp_path / "a.txt"), "-o", str(tmp_path / "o.json"), "--vocab-size", "300", "--experiment"]
    assert main([*command, *arguments]) == 2
    assert said in capsys.readouterr().err
