"""Progress of reading files: reported at intervals, at which it is also asked whether to stop."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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
    """Raised by `Reading.look` when `stop` says so."""


class Document(NamedTuple):
    """A document that is to be counted."""

    file: TextFile
    name: str
    """What its source is called."""
    blocks: Iterator[str]
    """Its text; iterating may raise Stopped and Unreadable."""


class Reading:
    """Keeps how much of several files has been read; calls `progress` and `stop` at most every REPORT_EVERY seconds."""

    def __init__(self, progress: Callable[[Progress], None] | None, stop: Callable[[], bool] | None) -> None:
        self.total = 0
        """Bytes on disk, all that are to be read."""
        self._before = self._position = 0
        self.name = ""
        """The file being read."""
        self._progress = progress or (lambda _: None)
        self._stop = stop or (lambda: False)
        self._next_report = 0.0

    def documents(self, files: Sequence[TextFile]) -> Iterator[Document]:
        """Each file, whole. Sets `total`."""
        self.total = sum(file.size for file in files)
        return (self.document(file) for file in files)

    def document(self, file: TextFile, start: int = 0, end: int | None = None) -> Document:
        """A file or a part of it (see `TextFile.blocks`), whose name tells where that is; reported on as it is read."""
        place = "" if end is None else f" (bytes {start:,} to {end:,})"
        return Document(file, file.name + place, self._blocks(file, start, end))

    def _blocks(self, file: TextFile, start: int, end: int | None) -> Iterator[str]:
        self.name = file.name
        yield from file.blocks_with_progress(self._report, start=start, end=end)
        self._before += (file.size if end is None else end) - start
        self._position = 0

    def _report(self, position: int) -> None:
        self._position = position
        self.look()

    def look(self) -> None:
        """Report how much is read, unless REPORT_EVERY has not passed since the last time. Raises Stopped."""
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + REPORT_EVERY
            self._progress(Progress(self._before + self._position, self.total, self.name))
            if self._stop():
                raise Stopped

    def finish(self) -> None:
        """Report that all has been read."""
        self._progress(Progress(self.total, self.total, ""))
