"""A process that works along and is ended by somebody: that is told in a sentence, and nothing is missing."""

from pathlib import Path

import pytest

from bpe_core import save, train
from bpe_core.cli.main import main
from bpe_core.parallel import portions, process_pool
from bpe_core.parallel.pool_worker import PoolWorker

TEXT = "the theme of the other thesis, the thing that they thought through\n"


class Killed(PoolWorker):
    """Is no more before it is asked for anything."""

    def __init__(self, task: bytes) -> None:
        super().__init__(task)
        self.kill()


def test_a_process_that_is_lost_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    save(train(TEXT, vocab_size=280), "t.json")
    Path("book.txt").write_text(TEXT * 999)
    arguments = ["encode", "-t", "t.json", "book.txt"]
    assert main(arguments) == 0
    alone = capsys.readouterr()
    monkeypatch.setattr("bpe_core.cli.encode.BYTES_PER_PROCESS", 1000)
    monkeypatch.setattr("bpe_core.cli.encoding.n_processes", lambda *_: 2)
    monkeypatch.setattr(portions, "SMALLEST", 1000)
    monkeypatch.setattr(process_pool, "PoolWorker", Killed)
    assert main(arguments) == 0
    together = capsys.readouterr()
    assert together.out == alone.out
    sentence = "A helping process was ended by the system or by somebody; its part was done without it"
    assert together.err.count(sentence) == 1 and sentence not in alone.err
