"""stdin, stdout and stderr as they may be found: closed by whoever started us, full, or without a reader any more."""

import os
import sys
from contextlib import suppress
from typing import IO, Final

_STANDARD: Final = ((0, "stdin", os.O_WRONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))
"""Descriptor, name in `sys`, and how a closed one is opened: what nobody gave us to read from or to print to stays an
error for who tries, while sentences that nobody wants to hear go nowhere."""


def hold_open() -> None:
    """Take the places of standard streams that are closed, before a file is opened there and printed into."""
    for descriptor, name, way in _STANDARD:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, way)  # the lowest that is free, which is this one
        if getattr(sys, name) is None:
            stream = open(descriptor, "w" if descriptor else "r", closefd=False)  # noqa: SIM115  to the very end
            setattr(sys, name, stream)


class Unfailing:
    """A stream whose reader may leave, such as a terminal that hangs up; what is written after that goes nowhere."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")

    def write(self, text: str) -> int:
        """Write it if that can be."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Send on what is not sent yet, if that can be."""
        with suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal, or was one."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Its descriptor."""
        return self._stream.fileno()


def tell(sentence: str) -> None:
    """Say something on stderr; that nobody can hear it is no reason to end what is said."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        let_go(sys.stderr)


def let_go(stream: IO[str]) -> None:
    """Lead a stream that takes nothing more to nowhere, or Python would try once more when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
