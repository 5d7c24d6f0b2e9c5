"""Experiments, each against the slow definition: what is learned, and that encoding gives what training ended with."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from amounts import amount

from bpe_core import Tokenizer, load, save
from bpe_core import reference as oracle
from bpe_core.cli.main import main
from bpe_core.cli.training_arguments import first_vocabulary, last_rules, training_arguments
from bpe_core.trainer.experiment import SuperBPE
from bpe_core.trainer.ties import TIES
from bpe_core.vocabulary import ID_LAYOUTS


@amount(12, 100)
def test_superbpe_is_two_trainings_of_the_oracle(
    amount: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        specials = r.choice([[], ["--special", "<s>", "--special", "<t>"]])
        layout = r.choice(ID_LAYOUTS)
        size = 256 + n_merges + len(specials) // 2
        asked = [str(folder), "--vocab-size", str(size), "--ties", ties, *specials, "--id-layout", layout]
        asked += ["--pattern", "words", "--experiment", f"superbpe={step}"]
        command = ["train", "-o", str(out), *asked]
        assert main(command) == 0
        first = oracle.train([word.encode() for text in texts for word in text.split()], step, ties)
        base = 2 * (layout == "specials-first" and bool(specials))
        given = [row[:2] for row in first]
        expected = oracle.train([text.encode() for text in texts], n_merges, ties, given=given)
        learned = load(out)
        record = learned.record
        assert record and record.n_given == len(first)
        assert (record.experiment, record.pattern, record.first_pattern) == (f"superbpe={step}", "none", "words")
        merges = [tuple(part - base for part in merge) for merge in learned.merges]
        assert [(*merge, *of) for merge, of in zip(merges, record.steps, strict=True)] == expected
        for text in texts:
            ids = [token - base for token in learned.encode_ordinary(text)]
            assert ids == oracle.encode(text.encode(), merges)
        # The app adds the merges that it is told of to this vocabulary.
        rules = last_rules(training_arguments(asked), None)
        vocabulary = first_vocabulary(rules, None)
        assert vocabulary.n_merges == 0 and vocabulary.extended(learned.merges).base == learned.vocabulary.base
        assert vocabulary.special_tokens == learned.special_tokens
        assert (rules.experiment, rules.pattern, rules.n_merges) == (SuperBPE(step), "none", n_merges)
        assert sum(len(learned.encode_ordinary(text)) for text in texts) == record.steps[-1][2]
        places = [0, 1] if base else [size - 2, size - 1]
        assert list(learned.special_tokens.values()) == places[: len(specials) // 2]
        assert main([*command, "--resume"]) == 0
        assert load(out).merges == learned.merges
    assert main([*command[:-1], f"superbpe={step % 11 + 1}", "--resume"]) == 2
    told = capsys.readouterr().err
    assert (
        "was learned with the experiment" in told and f"behind {len(first):,} that were learned within pieces" in told
    )
    of_old = replace(record, first_pattern="")
    save(Tokenizer(learned.vocabulary, learned.pattern, record=of_old), out)
    assert main([*command, "--resume"]) == 2
    assert "is of an older version" in capsys.readouterr().err


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
