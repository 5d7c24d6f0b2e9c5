"""A bar in a terminal; standard streams as shells may leave them, places that are no files: one sentence for each."""

import os
import socket
import stat
import sys
from io import StringIO
from pathlib import Path

import pytest
from shell import Bpescope, in_a_shell

from bpe_core import load
from bpe_core.cli.streams import SKIPPED_SHOWN, StderrReporter
from bpe_core.corpus import Skipped
from bpe_core.trainer import Trainer
from bpe_core.worker.messages import Counted, Started, WorkProgress

TRAIN = "bpescope train seed.txt --vocab-size 259 --pattern none -o out.json"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(
            *(
                "bpescope encode -t seed.json seed.txt >&-",
                "The output cannot be written: Bad file descriptor",
            ),
            marks=pytest.mark.slow,
        ),
        (
            "bpescope encode -t seed.json seed.txt >/dev/full",
            "cannot be written: No space left on device",
        ),
        (
            f"'{sys.executable}' -m tui --version >/dev/full",
            "cannot be written: No space left on device",
        ),
        (
            "bpescope encode -t seed.json <&-",
            "stdin cannot be read: bad file descriptor",
        ),
    ],
)
def test_a_stream_that_is_closed_or_full_is_told_in_one_sentence(
    folder: Path, line: str, says: str
) -> None:
    ended = in_a_shell(line, folder)
    told = [
        line
        for line in ended.stderr.decode().splitlines()
        if not line.startswith(("Read ", "Stopped "))
    ]
    assert ended.returncode == 2 and len(told) == 1 and says in told[0], ended.stderr


@pytest.mark.parametrize(
    "streams", ["<&- >&- 2>&-", pytest.param("2> >(head -c 1)", marks=pytest.mark.slow)]
)
def test_no_stream_is_needed_to_learn_and_to_keep_what_was_learned(
    folder: Path, streams: str
) -> None:
    ended = in_a_shell(f"{TRAIN} {streams}", folder)
    assert ended.returncode == 0
    assert load(folder / "out.json").step == 3
    assert "Traceback" not in ended.stderr.decode()


@pytest.mark.slow
def test_a_device_and_a_pipe_are_written_through_and_not_replaced(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for command in (
        "train seed.txt --vocab-size 259 --pattern none",
        "convert seed.json --format native",
    ):
        ended = in_a_shell(
            f"cat pipe > read.json & bpescope {command} -o pipe && wait", folder
        )
        assert ended.returncode == 0, ended.stderr
        assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)
        assert load(folder / "read.json").step == 3
        assert (
            in_a_shell(
                f"bpescope {command} -o /dev/stdout | cat > piped.json", folder
            ).returncode
            == 0
        )
        assert load(folder / "piped.json").step == 3
    opened = folder / "printed.json"
    opened.touch()
    number = opened.stat().st_ino
    assert (
        in_a_shell(
            "bpescope convert seed.json --format native -o /dev/stdout > printed.json",
            folder,
        ).returncode
        == 0
    )
    assert load(opened).step == 3 and opened.stat().st_ino == number
    assert (
        in_a_shell(
            "bpescope convert seed.json --format native -o /dev/null", folder
        ).returncode
        == 0
    )
    (folder / "nowhere").symlink_to("/dev/null")
    assert in_a_shell(f"{TRAIN.replace('out.json', 'nowhere')}", folder).returncode == 0
    assert (folder / "nowhere").is_symlink() and stat.S_ISCHR(
        Path("/dev/null").stat().st_mode
    )


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (".", "it is a folder; name a file in it"),
        ("nowhere/out.json", "there is no folder"),
        ("seed.txt/out.json", "there is no folder"),
        pytest.param(
            "/proc/out.json",  # a folder in which root can't create a file either
            "No such file or directory",
            marks=pytest.mark.skipif(
                not os.path.exists("/proc/self"), reason="this system has no /proc"
            ),
        ),
        ("x" * 300, "File name too long"),
        ("circle", "Too many levels of symbolic links"),
        ("socket", "it is a socket or a disk, not a file"),
    ],
)
def test_a_place_that_takes_no_file_is_told_before_any_work(
    bpescope: Bpescope, output: str, says: str
) -> None:
    Path("circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    before = sorted(os.listdir())
    for command in (
        "train missing.txt",
        "convert missing.json --format native",
    ):  # not even looked for
        code, _, sentence = bpescope(f"{command} -o {output}")
        assert (
            code == 2
            and sentence.count("\n") == 1
            and f"cannot be written: {says}" in sentence
        )
    assert sorted(os.listdir()) == before


def test_what_was_learned_is_kept_elsewhere_if_its_place_fails_at_the_end(
    folder: Path,
) -> None:
    (folder / "refuge").mkdir()
    ended = in_a_shell(
        f"export TMPDIR=$PWD/refuge; {TRAIN.replace('out.json', '/dev/full')}", folder
    )
    (kept,) = (folder / "refuge").iterdir()
    assert ended.returncode == 2 and load(kept).step == 3
    assert (
        f"No space left on device. The tokenizer was saved to {kept} instead."
        in ended.stderr.decode()
    )


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_names_what_is_done_whatever_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    reporter, trainer = (
        StderrReporter(),
        Trainer("aaabdaaabac", vocab_size=259, pattern="none"),
    )
    assert reporter._bars
    for event in (
        WorkProgress("counting", 1, 10, "a[b]\x1b[2J.txt"),
        WorkProgress("auditing", 3, 7, "tokens never used"),
        Started(trainer.record, merges=3),
        trainer.learn(3),
    ):
        reporter.send(event)
        reporter._bars.refresh()
    reporter.say("Between [bold]us[/bold].")
    reporter.close()
    shown = terminal.getvalue()
    assert all(
        part in shown
        for part in ("Reading a[b]␛[2J.txt", "tokens never used", "Merging", "3/7")
    )
    assert "Between [bold]us[/bold]." in shown and "\x1b[2J" not in shown


def test_of_many_skipped_files_the_first_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporter = StderrReporter()
    for number in range(SKIPPED_SHOWN + 2):
        reporter.send(Skipped(Path(f"{number}\x07.jpg"), "binary"))
    reporter.send(Counted(1, 9, 9, 2, 1))
    reporter.close()
    *named, more, read = capsys.readouterr().err.splitlines()
    assert named == [
        f"Skipped {number}␇.jpg: binary." for number in range(SKIPPED_SHOWN)
    ]
    assert more == "Skipped 2 more files." and read.startswith(
        "Read 1 document: 9 bytes in 2 pieces"
    )
