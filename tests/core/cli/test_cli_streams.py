"""Standard streams as shells may leave them, places to save to that are no files: one sentence, and nothing lost."""

import os
import socket
import stat
import sys
from pathlib import Path

import pytest
from shell import Bpescope, in_a_shell

from bpe_core import load

TRAIN = "bpescope train seed.txt --vocab-size 259 --pattern none -o out.json"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(
            *("bpescope encode -t seed.json seed.txt >&-", "is to be printed cannot be written: Bad file descriptor"),
            marks=pytest.mark.slow,
        ),
        ("bpescope encode -t seed.json seed.txt >/dev/full", "cannot be written: No space left on device"),
        (f"'{sys.executable}' -m tui --version >/dev/full", "cannot be written: No space left on device"),
        ("bpescope encode -t seed.json <&-", "stdin cannot be read: bad file descriptor"),
    ],
)
def test_a_stream_that_is_closed_or_full_is_told_in_one_sentence(folder: Path, line: str, says: str) -> None:
    ended = in_a_shell(line, folder)
    told = [line for line in ended.stderr.decode().splitlines() if not line.startswith(("Read ", "Stopped "))]
    assert ended.returncode == 2 and len(told) == 1 and says in told[0], ended.stderr


@pytest.mark.parametrize("streams", ["<&- >&- 2>&-", pytest.param("2> >(head -c 1)", marks=pytest.mark.slow)])
def test_no_stream_is_needed_to_learn_and_to_keep_what_was_learned(folder: Path, streams: str) -> None:
    ended = in_a_shell(f"{TRAIN} {streams}", folder)
    assert ended.returncode == 0
    assert load(folder / "out.json").step == 3
    assert "Traceback" not in ended.stderr.decode()


@pytest.mark.slow
def test_a_device_and_a_pipe_are_written_through_and_not_replaced(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for command in ("train seed.txt --vocab-size 259 --pattern none", "convert seed.json --format native"):
        ended = in_a_shell(f"cat pipe > read.json & bpescope {command} -o pipe && wait", folder)
        assert ended.returncode == 0, ended.stderr
        assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)
        assert load(folder / "read.json").step == 3
        assert in_a_shell(f"bpescope {command} -o /dev/stdout | cat > piped.json", folder).returncode == 0
        assert load(folder / "piped.json").step == 3
    opened = folder / "printed.json"
    opened.touch()
    number = opened.stat().st_ino
    assert (
        in_a_shell("bpescope convert seed.json --format native -o /dev/stdout > printed.json", folder).returncode == 0
    )
    assert load(opened).step == 3 and opened.stat().st_ino == number
    assert in_a_shell("bpescope convert seed.json --format native -o /dev/null", folder).returncode == 0
    (folder / "nowhere").symlink_to("/dev/null")
    assert in_a_shell(f"{TRAIN.replace('out.json', 'nowhere')}", folder).returncode == 0
    assert (folder / "nowhere").is_symlink() and stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (".", "it is a folder; name a file in it"),
        ("nowhere/out.json", "there is no folder"),
        ("seed.txt/out.json", "there is no folder"),
        ("/proc/out.json", "No such file or directory"),  # a folder in which root, too, makes no file
        ("x" * 300, "File name too long"),
        ("circle", "Too many levels of symbolic links"),
        ("socket", "it is a socket or a disk, and no file"),
    ],
)
def test_a_place_that_takes_no_file_is_told_before_any_work(bpescope: Bpescope, output: str, says: str) -> None:
    Path("circle").symlink_to("circle")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    before = sorted(os.listdir())
    for command in ("train missing.txt", "convert missing.json --format native"):  # not even looked for
        code, _, sentence = bpescope(f"{command} -o {output}")
        assert code == 2 and sentence.count("\n") == 1 and f"cannot be written: {says}" in sentence
    assert sorted(os.listdir()) == before


def test_what_was_learned_is_kept_elsewhere_if_its_place_fails_at_the_end(folder: Path) -> None:
    (folder / "refuge").mkdir()
    ended = in_a_shell(f"export TMPDIR=$PWD/refuge; {TRAIN.replace('out.json', '/dev/full')}", folder)
    (kept,) = (folder / "refuge").iterdir()
    assert ended.returncode == 2 and load(kept).step == 3
    assert f"No space left on device; what was learned is saved in {kept} instead." in ended.stderr.decode()
