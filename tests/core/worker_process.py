"""A worker process of the app, as the app sees it: a pipe in, a pipe out."""

import os
import select
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

from shell import ROOT

from bpe_core.cli.train import add_arguments, request_of
from bpe_core.worker.messages import Event, JobCommand, Request, Unpacker, packed
from bpe_core.worker.train import TrainRequest

PATIENCE = 60
"""Seconds after which a test gives up; none should ever need them."""
RUN, WAIT, STOP = JobCommand("run"), JobCommand("step", 0), JobCommand("stop")


def training(*arguments: object, first: JobCommand = RUN) -> TrainRequest:
    """The request of a training that has these arguments on the command line."""
    parser = ArgumentParser()
    add_arguments(parser)
    return replace(request_of(parser.parse_args(list(map(str, arguments)))), first=first)


class Worker:
    """A worker process, one event at a time."""

    def __init__(self, request: Request, *, cwd: Path) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bpe_core.worker"],
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            bufsize=0,
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self._unpacker = Unpacker()
        self._events: list[Event] = []
        self.tell(request)

    def tell(self, *messages: object) -> None:
        """Send messages."""
        self.stdin.write(b"".join(map(packed, messages)))

    def next(self) -> Event | None:
        """The next event; None when there are no more."""
        while not self._events:
            ready, _, _ = select.select([self.stdout], [], [], PATIENCE)
            assert ready, "the worker says nothing"
            data = os.read(self.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._events += self._unpacker.feed(data)
        return self._events.pop(0)

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
