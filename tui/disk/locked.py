"""Files that a running copy of the app has locked for itself: the editor's text, notes on unfinished trainings, and a
temporary folder."""

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
from tui.disk.config import checked, lock, read_file, size_and_time
from tui.state import UnfinishedTraining


class Autosave:
    """The editor's text between two starts: read once, written beside the screen, each copy of the app its own.

    Whatever is wrong with it is told in a sentence, and nothing that could not be read is written over. Lines are
    written and no text: to put eight million characters together would hold up the keys for a tenth of a second.
    """

    def __init__(self, tell: config.Teller) -> None:
        self.path, self._lock = _own_file()
        if self.path != config.text_file():
            tell(
                f"Another bpescope is open: the text of this one is kept separately, in {self.path}."
            )
        remove_abandoned(self.path.parent)
        self.beginning = config.load_text(
            self.path, tell
        )  # the text of the last run; None if there was none
        self.n_kept = 0  # how many edits the text had that is kept; what stood there before the first need not be
        self._writing = threading.Lock()

    def keep(self, lines: Sequence[str], n_edits: int) -> None:
        """Write the text after so many edits, if none of as many is kept; threads take turns. Raises OSError."""
        with self._writing:
            if n_edits > self.n_kept:
                config.save_text(lines, self.path)
                self.n_kept = n_edits

    def keep_somewhere(self, lines: Sequence[str], n_edits: int) -> str:
        """Keep it, among temporary files if it must be; a sentence if so. Raises OSError if it is nowhere."""
        try:
            self.keep(lines, n_edits)
            return ""
        except OSError as error:
            elsewhere = Path(
                tempfile.gettempdir(), f"bpescope-text-{os.urandom(4).hex()}.txt"
            )
            config.save_text(lines, elsewhere)
            self.n_kept = n_edits
            return f"The text could not be kept for the next start ({error.strerror}); it is in {elsewhere}."

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _own_file() -> tuple[Path, int | None]:
    """The first of the text files that nobody else has locked, and a lock on it, to be closed."""
    for path in map(config.text_file, count(1)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(
                path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600
            )
        except OSError:  # where nothing can be written there is nothing to be locked
            return path, None
        if lock(file):
            return path, file
        os.close(file)
    raise AssertionError("there are more numbers than that")


_SUFFIX: Final = ".unfinished"


class Note:
    """The note on a training that has not ended, beside the file `output` that its tokenizer is to be kept in.

    It says what is needed to go on after any end of the app. It is ours until `end` or `leave`: others neither take
    its name nor ask whether to go on with it.
    """

    def __init__(self, output: Path, file: int) -> None:
        self.output = output
        self._path = Path(f"{output}{_SUFFIX}")
        self._file = file

    @classmethod
    def new(cls, named: Path, training: UnfinishedTraining) -> Self:
        """A note on a training to be kept as `named`, or with the first number behind that which nothing has.

        Raises OSError if no note can be written there.
        """
        for number in count(1):
            output = named.with_stem(f"{named.stem}-{number}") if number > 1 else named
            if not (output.exists() or checkpoint_of(output).exists()):
                with suppress(FileExistsError):
                    return cls.again(output, training, os.O_EXCL)
        raise AssertionError("there are more numbers than that")

    @classmethod
    def again(cls, output: Path, training: UnfinishedTraining, flags: int = 0) -> Self:
        """The note on a training that goes on. Raises OSError, also where another copy of the app resumes it."""
        note = cls(
            output, os.open(f"{output}{_SUFFIX}", os.O_RDWR | os.O_CREAT | flags, 0o600)
        )
        if not lock(note._file):
            note.leave()
            raise OSError(errno.EBUSY, "another bpescope resumes it", str(output))
        try:
            note.write(training)
        except OSError:
            note.end()
            raise
        return note

    def write(self, training: UnfinishedTraining) -> None:
        """Write what is needed now. Raises OSError, and then the note says what it said before."""
        # In place: a file of another name that replaced this one would not be locked.
        before = os.pread(self._file, os.fstat(self._file).st_size, 0)
        try:
            self._put((json.dumps(asdict(training), indent=1) + "\n").encode())
        except OSError:
            # The file already has the space for it.
            self._put(before)
            raise

    def _put(self, data: bytes) -> None:
        if os.pwrite(self._file, data, 0) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.ftruncate(self._file, len(data))

    def read(self) -> UnfinishedTraining | None:
        """What is needed to go on; None if that cannot be read."""
        try:
            stored = untrusted_json.parse(read_file(self._path))
        except (OSError, ValueError):
            return None
        kept = cast(UnfinishedTraining, checked(UnfinishedTraining(), stored, []))
        return kept if kept.title else None

    @property
    def left(self) -> Path | None:
        """The file in which the training has left what it learned; None if there is none.

        One that was killed leaves its checkpoint; one that ended with the app, or after it, leaves its tokenizer.
        """
        return next(
            (
                file
                for file in (checkpoint_of(self.output), self.output)
                if file.is_file()
            ),
            None,
        )

    def end(self) -> None:
        """The training has ended: there is nothing to go on with."""
        with suppress(OSError):
            self._path.unlink()
        self.leave()

    def leave(self) -> None:
        """The app ends, and the training with it: the next copy of the app that looks for notes may have it."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def left_behind(folder: Path) -> list[Note]:
    """The notes in a folder that no running copy of the app has, the oldest first; they are ours now."""
    notes = []
    for path in sorted(
        folder.glob(f"*{_SUFFIX}"), key=lambda path: size_and_time(path)[1]
    ):
        with suppress(OSError):
            file = os.open(path, os.O_RDWR)
            if lock(file) and os.path.samestat(
                os.fstat(file), path.stat()
            ):  # else it has ended meanwhile
                notes.append(Note(path.with_suffix(""), file))
            else:
                os.close(file)
    return notes


def checkpoint_of(output: Path) -> Path:
    return Path(f"{output}.checkpoint")


_SCRATCH: Final = f"bpescope-{MACHINE}-"


class ScratchFolder:
    """A temporary folder, made when it is first needed, and removed at the end of the `with` statement."""

    def __init__(self) -> None:
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @cached_property
    def path(self) -> Path:
        """Make the folder, and lock it. Raises OSError."""
        remove_abandoned_folders()
        while True:
            folder = tempfile.TemporaryDirectory(
                prefix=_SCRATCH, ignore_cleanup_errors=True
            )
            path = Path(self._held.enter_context(folder))
            file = os.open(path, os.O_RDONLY)
            self._held.callback(os.close, file)
            # Another copy may have taken it for abandoned just before the lock.
            if lock(file) and path.exists():
                return path


def remove_abandoned_folders() -> None:
    """Remove the temporary folders of killed copies of the app. Those of running copies are locked."""
    for path in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                flock(file, LOCK_EX | LOCK_NB)
                shutil.rmtree(path)
            finally:
                os.close(file)
