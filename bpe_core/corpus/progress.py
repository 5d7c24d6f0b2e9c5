"""Progress of reading files: reported at intervals, at which it is also asked whether to stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core.corpus.reading import TextFile

REPORT_EVERY: Final = 0.02
"""Seconds between two reports, at least."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading has come."""

    done: int
    """Bytes on disk read so far."""
    total: int
    """Bytes on disk, all files together."""
    name: str
    """The file being read."""


class Stopped(Exception):
    """Raised by `Reading.report` when `stop` says so."""


class Reading:
    """Keeps how much of several files has been read; calls `progress` and `stop` at most every REPORT_EVERY seconds."""

    def __init__(
        self, total: int, progress: Callable[[Progress], None] | None, stop: Callable[[], bool] | None
    ) -> None:
        self.total = total
        """Bytes on disk, all files together."""
        self.before = 0
        """Bytes on disk of the files that have been read to their ends."""
        self.name = ""
        """The file being read."""
        self._progress = progress or (lambda _: None)
        self._stop = stop or (lambda: False)
        self._next_report = 0.0

    def blocks(self, file: TextFile) -> Iterator[str]:
        """The text of a file in blocks, reported on as it is read. Raises Stopped and Unreadable."""
        self.name = file.name
        yield from file.blocks_with_progress(self.report)
        self.before += file.size

    def report(self, position: int) -> None:
        """Report that `before + position` bytes are read, unless REPORT_EVERY has not passed yet. Raises Stopped."""
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + REPORT_EVERY
            self._progress(Progress(self.before + position, self.total, self.name))
            if self._stop():
                raise Stopped

    def finish(self) -> None:
        """Report that all has been read."""
        self._progress(Progress(self.total, self.total, ""))
