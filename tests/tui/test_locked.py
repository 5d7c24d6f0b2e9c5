"""What a running copy of the app has for itself: the editor's text on the disk, and notes on unfinished trainings."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest
from scope import ROOT

from bpe_core import save, train
from bpe_core.whole_file import new_beside
from tui.disk import config, locked
from tui.disk.locked import (
    Autosave,
    Note,
    ScratchFolder,
    left_behind,
    remove_abandoned_folders,
)
from tui.state import EditorPlace, TrainingOptions, UnfinishedTraining

pytestmark = pytest.mark.usefixtures("home")


def kept(told: list[str] | None = None) -> Autosave:
    return Autosave((told if told is not None else []).append)


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "[]",
        "{",
        '{"cursor": 1e999, "top": "x", "left": null}',
        '{"cursor": true, "is_cursor_in_view": 7, "more": 1}',
    ],
)
def test_an_invalid_place_of_the_cursor_is_not_used(stored: str) -> None:
    config.save_text("a short text")
    config.text_file().with_name("editor.place.json").write_text(stored)
    assert kept().place == EditorPlace()


def test_a_text_comes_back_and_is_written_only_when_it_has_changed() -> None:
    first = kept()
    assert first.beginning is None
    first.keep(["a greeting"], 0)
    assert config.load_text() is None
    first.keep(["\ufefftyped\r"], 1)
    number = config.text_file().stat().st_ino
    first.keep(["\ufefftyped\r"], 1)
    first.keep(["older"], 0)
    assert config.text_file().stat().st_ino == number
    first.release()
    assert kept().beginning == "\ufefftyped\r"


def test_what_a_killed_copy_was_writing_is_removed_by_the_next() -> None:
    config.text_file().parent.mkdir(parents=True)
    halves = [new_beside(config.text_file(number)) for number in (1, 2)]
    for half in halves:
        half.touch()
    with open(halves[0], "rb") as written_by_another:
        flock(written_by_another, LOCK_EX)
        kept().release()
        assert [half.exists() for half in halves] == [True, False]
    kept().release()
    assert not halves[0].exists()


def test_a_disk_that_refuses_is_told_and_what_is_on_it_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = kept()
    text.keep(["before"], 1)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(OSError):
            text.keep(["after"], 2)
    assert config.load_text() == "before"
    text.keep(["after"], 2)
    assert config.load_text() == "after"


def test_each_running_copy_has_a_text_of_its_own() -> None:
    told: list[str] = []
    first, second, third = kept(), kept(told), kept(told)
    for number, copy in enumerate((first, second, third), 1):
        copy.keep([f"text of copy {number}"], 1)
    assert [sentence.partition(":")[0] for sentence in told] == [
        "Another bpescope is open"
    ] * 2
    assert str(second.path) in told[0] and str(third.path) in told[1]
    first.release()
    second.release()
    assert kept(told).beginning == "text of copy 1"
    assert kept(told).beginning == "text of copy 2"
    assert len(told) == 3


@pytest.mark.parametrize("odd", ["folder", "pipe", "nowhere"])
def test_where_nothing_can_be_locked_there_is_one_text(odd: str) -> None:
    config.save_text("kept")
    lock = config.text_file().with_name(".editor.txt.lock")
    if odd == "folder":
        lock.mkdir()
    elif odd == "pipe":
        os.mkfifo(lock)
    else:
        lock.symlink_to("/nowhere/at/all")
    told: list[str] = []
    text = kept(told)
    assert (text.beginning, text.path, told) == ("kept", config.text_file(), [])
    text.keep(["more"], 1)
    assert config.load_text() == "more"


def test_a_text_that_finds_no_place_goes_among_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuge = tmp_path / "refuge"
    refuge.mkdir()
    monkeypatch.setattr(locked.tempfile, "tempdir", str(refuge))
    text = kept()
    assert text.keep_somewhere(["in its place"], 1) == ""
    config.text_file().unlink()
    config.text_file().mkdir()
    sentence = text.keep_somewhere(["all of it\r", ""], 2)
    (path,) = refuge.iterdir()
    assert str(path) in sentence and path.read_bytes() == b"all of it\r\n"
    assert text.keep_somewhere(["all of it\r", ""], 2) == ""  # once is enough
    monkeypatch.setattr(
        locked.tempfile, "tempdir", str(tmp_path / "nowhere" / "at all")
    )
    (tmp_path / "nowhere").touch()
    with pytest.raises(OSError):
        text.keep_somewhere(["more"], 3)


OPTIONS = TrainingOptions(300, more={"sample": "1/2"})
BOOK = UnfinishedTraining(
    "book", OPTIONS, ("book.txt",), begin="old.json", begin_step=3
)
TRAINS = """
import sys
from pathlib import Path
from tui.disk.locked import Note
from tui.state import UnfinishedTraining
note = Note.new(Path(sys.argv[1]), UnfinishedTraining("of another copy"))
print(flush=True)
input()
"""


def test_a_training_takes_no_name_of_a_tokenizer_nor_of_a_training_that_did_not_end(
    tmp_path: Path,
) -> None:
    named = tmp_path / "book.json"
    save(train("abab", vocab_size=257), named)
    save(train("abab", vocab_size=257), tmp_path / "book-2.json.checkpoint")
    notes = [Note.new(named, BOOK) for _ in range(2)]
    assert [note.output.name for note in notes] == ["book-3.json", "book-4.json"]
    with ThreadPoolExecutor(8) as pool:
        names = {
            note.output.name
            for note in pool.map(
                lambda _: Note.new(tmp_path / "other.json", BOOK), range(16)
            )
        }
    assert len(names) == 16


def test_a_note_is_read_by_one_copy_of_the_app_once_the_other_has_left(
    tmp_path: Path,
) -> None:
    note = Note.new(
        tmp_path / "book.json",
        UnfinishedTraining("a title that is longer than the next one"),
    )
    assert left_behind(tmp_path) == []
    note.write(BOOK)
    note.leave()
    (found,) = left_behind(tmp_path)
    assert (
        found.read() == BOOK
        and found.output == note.output
        and found.find_merges() is None
    )
    assert left_behind(tmp_path) == [], "it has been found"
    (tmp_path / "book.json").touch()
    assert found.find_merges() == tmp_path / "book.json"
    (tmp_path / "book.json.checkpoint").touch()
    assert found.find_merges() == tmp_path / "book.json.checkpoint"
    found.end()
    assert {path.name for path in tmp_path.glob("book*")} == {
        "book.json",
        "book.json.checkpoint",
    }


def test_a_copy_that_is_killed_leaves_its_note(tmp_path: Path) -> None:
    root, command = (
        Path(__file__).parents[2],
        [sys.executable, "-c", TRAINS, str(tmp_path / "book.json")],
    )
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
    ) as other:
        assert other.stdout and other.stdout.readline()
        assert left_behind(tmp_path) == []
        other.kill()
    (found,) = left_behind(tmp_path)
    assert found.read() == UnfinishedTraining("of another copy")


def test_a_note_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    Note.new(tmp_path / "book.json", BOOK).leave()
    for broken in b"", b"{", b"[]", b'{"title": 7}', b"\xff":
        (tmp_path / "book.json.unfinished").write_bytes(broken)
        (found,) = left_behind(tmp_path)
        assert found.read() is None
        found.leave()


USES_A_FOLDER = """
import tempfile
from tui.disk.locked import ScratchFolder
with ScratchFolder() as folder:
    (folder.path / "text.txt").touch()
    print(folder.path, flush=True)
    input()
"""


def test_the_temporary_folder_of_a_killed_copy_is_removed_by_the_next(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = Path(locked.tempfile.gettempdir())
    monkeypatch.setenv("TMPDIR", str(temporary))
    own = temporary / "bpescope-notes"
    own.mkdir()
    command = [sys.executable, "-c", USES_A_FOLDER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as other:
        assert other.stdout
        left = Path(other.stdout.readline().strip())
        remove_abandoned_folders()
        assert left.parent == temporary and left.is_dir(), "the other copy runs"
        other.kill()
    with ScratchFolder() as folder:
        assert set(temporary.iterdir()) == {own, left}, "not needed yet"
        path = folder.path
        assert set(temporary.iterdir()) == {own, path}
        remove_abandoned_folders()
        assert path.is_dir() and folder.path == path
    assert list(temporary.iterdir()) == [own]
