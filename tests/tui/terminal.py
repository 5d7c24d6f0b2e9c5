"""The app in a terminal whose other side a test holds, so that it sees every byte; and what its processes do."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.terminals import Terminal, python_in_terminal

_CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # a control sequence, such as a color or a place on the screen
    rb"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # a command to the terminal, such as a title
    rb"|\x1b[P_^X][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-~]"
)


def children(parent: int | None = None) -> set[int]:
    """The processes that `parent`, or this one, has started and that are still there."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, of, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(of) == (parent or os.getpid()) and state != "Z":
                found.add(int(folder.name))
    return found


def at_work(process: int, but: int = 0) -> bool:
    """Whether any thread of a process runs, or would if a core were free, `but` for the thread of this number."""
    try:
        threads = [
            thread
            for thread in Path(f"/proc/{process}/task").iterdir()
            if int(thread.name) != but
        ]
        states = {
            (thread / "stat").read_text().rpartition(")")[2].split()[0]
            for thread in threads
        }
    except OSError:  # a thread has just ended: look again
        return True
    return bool(states & {"R", "D"})


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
