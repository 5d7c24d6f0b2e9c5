"""The app in a terminal whose other side a test holds, so that it sees every byte that is sent."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from scope import PATIENCE, at_work, children

_CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, such as a color or a place on the screen
    rb"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a command to the terminal, such as a title
    rb"|\x1b[P_^X][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-~]"
)


class Terminal:
    """A running app: what it sent, and a keyboard."""

    def __init__(self, pid: int, side: int) -> None:
        self.pid = pid
        self.sent = b""
        """Every byte so far."""
        self.code: int | None = None
        """How the app has ended, once it has."""
        self._side = side

    def read(self, seconds: float = 0.05) -> bytes:
        """What has arrived, or arrives within a moment; empty when nothing does, or the app has ended."""
        if self._side < 0:
            time.sleep(seconds)
            return b""
        ready, _, _ = select.select([self._side], [], [], seconds)
        try:
            data = os.read(self._side, 1 << 16) if ready else b""
        except OSError:  # Linux says so when the app has ended
            data = b""
        self.sent += data
        return data

    def type(self, keys: str | bytes) -> None:
        """Press keys, given as the bytes a terminal sends for them."""
        os.write(self._side, keys.encode() if isinstance(keys, str) else keys)

    def paste(self, text: str) -> None:
        """Paste, as terminals tell it to programs that ask for it."""
        self.type(b"\x1b[200~" + text.encode() + b"\x1b[201~")

    @property
    def text(self) -> str:
        """What was sent, without the control sequences; parts of a line may come in any order."""
        return _CONTROL.sub(b"", self.sent).decode("utf-8", "replace")

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Read until `holds()` is true."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"it did not come about that {what}; last seen: {self.text[-2000:]}"
            self.read()

    def until_shown(self, text: str) -> None:
        """Read until `text` was sent after this call."""
        begin = len(self.sent)
        self.until(
            lambda: text in _CONTROL.sub(b"", self.sent[begin:]).decode("utf-8", "replace"), f"{text!r} is shown"
        )

    def settle(self) -> None:
        """Read until nothing comes any more, and nothing will: on a busy machine silence alone says little."""
        while self.read(0.25) or any(map(at_work, (self.pid, *children(self.pid)))):
            pass

    def controls(self) -> set[bytes]:
        """The control sequences that were sent."""
        return set(_CONTROL.findall(self.sent))

    @property
    def has_ended(self) -> bool:
        """Whether the app has ended; what is typed then, the terminal itself echoes."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code is not None

    def wait(self) -> int:
        """Read until the app ends, which it is told by something else than a key; its exit code."""
        try:
            self.until(lambda: self.has_ended, "the app ends")
        except BaseException:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise
        assert self.code is not None
        return self.code

    def hang_up(self) -> None:
        """Close the terminal's window."""
        os.close(self._side)
        self._side = -1

    def close(self) -> None:
        """Leave the app, which is given time to; unless it has ended."""
        try:
            if self.code is None:
                self.type("\x11")
                assert self.wait() == 0, f"the app has ended with {self.code}: {self.text[-2000:]}"
        finally:
            if self._side >= 0:
                os.close(self._side)


@contextmanager
def terminal(
    *arguments: str | Path, columns: int = 120, rows: int = 40, program: tuple[str, ...] = ("-m", "tui")
) -> Iterator[Terminal]:
    """The app, or another program of Python's, in a terminal of this size; leaving it is quitting it."""
    pid, side = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        sized = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        environment = {**sized, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execve(sys.executable, [sys.executable, *program, *map(str, arguments)], environment)
    app = Terminal(pid, side)
    try:
        yield app
    finally:
        app.close()
