"""A program of Python's in a pseudo-terminal whose other side we hold: all that it writes, a keyboard, how it ends."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

PATIENCE: Final = 300.0
"""Seconds within which a program does what is waited for."""
_KILLED: Final = -signal.SIGKILL


class Terminal:
    """A running program: what it wrote, and a keyboard."""

    def __init__(self, pid: int, side: int) -> None:
        self.pid = pid
        self.sent = bytearray()
        """Every byte that it wrote so far."""
        self.code: int | None = None
        """Its exit code, once it has ended; a signal's number, negative, if that ended it."""
        self.side = side
        """The file descriptor of our side; -1 once the window is closed."""

    def read(self, seconds: float = 0.05) -> bytes:
        """What has arrived, or arrives within so many seconds; empty if nothing does, or the program has ended."""
        if self.side < 0:
            time.sleep(seconds)
            return b""
        ready, _, _ = select.select([self.side], [], [], seconds)
        try:
            data = os.read(self.side, 1 << 16) if ready else b""
        except OSError:  # Linux says so when the program has ended
            data = b""
        self.sent += data
        return data

    def type(self, keys: str | bytes) -> float:
        """Press keys or move the mouse, given as the bytes a terminal sends; when that was, by `time.perf_counter`."""
        now = time.perf_counter()
        os.write(self.side, keys.encode() if isinstance(keys, str) else keys)
        return now

    def paste(self, text: str) -> None:
        """Paste, as terminals tell it to programs that ask for it."""
        self.type(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal's window another size."""
        _resize(self.side, columns, rows)

    def until(
        self, holds: Callable[[], object], what: str, patience: float = PATIENCE
    ) -> None:
        """Read until `holds()` is true; TimeoutError, which says that `what` did not come about, after `patience`."""
        end = time.monotonic() + patience
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(
                    f"it did not come about that {what}; last written: {bytes(self.sent[-2000:])!r}"
                )
            self.read()

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended; what is typed then, the terminal itself echoes."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def wait(self, patience: float = PATIENCE) -> int:
        """Read until the program has ended and all that it wrote has arrived; its exit code. Raises TimeoutError."""
        self.until(lambda: self.has_ended, "it ends", patience)
        while self.side >= 0 and self.read(0):
            pass
        assert self.code is not None
        return self.code

    def hang_up(self) -> None:
        """Close the terminal's window."""
        if self.side >= 0:
            os.close(self.side)
            self.side = -1

    def kill(self) -> None:
        """End the program at once, unless it has ended."""
        if not self.has_ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.code = _KILLED

    @property
    def processor_time(self) -> float:
        """Seconds that all threads of the program have worked, by its own clock (CPUCLOCK_SCHED in Linux)."""
        return time.clock_gettime(((~self.pid) << 3) | 2)


Held = TypeVar("Held", bound=Terminal)


@contextmanager
def python_in_terminal(
    *command: str,
    kind: Callable[[int, int], Held],
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Held]:
    """Python with this command line in a terminal of 120 by 40 cells; what has not ended by then is killed."""
    pid, side = pty.fork()
    if pid == 0:
        _resize(0, 120, 40)
        kept = {
            name: value
            for name, value in environment.items()
            if name not in ("COLUMNS", "LINES")
        }
        shown = {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execve(sys.executable, [sys.executable, *command], shown)
    held = kind(pid, side)
    try:
        yield held
    finally:
        held.kill()
        held.hang_up()


def _resize(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
