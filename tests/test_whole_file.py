"""Files are written whole: whatever fails, and a kill, too, the old file stays, and what is left goes with the next
write."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any

import pytest

from bpe_core import BpeError, Counts, Trainer, save, train
from bpe_core.corpus import counts as counting
from bpe_core.corpus import find_files, spill
from bpe_core.corpus.spill import Spill
from bpe_core.trainer.checkpoints import Checkpoints
from bpe_core.whole_file import check_place, new_beside, write_atomically, write_whole
from tui.disk import config
from tui.disk.locked import Note
from tui.state import UnfinishedTraining

ROOT = Path(__file__).parents[1]
TEXTS = {"old": "a b ab", "new": "".join(f"w{n} " for n in range(9000))}


def write_counts(folder: Path, version: str) -> None:
    pytest.importorskip("pyarrow")
    Counts.of(TEXTS[version], "words").save(folder / "counts")


def write_spilled_counts(folder: Path, version: str) -> None:
    pytest.importorskip("pyarrow")
    files = find_files(folder.parent / f"{version}.txt").files
    with closing(Spill(0, folder)) as place:
        counts = Counts.read(files, "words", spill=place, workers=1)
        assert len(counts.table.runs) > (version == "new")
        counts.save(folder / "counts")


def write_tokenizer(folder: Path, version: str) -> None:
    save(train(TEXTS[version], vocab_size=400), folder / "tokenizer.json")


def write_two_files(folder: Path, version: str) -> None:
    tokenizer = train(TEXTS[version], vocab_size=400, pattern="gpt2")
    save(tokenizer, folder / "vocab.json", format="gpt2")


def write_checkpoint(folder: Path, version: str) -> None:
    problems: list[str] = []
    trainer = Trainer(TEXTS[version], vocab_size=400)
    trainer.learn(100)
    Checkpoints(folder / "checkpoint", problems.append).keep(trainer)
    if problems[-1]:
        raise BpeError(problems[-1])


def write_configuration(folder: Path, version: str) -> None:
    corpus = {"old": ("a.txt",), "new": tuple(map(str, range(500)))}[version]
    config.save_configuration(config.Configuration(corpus=corpus))


def write_text(folder: Path, version: str) -> None:
    config.save_text(TEXTS[version], folder / "editor.txt")


WRITERS: list[Callable[[Path, str], None]] = [
    write_counts,
    write_spilled_counts,
    write_tokenizer,
    write_two_files,
    write_checkpoint,
    write_configuration,
    write_text,
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "folder"
    place.mkdir()
    for version, text in TEXTS.items():
        (tmp_path / f"{version}.txt").write_text(text)
    monkeypatch.setattr(config, "user_config_path", lambda *_, **__: place)
    monkeypatch.setattr(counting, "_SHARES", (600, 600))
    monkeypatch.setattr(spill, "PARTS", 2)
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Failing:
    """A function of `os` that fails the nth time it is called."""

    def __init__(self, name: str, nth: int, patch: pytest.MonkeyPatch) -> None:
        self._call: Callable[..., Any] = getattr(os, name)
        self._nth = nth
        self.n_calls = 0
        patch.setattr(os, name, self)

    def __call__(self, *given: Any, **more: Any) -> Any:
        self.n_calls += 1
        if self.n_calls == self._nth:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._call(*given, **more)


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("name", ["fsync", "replace"])
def test_whichever_call_fails_the_old_file_stays_and_nothing_is_left(
    write: Callable[[Path, str], None], name: str, folder: Path
) -> None:
    write(folder, "new")
    after = contents(folder)
    write(folder, "old")
    before = contents(folder)
    for nth in range(1, 9):
        with pytest.MonkeyPatch.context() as patch:
            failing = Failing(name, nth, patch)
            try:
                write(folder, "new")
            except (BpeError, OSError) as error:
                assert "No space left on device" in str(error)
                # The second of two files gets its name after all, if it can.
                is_second = name == "replace" and nth > 1
                assert contents(folder) == (after if is_second else before)
                write(folder, "old")
            else:
                assert failing.n_calls < nth
                break
    assert nth > 1
    assert contents(folder) == after


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the system refuse each write past this size, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("write", WRITERS)
def test_wherever_the_disk_is_full_the_old_file_stays_and_nothing_is_left(
    write: Callable[[Path, str], None], folder: Path
) -> None:
    write(folder, "new")
    after = contents(folder)
    write(folder, "old")
    before = contents(folder)
    largest = max(map(len, after.values()))
    n_failed = 0
    for size in range(0, 2 * largest, max(1, largest // 9)):
        try:
            with largest_file(size):
                write(folder, "new")
        except (BpeError, OSError) as error:
            n_failed += 1
            assert "File too large" in str(error)
            assert contents(folder) == before
        else:
            assert contents(folder) == after
            write(folder, "old")
    assert n_failed


def test_a_full_disk_while_counts_spill_is_not_blamed_on_what_is_printed(
    folder: Path,
) -> None:
    with (
        largest_file(2000),
        pytest.raises(BpeError, match=r"^A temporary file in .* cannot be written: "),
    ):
        write_spilled_counts(folder, "new")


def test_a_note_on_a_training_survives_a_full_disk(tmp_path: Path) -> None:
    small = UnfinishedTraining("book")
    note = Note.new(tmp_path / "book.json", small)
    size = (tmp_path / "book.json.unfinished").stat().st_size
    for more in (0, 5, 40):
        with largest_file(size + more), pytest.raises(OSError):
            note.write(UnfinishedTraining("book", paths=("a long path.txt",) * 50))
        assert note.read() == small
    note.write(UnfinishedTraining("b"))
    assert note.read() == UnfinishedTraining("b")
    note.end()


def test_whichever_allocation_fails_the_old_file_stays_and_nothing_is_left() -> None:
    pytest.importorskip("_testcapi")
    command = [sys.executable, "-m", "tests.write_without_memory"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


KILLED = """
import os, signal, sys
from pathlib import Path
from bpe_core.whole_file import write_whole

def write(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

write_whole(sys.argv[1], write)
"""


def test_what_a_killed_process_has_left_goes_with_the_next_write(
    tmp_path: Path,
) -> None:
    for write in (
        lambda: check_place(tmp_path / "other"),
        lambda: write_atomically((tmp_path / "other", ["text"])),
        lambda: write_whole(tmp_path / "other", lambda file: file.write(b"text")),
    ):
        command = [sys.executable, "-c", KILLED, str(tmp_path / "file")]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        (half,) = tmp_path.glob(".*")
        assert half.read_bytes() == b"half"
        write()
        assert not half.exists()
    assert contents(tmp_path) == {"other": b"text"}


def test_what_another_process_writes_or_is_not_a_temporary_file_stays(
    tmp_path: Path,
) -> None:
    written, folder, linked = (new_beside(tmp_path / name) for name in "abc")
    own = tmp_path / ".notes.new"
    of_another_machine = tmp_path / ".a.0123456789abcdef.new"
    for path in written, own, of_another_machine:
        path.touch()
    folder.mkdir()
    linked.symlink_to(own)
    before = set(tmp_path.iterdir())
    with open(written, "rb") as file:
        flock(file, LOCK_EX)
        write_atomically((tmp_path / "file", ["text"]))
    assert set(tmp_path.iterdir()) == before | {tmp_path / "file"}


def test_two_writers_of_one_process_leave_each_other_alone(tmp_path: Path) -> None:
    def outer(file: Any) -> None:
        file.write(b"outer")
        write_whole(tmp_path / "inner", lambda file: file.write(b"inner"))

    write_whole(tmp_path / "outer", outer)
    assert contents(tmp_path) == {"outer": b"outer", "inner": b"inner"}


def test_a_file_that_was_removed_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def removed_meanwhile(file: Any, how: int) -> None:
        if how == LOCK_EX:
            made.append(Path(file.name))
            if len(made) == 1:
                made[0].unlink()
        flock(file, how)

    monkeypatch.setattr("bpe_core.whole_file.fcntl.flock", removed_meanwhile)
    write_atomically((tmp_path / "file", ["text"]))
    assert len(made) == 2
    assert contents(tmp_path) == {"file": b"text"}


def test_a_long_name_of_many_bytes_can_be_written(tmp_path: Path) -> None:
    place = tmp_path / ("中" * 80)
    write_atomically((place, ["text"]))
    assert contents(tmp_path) == {place.name: b"text"}
