"""`bpescope` as a person or a script calls it, in a folder of its own with a few small files."""

import shlex
from functools import partial
from pathlib import Path

import pytest
from shell import SEED, TEXT, Bpescope

from bpe_core import save, train
from bpe_core.cli.main import main
from bpe_core.metrics.boundaries import edit_survival


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: the textbook's example, and the tokenizer of three merges and a special token learned from
    it; `text.txt`, and two tokenizers learned from that."""
    monkeypatch.chdir(tmp_path)
    few_edits = partial(
        edit_survival, n_edits=9
    )  # the 200 that are usual would be half of the work of a report
    monkeypatch.setattr("bpe_core.metrics.catalog.edit_survival", few_edits)
    Path("seed.txt").write_text(SEED)
    save(
        train(SEED, vocab_size=260, pattern="none", special_tokens=["<end>"]),
        "seed.json",
    )
    Path("text.txt").write_text(TEXT)
    for name, size in (("one.json", 280), ("two.json", 320)):
        save(train(TEXT, vocab_size=size), name)
    return tmp_path


@pytest.fixture
def bpescope(folder: Path, capfd: pytest.CaptureFixture[str]) -> Bpescope:
    def call(line: str) -> tuple[int, str, str]:
        return main(shlex.split(line)), *capfd.readouterr()

    return call
