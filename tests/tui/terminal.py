"""The app in a terminal whose other side a test holds, so that it sees every byte; and what its processes do."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.terminals import Terminal, python_in_terminal

_PROC: Final = Path("/proc")
_STATES_ARE_FILES: Final = (_PROC / "self" / "stat").is_file()
_CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, such as a color or a place on the screen
    rb"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a command to the terminal, such as a title
    rb"|\x1b[P_^X][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-~]"
)


class Process(NamedTuple):
    """One row of the system's list of processes."""

    number: int
    parent: int
    state: str
    """R: it runs, S: it sleeps, Z: it has ended, and its parent has not asked how."""


def processes() -> list[Process]:
    """Return all processes. Without /proc, as on macOS, `ps` lists them, which takes ten times as long."""
    if _STATES_ARE_FILES:
        numbers = [name for name in os.listdir(_PROC) if name.isdigit()]
        return [process for process in map(_process_numbered, numbers) if process]
    command = ["ps", "-A", "-o", "pid=,ppid=,state="]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as ps:
        rows = [line.split() for line in ps.communicate()[0].splitlines()]
    listed = [
        Process(int(number), int(parent), state[0]) for number, parent, state in rows
    ]
    return [process for process in listed if process.number != ps.pid]


def _process_numbered(number: str) -> Process | None:
    """Read one process from /proc; None if it has just ended. Paths as strings: a journey asks in each pause."""
    try:
        with open(f"/proc/{number}/stat", "rb") as file:
            state, parent, *_ = file.read().rpartition(b")")[2].split(None, 2)
    except OSError:
        return None
    return Process(int(number), int(parent), state.decode())


def children(parent: int | None = None) -> set[int]:
    """The processes that `parent`, or this one, has started and that are still there."""
    return {
        process.number
        for process in processes()
        if process.parent == (parent or os.getpid()) and process.state != "Z"
    }


def is_alive(number: int) -> bool:
    """Whether a process has not ended yet."""
    return any(
        process.number == number and process.state != "Z" for process in processes()
    )


def at_work(process: int, but: int = 0) -> bool:
    """Whether any thread of a process runs, or would if a core were free, `but` for the thread of this number."""
    if not _STATES_ARE_FILES:
        return _at_work_by_ps(process)
    try:
        threads = [
            thread
            for thread in (_PROC / str(process) / "task").iterdir()
            if int(thread.name) != but
        ]
        states = {
            (thread / "stat").read_text().rpartition(")")[2].split()[0]
            for thread in threads
        }
    except OSError:  # a thread has just ended: look again
        return True
    return bool(states & {"R", "D"})


def _at_work_by_ps(process: int) -> bool:
    """Ask `ps`. The thread that asks sleeps meanwhile, so it need not be left out.

    The state of a process is that of its busiest thread on macOS, and of its first thread on Linux.
    """
    each_thread = ["-L"] if sys.platform == "linux" else []
    command = ["ps", "-o", "state=", "-p", str(process), *each_thread]
    states = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
    return any(state[0] in "RDU" for state in states.split())


class AppTerminal(Terminal):
    """A terminal that a test reads as text, and leaves as a person does."""

    @property
    def text(self) -> str:
        """What was sent, without the control sequences; parts of a line may come in any order."""
        return self._text_from(0)

    def _text_from(self, begin: int) -> str:
        return _CONTROL.sub(b"", self.sent[begin:]).decode("utf-8", "replace")

    def until_shown(self, text: str) -> None:
        """Read until `text` was sent after this call."""
        begin = len(self.sent)
        self.until(lambda: text in self._text_from(begin), f"{text!r} is shown")

    def settle(self) -> None:
        """Read until nothing comes any more, and nothing will: on a busy machine silence alone says little."""
        while self.read(0.25) or any(map(at_work, (self.pid, *children(self.pid)))):
            pass

    def controls(self) -> set[bytes]:
        """The control sequences that were sent."""
        return set(_CONTROL.findall(self.sent))

    def quit(self) -> None:
        """Leave the app by its key, unless it has ended."""
        if self.code is None:
            self.type("\x11")
            assert self.wait() == 0, (
                f"the app has ended with {self.code}: {self.text[-2000:]}"
            )


@contextmanager
def terminal(
    *arguments: str | Path, program: tuple[str, ...] = ("-m", "tui")
) -> Iterator[AppTerminal]:
    """The app, or another program of Python's, in a terminal; leaving it is quitting it."""
    with python_in_terminal(*program, *map(str, arguments), kind=AppTerminal) as app:
        yield app
        app.quit()
