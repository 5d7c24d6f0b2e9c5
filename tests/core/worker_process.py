"""A worker process of the app, as the app sees it: a pipe in, a pipe out."""

import os
import select
import subprocess
import sys
from pathlib import Path

from shell import ROOT

from bpe_core.cli.events import Event
from bpe_core.cli.wire import parse

PATIENCE = 60
"""Seconds after which a test gives up; none should ever need them."""


class Worker:
    """A worker process, one event at a time."""

    def __init__(self, *arguments: str | Path, cwd: Path, stream: bool = True) -> None:
        command = [sys.executable, "-m", "bpe_core", *map(str, arguments), *(["--stream"] if stream else [])]
        pipe = subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=environment, bufsize=0
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self._lines: list[bytes] = [b""]

    def tell(self, *lines: str) -> None:
        """Send commands."""
        self.stdin.write("".join(f"{line}\n" for line in lines).encode())

    def next(self) -> Event | None:
        """The next event; None when there are no more."""
        while len(self._lines) == 1:
            ready, _, _ = select.select([self.stdout], [], [], PATIENCE)
            assert ready, "the worker says nothing"
            data = os.read(self.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._lines[-1:] = (self._lines[-1] + data).split(b"\n")
        return parse(self._lines.pop(0))

    def rest(self) -> list[Event]:
        """All events until the end."""
        return list(iter(self.next, None))

    def until(self, kind: type[Event]) -> list[Event]:
        """The events up to and with the first of a kind."""
        events: list[Event] = []
        while not events or not isinstance(events[-1], kind):
            event = self.next()
            assert event is not None, f"no {kind.__name__} in {events}; {self.stderr.read().decode()}"
            events.append(event)
        return events

    def code(self) -> int:
        """Wait for its end; its exit code."""
        return self.process.wait(PATIENCE)

    def end(self) -> None:
        """Kill it if it still runs, and close its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in self.stdin, self.stdout, self.stderr:
            pipe.close()
