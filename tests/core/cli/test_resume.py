"""A training that was stopped, killed or forked: what is on disk then, and that it ends as if nothing had happened."""

import os
import random
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from worker_process import Worker, training

from bpe_core import FormatError, Tokenizer, Trainer, load, save, train
from bpe_core.cli.main import main
from bpe_core.tokenizer.tie_rules import TIES
from bpe_core.trainer import Merges, checkpoints
from bpe_core.trainer.checkpoints import Checkpoints
from bpe_core.worker.messages import Checkpoint


def learned(tokenizer: Tokenizer) -> object:
    """All that a training learns: the merges, and what is recorded of each."""
    assert tokenizer.record
    return tokenizer.merges, tokenizer.record.steps, tokenizer.special_tokens


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two small texts full of ties."""
    r = random.Random(5)
    words = [
        "héron",
        "東京",
        *("".join(r.choices("etaoin", k=r.randint(2, 8))) for _ in range(60)),
    ]
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(" ".join(r.choices(words, k=120)), "utf-8")
    return folder


@pytest.mark.parametrize("ties", TIES)
def test_stopped_anywhere_and_resumed_the_merges_are_those_of_a_run_that_never_stopped(
    ties: str, corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    texts = [path.read_text("utf-8") for path in sorted(corpus.iterdir())]
    command = [
        "train",
        str(corpus),
        "-o",
        str(tmp_path / "out.json"),
        "--ties",
        ties,
        "--vocab-size",
        "400",
    ]
    assert main(command) == 0
    whole = load(tmp_path / "out.json")
    for seed in range(8):
        r = random.Random(f"{ties} {seed}")
        trainer = Trainer(texts, vocab_size=400, ties=ties)
        for _ in range(r.randint(1, whole.step)):
            next(trainer)
        sources = whole.record.sources if whole.record else ()
        # A file each, where the texts given to `Trainer` have one source in common.
        trainer.record = replace(trainer.record, sources=sources)
        (tmp_path / "out.json").unlink()
        if r.random() < 0.5:
            Checkpoints(tmp_path / "out.json.checkpoint").keep(trainer)
        else:
            save(trainer.tokenizer(), tmp_path / "out.json")
        assert main([*command, "--resume"]) == 0
        assert f"after {trainer.n_merges} merge" in capfd.readouterr().err
        assert learned(load(tmp_path / "out.json")) == learned(whole), f"seed {seed}"
        assert sorted(os.listdir(tmp_path)) == ["out.json", "texts"], (
            "nothing is left over"
        )


def test_a_checkpoint_survives_a_kill(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 0.0)  # the worker is forked from here
    monkeypatch.setattr(Checkpoints, "remove", lambda self: signal.pause())
    asked = training(corpus, "-o", tmp_path / "out.json", "--vocab-size", "360")
    with closing(Worker(asked, cwd=tmp_path)) as worker:
        seen = worker.until(Checkpoint)
    assert worker.code() == -signal.SIGKILL and seen[-1] == Checkpoint()
    assert (
        load(tmp_path / "out.json.checkpoint").step
        >= sum(len(event) for event in seen if isinstance(event, Merges))
        > 0
    )


_KILLED = """import os, signal, sys
from bpe_core.cli.main import main
from bpe_core.trainer import checkpoints
from bpe_core.worker import train
keep, train.BATCH, checkpoints.EVERY, checkpoints.LARGEST_PART = checkpoints.Checkpoints.keep, 8, 0, 1e9
def keep_and_die(self, trainer):
    keep(self, trainer)
    if trainer.n_merges >= int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.Checkpoints.keep = keep_and_die
main(sys.argv[2:])
"""


@pytest.mark.parametrize(
    "asked",
    [
        [
            "--weight",
            "texts/a.txt=1/2",
            "--weight",
            "texts/b.txt=3",
            "--min-count",
            "2",
            "--ties",
            "lowest",
        ],
        [
            "--special",
            "<e>",
            "--end-of-word",
            "</w>",
            "--ties",
            "largest",
            "--max-token-length",
            "6",
        ],
        ["--extend", "old.json", "--min-share", "1/2000"],
    ],
)
def test_killed_again_and_again_while_it_learns_it_ends_in_the_same_merges(
    asked: list[str], corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(
        train(
            (corpus / "a.txt").read_text("utf-8"),
            vocab_size=280,
            special_tokens=["<z>"],
        ),
        "old.json",
    )
    command = [
        "train",
        "texts/a.txt",
        "texts/b.txt",
        "-o",
        "out.json",
        "--vocab-size",
        "390",
        *asked,
    ]
    assert main(command) == 0
    whole = learned(load("out.json"))
    os.unlink("out.json")
    for moment in (30, 45, 80):
        killed = [sys.executable, "-c", _KILLED, str(moment), *command, "--resume"]
        assert (
            subprocess.run(killed, stderr=subprocess.DEVNULL).returncode
            == -signal.SIGKILL
        )
        assert moment <= load(
            "out.json.checkpoint"
        ).step < moment + 32 and not os.path.exists("out.json")
    assert main([*command, "--resume"]) == 0
    assert learned(load("out.json")) == whole


def told(capfd: pytest.CaptureFixture[str], *command: object) -> str:
    """What a command that is refused says, its last line."""
    assert main([str(part) for part in command]) == 2
    return capfd.readouterr().err.splitlines()[-1]


def test_changed_texts_and_options_are_told_and_nothing_is_lost(
    corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    command = ["train", str(corpus), "-o", str(out), "--vocab-size", "300"]
    assert main([*command, "--resume"]) == 0
    assert (
        "No checkpoint to resume; this run starts from the beginning"
        in capfd.readouterr().err
    )
    assert "name another file for the checkpoints" in told(
        capfd, *command, "--checkpoint", out
    )
    before, merges = out.read_bytes(), load(out).merges
    again = [*command, "--resume"]
    assert (
        "used ties 'first', not 'lowest'; use the same options, or start a new run"
        in told(capfd, *again, "--ties", "lowest")
    )
    checkpoint = tmp_path / "out.json.checkpoint"
    for length in 0, 500:  # cut short by a disk that lied
        checkpoint.write_bytes(before[:length])
        assert "is not a complete checkpoint; leave out --resume to start over" in told(
            capfd, *again
        )
    checkpoint.unlink()
    assert main([*again, "--vocab-size", "310"]) == 0, "more may be asked for"
    assert load(out).merges[:44] == merges
    out.write_bytes(before)
    (corpus / "c.txt").write_text("one more")
    assert "has 3 texts now, and had 2 in the run to resume" in told(capfd, *again)
    (corpus / "c.txt").unlink()
    (corpus / "b.txt").write_text("another one")
    assert "texts/b.txt has changed since" in told(capfd, *again)
    assert out.read_bytes() == before


def test_what_is_written_into_a_folder_of_texts_is_no_text_of_it(
    corpus: Path, tmp_path: Path
) -> None:
    command = [
        "train",
        str(corpus),
        "-o",
        str(corpus / "out.json"),
        "--vocab-size",
        "300",
    ]
    assert main(command) == 0
    whole = load(corpus / "out.json")
    (corpus / "out.json.checkpoint").write_bytes((corpus / "out.json").read_bytes())
    assert main([*command, "--resume"]) == 0
    assert learned(load(corpus / "out.json")) == learned(whole)


def test_the_end_of_a_pipe_has_no_checkpoint_beside_it(corpus: Path) -> None:
    assert (
        main(
            ["train", str(corpus), "-o", "/dev/null", "--vocab-size", "300", "--resume"]
        )
        == 0
    )
    assert not Path("/dev/null.checkpoint").exists()


def test_a_vocabulary_is_extended_and_forked(
    corpus: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    assert (
        main(
            [
                "train",
                str(corpus),
                "-o",
                str(old),
                "--vocab-size",
                "300",
                "--special",
                "<s>",
            ]
        )
        == 0
    )
    (tmp_path / "more.txt").write_text("tokens of tokenizers " * 20)
    more = str(tmp_path / "more.txt")
    assert (
        main(
            ["train", more, "-o", str(new), "--extend", str(old), "--vocab-size", "310"]
        )
        == 0
    )
    larger, smaller = load(new), load(old)
    assert larger.merges[: smaller.step] == smaller.merges and larger.n_vocab == 310
    assert larger.special_tokens == smaller.special_tokens
    assert larger.record and larger.record.n_given == smaller.step
    fork = [
        "train",
        str(corpus),
        "-o",
        str(new),
        "--extend",
        str(old),
        "--fork",
        "10",
        "--pattern",
        "none",
    ]
    assert main([*fork, "--vocab-size", "300"]) == 0
    assert (
        load(new).merges[:10] == smaller.merges[:10]
        and load(new).merges != smaller.merges
    )
    assert load(new).pattern == "none", "behind words, phrases: that is SuperBPE"
    assert load(new).special_tokens == smaller.special_tokens
    wanted = load(new).merges
    assert main([*fork, "--vocab-size", "300", "--resume"]) == 0, (
        "a fork is resumed like any other run"
    )
    assert load(new).merges == wanted
    ranks = tmp_path / "old.tiktoken"
    save(smaller, ranks, format="tiktoken")
    extend = [
        "train",
        more,
        "-o",
        str(new),
        "--extend",
        str(ranks),
        "--vocab-size",
        "310",
        "--keep-existing",
    ]
    assert "give its pattern" in told(capfd, *extend)
    assert main([*extend, "--pattern", "gpt4"]) == 0
    assert "Learned 11 merges after 43 merges of the old vocabulary" in (
        said := capfd.readouterr().err
    )
    assert "saved in" in said and "new-2.json" in said
    assert load(tmp_path / "new-2.json").merges[:43] == smaller.merges
    assert "ask for a larger vocab_size" in told(
        capfd, "train", more, "-o", new, "--extend", old, "--vocab-size", 300
    )
    assert "come from OLD" in told(
        capfd, "train", more, "-o", new, "--extend", old, "--special", "<x>"
    )
    assert "name it with --extend OLD" in told(
        capfd, "train", more, "-o", new, "--fork", "3"
    )
    assert "Step 99 does not exist" in told(
        capfd, "train", more, "-o", new, "--extend", old, "--fork", "99"
    )


def test_where_no_checkpoint_can_be_written_the_training_goes_on_and_says_so(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("bpe_core.trainer.checkpoints.EVERY", -1.0)  # at every look
    monkeypatch.setattr("bpe_core.trainer.checkpoints.LARGEST_PART", float("inf"))
    monkeypatch.setattr("bpe_core.worker.train.BATCH", 1)
    kept, made = tmp_path / "kept", []
    command = [
        "train",
        str(corpus),
        "-o",
        str(tmp_path / "out.json"),
        "--vocab-size",
        "262",
        "--checkpoint",
        str(kept),
    ]

    def refuse(tokenizer: Tokenizer, path: Path) -> None:
        made.append(path)
        if path == kept and len(made) < 3:
            raise FormatError("There is no space left.")
        save(tokenizer, path)

    monkeypatch.setattr("bpe_core.trainer.checkpoints.save", refuse)
    assert main(command) == 0
    assert capfd.readouterr().err.count("No checkpoint: There is no space left.") == 1
    assert len(made) > 3 and not kept.exists() and load(tmp_path / "out.json").step == 6


def test_what_was_learned_before_a_failure_is_kept(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    learn = Trainer.learn

    def fails_later(trainer: Trainer, n: int, seconds: float) -> Merges:
        if trainer.n_merges == 25:
            raise MemoryError
        return learn(trainer, min(n, 25 - trainer.n_merges), seconds)

    command = [
        "train",
        str(corpus),
        "-o",
        str(tmp_path / "out.json"),
        "--vocab-size",
        "320",
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "learn", fails_later)
        assert main(command) == 2
    assert "not enough memory" in capfd.readouterr().err
    assert load(tmp_path / "out.json.checkpoint").step == 25
    assert main([*command, "--resume"]) == 0
    assert (
        load(tmp_path / "out.json").step == 64
        and not (tmp_path / "out.json.checkpoint").exists()
    )
