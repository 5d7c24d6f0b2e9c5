"""Progress told, and leave to go on asked for, now and then while files are read."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bpe_core.corpus.reading import TextFile

LOOK_EVERY: Final = 0.02
"""Seconds after which progress is told, and whether to stop is asked, again."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the reading has come."""

    done: int
    """Bytes on disk."""
    total: int
    """Bytes on disk, all files together."""
    name: str
    """The file being read."""


class Stopped(Exception):
    """Somebody asked to stop."""


class Watch:
    """Knows how much has been read, and calls `progress` and `stop` at most every 20 ms."""

    def __init__(
        self, total: int, progress: Callable[[Progress], None] | None, stop: Callable[[], bool] | None
    ) -> None:
        self.total = total
        """Bytes on disk, all files together."""
        self.before = 0
        """Bytes of what has been read whole."""
        self.name = ""
        """The file being read."""
        self._progress = progress or (lambda _: None)
        self._stop = stop or (lambda: False)
        self._next_look = 0.0

    def over(self, file: TextFile) -> Iterator[str]:
        """The blocks of a file; Stopped where that is wanted."""
        self.name = file.name
        yield from file.watched_blocks(self.look)
        self.before += file.size

    def look(self, position: int) -> None:
        """Tell that so many bytes more than `before` have been read, if it is time to; Stopped if that is wanted."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._progress(Progress(self.before + position, self.total, self.name))
            if self._stop():
                raise Stopped

    def finish(self) -> None:
        """Tell that all has been read."""
        self._progress(Progress(self.total, self.total, ""))
