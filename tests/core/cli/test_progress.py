"""What a person sees while a command works: a bar with what is done in a terminal, sentences above it."""

from io import StringIO
from pathlib import Path

import pytest

from bpe_core.cli.streams import SKIPPED_SHOWN, StderrReporter
from bpe_core.corpus import Skipped
from bpe_core.trainer import Trainer
from bpe_core.worker.messages import Counted, Merges, Started, WorkProgress


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_names_what_is_done_whatever_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    reporter = StderrReporter()
    assert reporter._bars
    for event in (
        WorkProgress("counting", 1, 10, "a[b]\x1b[2J.txt"),
        WorkProgress("auditing", 3, 7, "tokens never used"),
        Started(tokens=11, merges=3),
        Merges(list(Trainer("aaabdaaabac", vocab_size=259, pattern="none"))),
    ):
        reporter.send(event)
        reporter._bars.refresh()
    reporter.say("Between [bold]us[/bold].")
    reporter.close()
    shown = terminal.getvalue()
    assert all(part in shown for part in ("Reading a[b]␛[2J.txt", "tokens never used", "Merging", "3/7"))
    assert "Between [bold]us[/bold]." in shown and "\x1b[2J" not in shown


def test_of_many_skipped_files_the_first_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = StderrReporter()
    for number in range(SKIPPED_SHOWN + 2):
        reporter.send(Skipped(Path(f"{number}\x07.jpg"), "binary"))
    reporter.send(Counted(1, 9, 9, 2, 1))
    reporter.close()
    *named, more, read = capsys.readouterr().err.splitlines()
    assert named == [f"Left out {number}␇.jpg: binary." for number in range(SKIPPED_SHOWN)]
    assert more == "Left out 2 more files like these." and read.startswith("Read 1 document: 9 bytes in 2 pieces")
