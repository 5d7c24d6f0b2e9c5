"""stdin, stdout and stderr when they are closed from the start, full, or have lost their reader."""

import os
import sys
from contextlib import suppress
from typing import IO, Final

_STANDARD: Final = ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))
"""(descriptor, name in `sys`, mode in which a closed one is opened on /dev/null).

stdin is opened for writing and stdout for reading only, so that using them is still an error; what is printed to stderr
is discarded."""


def open_closed_streams() -> None:
    """Open /dev/null at each standard descriptor that is closed, lest the next file opened become stdout or stderr."""
    for descriptor, name, mode in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # the lowest that is free, which is this one
        if getattr(sys, name) is None:
            stream = open(descriptor, "w" if descriptor else "r", closefd=False)  # noqa: SIM115  to the very end
            setattr(sys, name, stream)


class Unfailing:
    """Wraps a stream so that writing never raises OSError; what cannot be written (a closed terminal) is discarded."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")

    def write(self, text: str) -> int:
        """Write `text`, or discard it; its length."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the stream; an OSError is ignored."""
        with suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """`isatty` of the stream."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """`fileno` of the stream."""
        return self._stream.fileno()


def print_to_stderr(sentence: str) -> None:
    """Print a line to stderr; if that cannot be written to, discard it and all that follows."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def discard(stream: IO[str]) -> None:
    """Redirect the descriptor of a broken stream to /dev/null; else Python would fail when it flushes it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
