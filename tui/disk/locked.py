"""Files that a running copy of the app locks, so that a second copy leaves them alone.

They are the editor's text, the notes on unfinished trainings, and a temporary folder.
"""

import errno
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from fcntl import LOCK_EX, LOCK_NB, flock
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Final, Self, cast

from bpe_core import untrusted_json
from bpe_core.whole_file import MACHINE, remove_abandoned
from tui.disk import config
from tui.disk.config import checked, lock, read_file, size_and_time, write_file
from tui.state import EditorPlace, UnfinishedTraining


class Autosave:
    """The file of the editor's text: read at the start, then written in a thread.

    Each running copy of the app has a file of its own. The text is passed as lines: joining eight
    million characters would block the keys for a tenth of a second.
    """

    def __init__(self, tell: config.Teller) -> None:
        self.path, self._lock = _lock_first_free_file()
        if self.path != config.text_file():
            tell(f"Another bpescope is open: this one saves its text in {self.path}.")
        remove_abandoned(self.path.parent)
        self.beginning = config.load_text(self.path, tell)
        """The text of the last run; None at the first start."""
        self._place_file = self.path.with_suffix(".place.json")
        self.place = EditorPlace()
        """The cursor and the part in view of the saved text."""
        if self.beginning is not None:
            self.place = self._load_place()
        self.n_kept = 0
        """The number of edits up to the saved text; 0 until an edit was saved."""
        self._writing = threading.Lock()

    def keep(self, lines: Sequence[str], n_edits: int) -> None:
        """Save the text after `n_edits` edits, unless a later one is saved. Raise OSError.

        Threads that call this wait for each other.
        """
        with self._writing:
            if n_edits > self.n_kept:
                config.save_text(lines, self.path)
                self.n_kept = n_edits

    def _load_place(self) -> EditorPlace:
        """Return the place of the last run; an invalid one is not worth a sentence."""
        try:
            stored = untrusted_json.parse(read_file(self._place_file))
        except (OSError, ValueError):
            return EditorPlace()
        return cast(EditorPlace, checked(EditorPlace(), stored, []))

    def keep_place(self, place: EditorPlace) -> None:
        """Save the cursor and the part in view. If the disk refuses it, the next start begins elsewhere."""
        with self._writing, suppress(OSError):
            if place != self.place:
                write_file(self._place_file, [json.dumps(asdict(place)).encode()])
                self.place = place

    def keep_somewhere(self, lines: Sequence[str], n_edits: int) -> str:
        """Save the text, in the folder of temporary files if its own file cannot be written.

        Return a sentence that names the temporary file, or "". Raise OSError if both fail.
        """
        try:
            self.keep(lines, n_edits)
            return ""
        except OSError as error:
            name = f"bpescope-text-{os.urandom(4).hex()}.txt"
            elsewhere = Path(tempfile.gettempdir(), name)
            config.save_text(lines, elsewhere)
            self.n_kept = n_edits
            return f"The text was saved as {elsewhere}: {self.path} cannot be written ({error.strerror})."

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock_first_free_file() -> tuple[Path, int | None]:
    """Lock the first text file that no other copy of the app has locked.

    Return its path, and the descriptor of the lock; None if no lock file can be written.
    """
    for number in count(1):
        path = config.text_file(number)
        lock_file = path.with_name(f".{path.name}.lock")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            # The folder cannot be written, so no text of another copy is saved in it.
            return path, None
        if lock(file):
            return path, file
        os.close(file)
    raise AssertionError("count() never ends")


_SUFFIX: Final = ".unfinished"


class Note:
    """A file on an unfinished training, next to the file `output` in which its tokenizer will be saved.

    The note holds the data to resume the training after the app has ended in any way. Until `end` or
    `leave` it is locked, so that other copies of the app do not use its name or offer to resume it.
    """

    def __init__(self, output: Path, file: int) -> None:
        self.output = output
        self._path = Path(f"{output}{_SUFFIX}")
        self._file = file

    @classmethod
    def new(cls, named: Path, training: UnfinishedTraining) -> Self:
        """Create the note of a training whose tokenizer will be called `named`.

        If a file has that name, append the first free number. Raise OSError if the note cannot be written.
        """
        for number in count(1):
            output = named
            if number > 1:
                output = named.with_stem(f"{named.stem}-{number}")
            if not (output.exists() or checkpoint_of(output).exists()):
                with suppress(FileExistsError):
                    return cls.again(output, training, os.O_EXCL)
        raise AssertionError("count() never ends")

    @classmethod
    def again(cls, output: Path, training: UnfinishedTraining, flags: int = 0) -> Self:
        """Open or create the note of a training that is resumed.

        Raise OSError, also if another copy of the app resumes the training.
        """
        file = os.open(f"{output}{_SUFFIX}", os.O_RDWR | os.O_CREAT | flags, 0o600)
        note = cls(output, file)
        if not lock(note._file):
            note.leave()
            raise OSError(errno.EBUSY, "another bpescope is resuming it", str(output))
        try:
            note.write(training)
        except OSError:
            note.end()
            raise
        return note

    def write(self, training: UnfinishedTraining) -> None:
        """Replace the content of the note. Raise OSError, with the content unchanged."""
        # Write in place: a new file that replaced this one would not be locked.
        before = os.pread(self._file, os.fstat(self._file).st_size, 0)
        try:
            text = json.dumps(asdict(training), indent=1) + "\n"
            self._put(text.encode())
        except OSError:
            # The old content fits even on a full disk: the file still has its space.
            self._put(before)
            raise

    def _put(self, data: bytes) -> None:
        if os.pwrite(self._file, data, 0) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(self._file, len(data))

    def read(self) -> UnfinishedTraining | None:
        """Return the training to resume, or None if the note cannot be read."""
        try:
            stored = untrusted_json.parse(read_file(self._path))
        except (OSError, ValueError):
            return None
        kept = cast(UnfinishedTraining, checked(UnfinishedTraining(), stored, []))
        return kept if kept.title else None

    def find_merges(self) -> Path | None:
        """Return the file with the merges learned so far, or None if no file has them.

        A killed training leaves a checkpoint; one that ended with the app leaves a tokenizer.
        """
        for file in (checkpoint_of(self.output), self.output):
            if file.is_file():
                return file
        return None

    def end(self) -> None:
        """Delete the note: the training has ended."""
        with suppress(OSError):
            self._path.unlink()
        self.leave()

    def leave(self) -> None:
        """Unlock the note, so that the next copy of the app can resume the training."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def left_behind(folder: Path) -> list[Note]:
    """Lock and return the notes in a folder that no running copy of the app has locked, oldest first."""
    notes = []
    by_age = sorted(
        (size_and_time(path)[1], path) for path in folder.glob(f"*{_SUFFIX}")
    )
    for _, path in by_age:
        with suppress(OSError):
            file = os.open(path, os.O_RDWR)
            # If the training has just ended, the file at the path is gone or a new one.
            if lock(file) and os.path.samestat(os.fstat(file), path.stat()):
                notes.append(Note(path.with_suffix(""), file))
            else:
                os.close(file)
    return notes


def checkpoint_of(output: Path) -> Path:
    return Path(f"{output}.checkpoint")


_SCRATCH: Final = f"bpescope-{MACHINE}-"


class ScratchFolder:
    """A temporary folder, made at its first use, and removed at the end of the `with` statement."""

    def __init__(self) -> None:
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def write(self, name: str, text: str) -> Path:
        """Write a text, even one with lone surrogates, to a file of this name. Raise OSError."""
        path = self.path / name
        path.write_bytes(text.encode("utf-8", "replace"))
        return path

    @cached_property
    def path(self) -> Path:
        """The folder, made and locked at the first use. Raise OSError."""
        remove_abandoned_folders()
        while True:
            folder = tempfile.TemporaryDirectory(
                prefix=_SCRATCH, ignore_cleanup_errors=True
            )
            path = Path(self._held.enter_context(folder))
            file = os.open(path, os.O_RDONLY)
            self._held.callback(os.close, file)
            # Just before the lock, another copy may have removed the folder as abandoned.
            if lock(file) and path.exists():
                return path


def remove_abandoned_folders() -> None:
    """Remove the temporary folders of killed copies of the app. Running copies have locked theirs."""
    for path in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                flock(file, LOCK_EX | LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(file)
