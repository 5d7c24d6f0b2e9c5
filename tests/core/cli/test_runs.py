"""What is told of trainings afterwards: the history, where two of them part, and what is exported."""

import csv
import json
import os
import random
from pathlib import Path

import pytest
from shell import Bpescope

from bpe_core import Tokenizer, load, save, train
from bpe_core.corpus import Counts
from bpe_core.errors import OptionError
from bpe_core.metrics import training_curve
from bpe_core.runs import RunDifference, TrainingRun
from bpe_core.tokenizer.tie_rules import TIES

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
        "Options of a and b: ties first and largest.",
        "The same until step 0, then:",
        "  a: e + s, which occurs 9 times (one of 2 with this count)",
        "  b: s + t, which occurs 9 times (one of 2 with this count)",
    ]
    assert list(RunDifference.of(first, first).sentences("a", "b")) == [
        f"The merges are the same: {first.step}."
    ]
    told = list(RunDifference.of(first.at(4), first).sentences("a", "b"))
    assert (
        told[0] == f"The same until step 4, where a ends; b has {first.step - 4} more."
    )


def test_a_training_ended_when_its_file_was_written_unless_the_file_says_when(tmp_path):
    path, date = tmp_path / "mine.json", "2026-01-02T03:04:05+00:00"
    save(trained(), path)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert (
        TrainingRun(path, load(path)).described()["created"]
        == "2023-11-14T22:13:20+00:00"
    )
    path.write_text(
        path.read_text().replace(
            '"training": {\n', f'"training": {{\n "created": "{date}",\n'
        )
    )
    assert TrainingRun(path, load(path)).described()["created"] == date
    assert TrainingRun(tmp_path / "gone.json", trained()).described()["created"] == ""


def test_what_was_asked_for_otherwise_is_named():
    usual = trained()
    assert TrainingRun(Path(), usual).options == "pattern words, ties first"
    assert (
        TrainingRun(Path(), train(WORDS, vocab_size=257, pattern="none")).options
        == "pattern none, ties first"
    )
    for asked, told in (
        ({"vocab_size": 280}, {"vocabulary": ("270", "280")}),
        ({"pattern": r"\S+"}, {"pattern": ("words", r"\S+")}),
        ({"min_count": 2}, {"min. count": ("1", "2")}),
        ({"max_token_length": 3}, {"longest token": ("none", "3")}),
        ({"end_of_word": "_"}, {"end of word": ("none", "_")}),
        ({"min_share": "1/50"}, {"least gain": ("none", "1/50")}),
        ({"special_tokens": ["<e>"]}, {"specials": ("none", "<e>")}),
        (
            {"id_layout": "specials-first"},
            {"id layout": ("bytes-first", "specials-first")},
        ),
    ):
        other = train(WORDS, **{"vocab_size": 270, "pattern": "words", **asked})
        assert RunDifference.of(usual, other).options == told
    same_words = train(WORDS[1:], vocab_size=270, pattern="words")
    assert RunDifference.of(usual, same_words).options.keys() == {"texts"}
    counted_of = [
        Counts.weighted([(Counts.of(text, "words"), 1) for text in texts])
        for texts in ("ab", "ba", "aab")
    ]
    one, turned, longer = (train(counts, vocab_size=258) for counts in counted_of)
    assert (
        RunDifference.of(one, turned).options["texts"][1]
        == "the same texts in another order"
    )
    assert "another order" not in RunDifference.of(one, longer).options["texts"][1]
    with pytest.raises(OptionError, match="in another order"):
        train(counted_of[1], vocab_size=258, resume=one)
    nobody_knows = Tokenizer(usual.vocabulary, "words")
    assert RunDifference.of(usual, nobody_knows).options == {}


@pytest.mark.parametrize("seed", range(8))
def test_every_token_after_the_parting_is_in_both_or_in_one(seed):
    r = random.Random(seed)
    text = "".join(r.choices("abc ", k=120))
    a, b = (
        train(
            text,
            vocab_size=256 + r.randrange(5, 30),
            pattern="none",
            ties=r.choice(TIES),
        )
        for _ in range(2)
    )
    difference = RunDifference.of(a, b)
    n = difference.n_same
    made = [{t.token_bytes(token) for _, _, token in t.merges[n:]} for t in (a, b)]
    assert difference.n_both == len(made[0] & made[1])
    assert [set(only) for only in difference.only] == [
        made[0] - made[1],
        made[1] - made[0],
    ]
    parts = [
        [(t.token_bytes(x), t.token_bytes(y)) for x, y, _ in t.merges] for t in (a, b)
    ]
    assert (
        parts[0][:n] == parts[1][:n] and parts[0][n : n + 1] != parts[1][n : n + 1]
    ) or len(parts[0]) == len(parts[1])


def test_a_history_tells_of_starts_weights_and_samples(bpescope: Bpescope) -> None:
    Path("words.txt").write_text(" ".join(WORDS * 20))
    Path("runs").mkdir()
    asked = {
        "plain.json": ("", ""),
        "heavy.json": ("--weight words.txt=3", ", weight words.txt=3"),
        "light.json": ("--weight words.txt=1/7", ", weight words.txt=1/7"),
        "part.json": ("--sample 9/10", ", sample 9/10 of the bytes, seed 0"),
        "further.json": ("--extend runs/plain.json --fork 3", ", start from 3 merges"),
    }
    for name, (options, _) in asked.items():
        assert (
            bpescope(f"train words.txt --vocab-size 264 -o runs/{name} {options}")[0]
            == 0
        )
    _, _, *rows = bpescope("runs runs")[1].splitlines()
    told = {row.split()[0]: row.partition("reached  ")[2] for row in rows}
    assert told == {
        f"runs/{name}": f"pattern gpt4, ties first{more}"
        for name, (_, more) in asked.items()
    }


def test_the_history_of_a_folder(bpescope: Bpescope) -> None:
    Path("runs").mkdir()
    assert (
        "No training runs found in runs; name another folder"
        in bpescope("runs runs")[2]
    )
    for ties in ("first", "lowest"):
        save(trained(ties), f"runs/{ties}.json")
    save(trained("lowest").at(3), "runs/lowest.json.checkpoint")
    Path("runs/notes.txt").write_text("no tokenizer")
    save(trained(), "runs/plain.tiktoken", format="tiktoken")
    code, table, _ = bpescope("runs runs")
    assert (
        code == 0
        and table.count("words") == 3
        and "under way, or killed" in table
        and "first.json" in table
    )
    told = {
        os.path.basename(run["path"]): run
        for run in map(json.loads, bpescope("runs runs --json")[1].splitlines())
    }
    assert set(told) == {"first.json", "lowest.json", "lowest.json.checkpoint"}
    assert told["first.json"]["corpus"] == told["lowest.json"]["corpus"]
    assert told["lowest.json.checkpoint"]["merges"] == 3
    assert "The same until step" in bpescope("runs runs/first.json runs/lowest.json")[1]
    told = json.loads(bpescope("runs runs/first.json runs/lowest.json --json")[1])
    n_same = RunDifference.of(trained(), trained("lowest")).n_same
    assert told["same_until"] == n_same and told["options"] == {
        "ties": ["first", "lowest"]
    }


def test_what_is_exported(bpescope: Bpescope) -> None:
    tokenizer = trained()
    save(tokenizer, "a.json")
    head, *rows = [
        line.split("\t") for line in bpescope("export merges a.json")[1].splitlines()
    ]
    assert len(rows) == tokenizer.step and len(head) == len(rows[0])
    assert [tuple(map(int, row[1:4])) for row in rows] == tokenizer.merges
    assert [bytes.fromhex(row[7]) for row in rows] == [
        tokenizer.token_bytes(id) for _, _, id in tokenizer.merges
    ]
    assert bpescope("export curve a.json -o a.csv") == (0, "", "")
    with open("a.csv") as file:
        read = [
            (int(row["step"]), float(row["renyi_efficiency"]))
            for row in csv.DictReader(file)
        ]
    assert read == [
        (point.step, point.renyi_efficiency) for point in training_curve(tokenizer)
    ]
    save(tokenizer, "b.json")
    _, *lines = bpescope("export curve a.json a.json b.json")[1].splitlines()
    names = dict.fromkeys(line.partition(",")[0] for line in lines)
    assert list(names) == ['"a.json 1"', '"a.json 2"', '"b.json"']
    record = json.loads(bpescope("export record a.json")[1])
    assert tokenizer.record and [tuple(step) for step in record["steps"]] == list(
        tokenizer.record.steps
    )
    save(tokenizer, "a.tiktoken", format="tiktoken")
    assert (
        bpescope("export record a.json a.json")[0]
        == bpescope("export curve a.tiktoken")[0]
        == 2
    )


def test_a_training_writes_its_curve(bpescope: Bpescope) -> None:
    command = "train text.txt -o a.json --vocab-size 270 --curve"
    assert bpescope(f"{command} a.csv")[0] == 0
    assert Path("a.csv").read_text().startswith("step,n_vocab")
    code, _, error = bpescope(f"{command} /dev/full")
    assert (
        code == 2
        and "/dev/full cannot be written" in error
        and "saved in a.json" in error
    )
    assert load("a.json").step
