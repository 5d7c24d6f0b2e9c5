"""The editor's text between two starts: read once, written beside the screen, and each copy of the app with its own."""

import asyncio
import os
import tempfile
import threading
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from tui.disk import config, files


class Autosave:
    """A text file that no other running copy of the app writes to.

    Whatever is wrong with it is told in a sentence, and nothing that could not be read is written over. Lines are
    written and no text: to put eight million characters together would hold up the keys for a tenth of a second, and
    lines that have not changed are told from others at a glance.
    """

    def __init__(self, tell: config.Teller) -> None:
        self.path, self._lock = _own_file()
        if self.path != config.text_file():
            tell(f"Another bpescope is open: the text of this one is kept by itself, in {self.path}.")
        self.beginning = config.load_text(self.path, tell)  # the text of the last run; None if there was none
        self._kept: Sequence[str] = ()
        self._order = self._newest_written = 0
        self._writing = threading.Lock()

    def set_kept(self, lines: Sequence[str]) -> None:
        """What stands in the editor at the beginning: it need not be written, be it the kept text or a greeting."""
        self._kept = tuple(lines)

    async def keep(self, lines: Sequence[str]) -> None:
        """Write a text beside the screen, if it is not there already. Raises OSError."""
        if tuple(lines) != self._kept:
            self._order += 1
            await asyncio.to_thread(self._write, tuple(lines), self._order)

    def keep_now(self, lines: Sequence[str]) -> None:
        """Write a text at once, whatever else is being written. Raises OSError."""
        if tuple(lines) != self._kept:
            self._order += 1
            self._write(tuple(lines), self._order)

    def keep_somewhere(self, lines: Sequence[str]) -> str:
        """Keep it at once, among temporary files if it must be; a sentence if so. Raises OSError if it is nowhere."""
        try:
            self.keep_now(lines)
            return ""
        except OSError as error:
            elsewhere = Path(tempfile.gettempdir(), f"bpescope-text-{os.urandom(4).hex()}.txt")
            config.save_text(lines, elsewhere)
            self._kept = tuple(lines)
            return f"The text could not be kept for the next start ({error.strerror}); it is in {elsewhere}."

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write(self, lines: Sequence[str], order: int) -> None:
        with self._writing:
            if order > self._newest_written:  # never an older text over a newer
                config.save_text(lines, self.path)
                self._kept, self._newest_written = lines, order


def _own_file() -> tuple[Path, int | None]:
    """The first of the text files that nobody else has locked, and a lock on it, to be closed."""
    for path in map(config.text_file, count(1)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # where nothing can be written there is nothing to be locked
            return path, None
        if files.lock(lock):
            return path, lock
        os.close(lock)
    raise AssertionError("there are more numbers than that")
