"""What is told of trainings afterwards: the history, where two of them part, and what is exported."""

import csv
import json
import os
import random
from pathlib import Path

import pytest

from bpe_core import Tokenizer, load, save, train
from bpe_core.cli.main import main
from bpe_core.metrics.training_curve import TrainingCurve
from bpe_core.runs import RunDifference, TrainingRun
from bpe_core.tokenizer.training_record import TIES

WORDS = ["low"] * 5 + ["lower"] * 2 + ["widest"] * 3 + ["newest"] * 6


def trained(ties: str = "first", size: int = 270) -> Tokenizer:
    """A training with ties from its first step on."""
    return train(WORDS, vocab_size=size, pattern="words", ties=ties)


def test_until_where_two_trainings_are_the_same_and_what_followed():
    first, largest = trained(), trained("largest")
    difference = RunDifference.of(first, largest)
    assert difference.n_same == 0
    assert [next[:5] for next in difference.next] == ["e + s", "s + t"]
    assert list(difference.sentences("a", "b"))[:4] == [
        "Asked of a and b: ties first and largest.",
        "The same until step 0, then:",
        "  a: e + s, 9 times (one of 2 with this count)",
        "  b: s + t, 9 times (one of 2 with this count)",
    ]
    assert list(RunDifference.of(first, first).sentences("a", "b")) == [f"The same merges: all {first.step}."]
    told = list(RunDifference.of(first.at(4), first).sentences("a", "b"))
    assert told[0] == f"The same until step 4, where a ends; b has {first.step - 4} more."


def test_what_was_asked_for_otherwise_is_named():
    usual = trained()
    assert TrainingRun(Path(), usual).options == "pattern words, ties first"
    for asked, told in (
        ({"vocab_size": 280}, {"vocabulary": ("270", "280")}),
        ({"pattern": r"\S+"}, {"pattern": ("words", r"\S+")}),
        ({"min_count": 2}, {"min. count": ("1", "2")}),
        ({"max_token_length": 3}, {"longest token": ("none", "3")}),
        ({"end_of_word": "_"}, {"end of word": ("none", "_")}),
        ({"min_share": "1/50"}, {"least gain": ("none", "1/50")}),
        ({"special_tokens": ["<e>"]}, {"specials": ("none", "<e>")}),
        ({"id_layout": "specials-first"}, {"id layout": ("bytes-first", "specials-first")}),
    ):
        other = train(WORDS, **{"vocab_size": 270, "pattern": "words", **asked})
        assert RunDifference.of(usual, other).options == told
    same_words = train(WORDS[1:], vocab_size=270, pattern="words")
    assert RunDifference.of(usual, same_words).options.keys() == {"texts"}
    nobody_knows = Tokenizer(usual.vocabulary, "words")
    assert RunDifference.of(usual, nobody_knows).options == {}


def test_a_history_tells_of_starts_weights_and_samples(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(" ".join(WORDS * 20))
    command = ["train", "text.txt", "--vocab-size", "264", "-o"]
    for name, *options in (
        ("plain.json",),
        ("heavy.json", "--weight", "text.txt=3"),
        ("part.json", "--sample", "9/10"),
        ("further.json", "--extend", "plain.json", "--fork", "3"),
    ):
        assert main([*command, name, *options]) == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    _, _, *rows = capsys.readouterr().out.splitlines()
    told = {row.split()[0]: row.partition("reached  ")[2] for row in rows}
    assert told == {
        "plain.json": "pattern gpt4, ties first",
        "heavy.json": "pattern gpt4, ties first, weight text.txt 3",
        "part.json": "pattern gpt4, ties first, sample 9/10 of the bytes, seed 0",
        "further.json": "pattern gpt4, ties first, start from 3 merges",
    }


@pytest.mark.parametrize("seed", range(8))
def test_every_token_after_the_parting_is_in_both_or_in_one(seed):
    r = random.Random(seed)
    text = "".join(r.choices("abc ", k=120))
    a, b = (train(text, vocab_size=256 + r.randrange(5, 30), pattern="none", ties=r.choice(TIES)) for _ in range(2))
    difference = RunDifference.of(a, b)
    n = difference.n_same
    made = [{t.token_bytes(token) for _, _, token in t.merges[n:]} for t in (a, b)]
    assert difference.n_both == len(made[0] & made[1])
    assert [set(only) for only in difference.only] == [made[0] - made[1], made[1] - made[0]]
    parts = [[(t.token_bytes(x), t.token_bytes(y)) for x, y, _ in t.merges] for t in (a, b)]
    assert (parts[0][:n] == parts[1][:n] and parts[0][n : n + 1] != parts[1][n : n + 1]) or len(parts[0]) == len(
        parts[1]
    )


def test_the_history_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["runs"]) == 2
    assert "There is no training in ." in capsys.readouterr().err
    for ties in ("first", "lowest"):
        save(trained(ties), tmp_path / f"{ties}.json")
    save(trained("lowest").at(3), tmp_path / "lowest.json.checkpoint")
    (tmp_path / "notes.txt").write_text("no tokenizer")
    save(trained(), tmp_path / "plain.tiktoken", format="tiktoken")
    capsys.readouterr()
    assert main(["runs"]) == 0
    table = capsys.readouterr().out
    assert table.count("words") == 3 and "under way, or killed" in table and "first.json" in table
    assert main(["runs", "--json"]) == 0
    told = {os.path.basename(run["path"]): run for run in map(json.loads, capsys.readouterr().out.splitlines())}
    assert set(told) == {"first.json", "lowest.json", "lowest.json.checkpoint"}
    assert told["first.json"]["corpus"] == told["lowest.json"]["corpus"]
    assert told["lowest.json.checkpoint"]["merges"] == 3
    assert main(["runs", "first.json", "lowest.json"]) == 0
    assert "The same until step" in capsys.readouterr().out
    assert main(["runs", "first.json", "lowest.json", "--json"]) == 0
    n_same = RunDifference.of(trained(), trained("lowest")).n_same
    told = json.loads(capsys.readouterr().out)
    assert told["same_until"] == n_same and told["options"] == {"ties": ["first", "lowest"]}


def test_what_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokenizer, place = trained(), str(tmp_path / "a.json")
    save(tokenizer, place)
    assert main(["export", "merges", place]) == 0
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == tokenizer.step and len(head) == len(rows[0])
    assert [tuple(map(int, row[1:4])) for row in rows] == tokenizer.merges
    assert [bytes.fromhex(row[7]) for row in rows] == [tokenizer.token_bytes(id) for _, _, id in tokenizer.merges]

    assert main(["export", "curve", place, "-o", str(tmp_path / "a.csv")]) == 0
    points = TrainingCurve.of(tokenizer).points
    with (tmp_path / "a.csv").open() as file:
        read = list(csv.DictReader(file))
    assert [(int(row["step"]), float(row["renyi_efficiency"])) for row in read] == [
        (point.step, point.renyi_efficiency) for point in points
    ]

    assert main(["export", "record", place]) == 0
    record = json.loads(capsys.readouterr().out)
    assert tokenizer.record and [tuple(step) for step in record["steps"]] == list(tokenizer.record.steps)
    assert main(["export", "record", place, place]) == 2
    save(tokenizer, tmp_path / "a.tiktoken", format="tiktoken")
    assert main(["export", "curve", str(tmp_path / "a.tiktoken")]) == 2


def test_a_training_writes_its_curve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text(" ".join(WORDS))
    command = ["train", str(tmp_path / "text.txt"), "-o", str(tmp_path / "a.json"), "--vocab-size", "270"]
    assert main([*command, "--curve", str(tmp_path / "a.csv")]) == 0
    assert (tmp_path / "a.csv").read_text().startswith("step,n_vocab")
    assert main([*command, "--curve", "/dev/full"]) == 2
    assert "/dev/full cannot be written" in (told := capsys.readouterr().err) and "a.json all the same" in told
    assert load(tmp_path / "a.json").step
