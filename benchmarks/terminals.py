"""A program in a pseudo-terminal that a benchmark holds the other side of: keys and mouse in, frames out, with times.

The terminal says that it can show a frame at once (mode 2026), so that the program marks where each begins and ends.
"""

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

ASKED: Final = b"\x1b[?2026$p"
"""By this a program asks whether frames can be shown at once."""
ANSWER: Final = b"\x1b[?2026;2$y"
BEGIN, END = b"\x1b[?2026h", b"\x1b[?2026l"
"""What stands before a frame, and behind it."""
_PLACE: Final = re.compile(r"\x1b\[(\d+);(\d+)H")
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


@dataclass(frozen=True, slots=True)
class Frame:
    """What a program has drawn at once."""

    at: float
    """When its last byte had arrived, on the clock `time.perf_counter`."""
    worked: float
    """Seconds that the program's processor time was by then."""
    data: bytes

    @property
    def lines(self) -> dict[tuple[int, int], str]:
        """The texts that it writes, without their colors, each by the row and column of its first cell, from 0."""
        _, *parts = _PLACE.split(self.data.decode("utf-8", "replace"))
        places = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
        return {(int(row) - 1, int(column) - 1): _CONTROL.sub("", text) for row, column, text in places}


@dataclass
class Terminal:
    """A running program: what it has drawn, and a keyboard."""

    pid: int
    side: int
    frames: list[Frame] = field(default_factory=list)
    """All that it has drawn so far."""
    _rest: bytes = b""

    def send(self, data: str | bytes) -> float:
        """Press keys or move the mouse, as the bytes that a terminal sends; when that was."""
        now = time.perf_counter()
        os.write(self.side, data.encode() if isinstance(data, str) else data)
        return now

    def read(self, seconds: float) -> bool:
        """Read what comes within so many seconds, up to the first pause; whether anything came."""
        if not select.select([self.side], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.side, 1 << 16)
        except OSError:  # the program has ended
            return False
        now, worked = time.perf_counter(), processor_time(self.pid)
        if ASKED in data:
            os.write(self.side, ANSWER)
        *parts, rest = (self._rest + data).split(END)
        for part in parts:
            self.frames.append(Frame(now, worked, part.partition(BEGIN)[2]))
        self._rest = rest
        return True

    def read_for(self, seconds: float) -> None:
        """Read all that comes within so many seconds."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)

    def rest(self, quiet: float = 1.0) -> None:
        """Read until nothing has come for so many seconds."""
        while self.read(quiet):
            pass

    def until(self, *shown: str, patience: float = 120.0, since: int | None = None) -> Frame:
        """Read until a frame after the first `since`, those of before unless it is given, writes one of some texts.

        Raises TimeoutError if there is none within so many seconds.
        """
        looked_at, end = len(self.frames) if since is None else since, time.perf_counter() + patience
        while time.perf_counter() < end:
            for frame in self.frames[looked_at:]:
                if any(text in line for text in shown for line in frame.lines.values()):
                    return frame
            looked_at = len(self.frames)
            self.read(0.05)
        raise TimeoutError(f"{' or '.join(shown)!r} was not shown within {patience:.0f} seconds")


@contextmanager
def terminal(
    *command: str, environment: Mapping[str, str], columns: int = 120, rows: int = 40, leave: bytes = b""
) -> Iterator[Terminal]:
    """Python with this command line in a terminal; at the end `leave` is typed, and after 20 seconds it is killed."""
    pid, side = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        shown = {**kept, **environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        os.execve(sys.executable, [sys.executable, *command], shown)
    held = Terminal(pid, side)
    try:
        yield held
    finally:
        if leave:
            held.send(leave)
        end = time.monotonic() + (20 if leave else 0)
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                break
            held.read(0.05)
        os.close(side)


def processor_time(pid: int) -> float:
    """Seconds that all threads of a process have worked, by its own clock (CPUCLOCK_SCHED in Linux)."""
    return time.clock_gettime(((~pid) << 3) | 2)


def quantile(values: Sequence[float], part: float) -> float:
    """The value below which such a part of them lies.

    >>> quantile([3, 1, 2], 0.5)
    2
    """
    return sorted(values)[int(part * (len(values) - 1))]
