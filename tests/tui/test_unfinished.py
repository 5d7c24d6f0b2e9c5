"""Notes on trainings that have not ended: each has a name of its own, and one copy of the app that answers for it."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bpe_core import save, train
from tui.disk.locked import Note, left_behind
from tui.state import TrainingOptions, UnfinishedTraining

OPTIONS = TrainingOptions(300, more={"sample": "1/2"})
BOOK = UnfinishedTraining("book", OPTIONS, ("book.txt",), begin="old.json", begin_step=3)
TRAINS = """
import sys
from pathlib import Path
from tui.disk.locked import Note
from tui.state import UnfinishedTraining
note = Note.new(Path(sys.argv[1]), UnfinishedTraining("of another copy"))
print(flush=True)
input()
"""


def test_a_training_takes_no_name_of_a_tokenizer_nor_of_a_training_that_did_not_end(tmp_path: Path) -> None:
    named = tmp_path / "book.json"
    save(train("abab", vocab_size=257), named)
    save(train("abab", vocab_size=257), tmp_path / "book-2.json.checkpoint")
    notes = [Note.new(named, BOOK) for _ in range(2)]
    assert [note.output.name for note in notes] == ["book-3.json", "book-4.json"]
    with ThreadPoolExecutor(8) as pool:
        names = {note.output.name for note in pool.map(lambda _: Note.new(tmp_path / "other.json", BOOK), range(16))}
    assert len(names) == 16


def test_a_note_is_read_by_one_copy_of_the_app_once_the_other_has_left(tmp_path: Path) -> None:
    note = Note.new(tmp_path / "book.json", UnfinishedTraining("a title that is longer than the next one"))
    assert left_behind(tmp_path) == []
    note.write(BOOK)
    note.leave()
    (found,) = left_behind(tmp_path)
    assert found.read() == BOOK and found.output == note.output and found.left is None
    assert left_behind(tmp_path) == [], "it has been found"
    (tmp_path / "book.json").touch()
    assert found.left == tmp_path / "book.json"
    (tmp_path / "book.json.checkpoint").touch()
    assert found.left == tmp_path / "book.json.checkpoint"
    found.end()
    assert {path.name for path in tmp_path.iterdir()} == {"book.json", "book.json.checkpoint"}


def test_a_copy_that_is_killed_leaves_its_note(tmp_path: Path) -> None:
    root, command = Path(__file__).parents[2], [sys.executable, "-c", TRAINS, str(tmp_path / "book.json")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as other:
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
