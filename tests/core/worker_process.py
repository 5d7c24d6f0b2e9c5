"""A worker process of the app, as the app sees it: a pipe in, a pipe out."""

import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import astuple
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD

from bpe_core.cli.arguments import Parser
from bpe_core.cli.train import add_arguments, request_of
from bpe_core.trainer import Merge, Merges
from bpe_core.worker.__main__ import main
from bpe_core.worker.job import Request
from bpe_core.worker.messages import Event, Stop, packed, unpacked
from bpe_core.worker.train import TrainRequest

PATIENCE = 60
"""Seconds after which a test gives up; none should ever need them."""
Start = Callable[..., "Worker"]
"""Starts a worker with a request, and perhaps further messages that come at once."""
STOP = Stop()


def training(*arguments: object) -> TrainRequest:
    """The request of a training that has these arguments on the command line."""
    parser = Parser()
    add_arguments(parser)
    return request_of(parser.parse_args(list(map(str, arguments))))


def merges_of(rows: Sequence[Merge]) -> Merges:
    """The same merges, as a worker sends them."""
    columns = [list(column) for column in zip(*map(astuple, rows), strict=True)]
    return Merges(rows[0].step, columns[1:]) if rows else Merges()


class Worker:
    """A worker process, one event at a time; forked, since starting Python anew would take half a second."""

    def __init__(self, request: Request, *later: object, cwd: Path) -> None:
        (theirs, self.stdin), (self.stdout, out), (self.stderr, errors) = (
            os.pipe() for _ in range(3)
        )
        self._code: int | None = None
        with warnings.catch_warnings(
            action="ignore"
        ):  # of threads, which xdist has, and which the child does without
            self.pid = os.fork()
        if not self.pid:
            code = 70
            try:
                for number, pipe in enumerate((theirs, out, errors)):
                    os.dup2(pipe, number)
                os.closerange(3, 256)
                os.chdir(cwd)
                code = main()
            finally:
                os._exit(code)
        for pipe in theirs, out, errors:
            os.close(pipe)
        self._unread = bytearray()
        self._events: list[Event] = []
        self.tell(request, *later)

    def tell(self, *messages: object) -> None:
        """Send messages, and wait until they are read: all may be learned before the reader has its turn."""
        os.write(self.stdin, b"".join(map(packed, messages)))
        for _ in range(PATIENCE * 1000):
            if not any(
                ioctl(self.stdin, FIONREAD, bytes(4))
            ):  # bytes that wait in the pipe
                break
            time.sleep(0.001)

    def next(self) -> Event | None:
        """The next event; None when there are no more."""
        while not self._events:
            ready, _, _ = select.select([self.stdout], [], [], PATIENCE)
            assert ready, "the worker says nothing"
            data = os.read(self.stdout, 1 << 16)
            if not data:
                return None
            self._events += unpacked(self._unread, data)
        return self._events.pop(0)

    def rest(self) -> list[Event]:
        """All events until the end."""
        return list(iter(self.next, None))

    def until(self, kind: type[Event]) -> list[Event]:
        """The events up to and with the first of a kind."""
        events: list[Event] = []
        while not events or not isinstance(events[-1], kind):
            event = self.next()
            assert event is not None, (
                f"no {kind.__name__} in {events}; {os.read(self.stderr, 1 << 16).decode()}"
            )
            events.append(event)
        return events

    def code(self) -> int:
        """Wait for its end; its exit code."""
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def close(self) -> None:
        """Kill it if it still runs, and close its pipes."""
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.code()
        for pipe in self.stdin, self.stdout, self.stderr:
            with suppress(OSError):
                os.close(pipe)
