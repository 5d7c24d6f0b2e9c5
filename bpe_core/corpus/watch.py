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
        self._progress = progress or (lambda _: None)
        self._stop = stop or (lambda: False)
        self._position = 0  # bytes read of the present file
        self._next_look = 0.0

    def over(self, file: TextFile) -> Iterator[str]:
        """The blocks of a file; Stopped where that is wanted."""
        self._position = 0
        for block in file.blocks(self._reached):
            self.look(min(self._position, file.size), file.name)
            yield block
        self.before += file.size

    def look(self, position: int, name: str) -> None:
        """Tell how far the file called `name` has been read, if it is time to; Stopped if that is wanted."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_EVERY
            self._progress(Progress(self.before + position, self.total, name))
            if self._stop():
                raise Stopped

    def finish(self) -> None:
        """Tell that all has been read."""
        self._progress(Progress(self.total, self.total, ""))

    def _reached(self, position: int) -> None:
        self._position = position  # and no more: an error of `progress` must not look like one of the file
