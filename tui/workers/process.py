"""The only door to worker processes: start one, read what it says in batches, tell it what to do, end it.

The worker is `python -m bpe_core`, a process of its own, so that a training at full speed takes no time from the
screen. Its stdout is a pipe that is read at most `BATCHES_PER_SECOND` times a second: a worker that is faster than the
screen waits in its write, and nothing piles up.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from bpe_core.cli.events import Counting, Done, Event, Failed, Merges
from bpe_core.cli.wire import Command, WireError, parse, to_line
from bpe_core.errors import BpeError

BATCHES_PER_SECOND: Final = 10
"""Each draws most of the screen again, and a key that is pressed meanwhile has to wait for it."""
PIPE_BYTES: Final = 1 << 18
"""Read at one go; at about 100 bytes a merge this allows some 25,000 merges a second on the screen."""
MODESTY: Final = 5
"""How much less urgent a worker is than the screen, in steps of `nice`."""
_LONGEST_REST: Final = 0.5
"""Seconds more that a late screen gets at most."""
_ANSWER: Final = 0.02
"""Seconds in which a worker looks whether it was told something."""
PATIENCE: Final = 3.0
"""Seconds a worker gets to end by itself after it was asked to, before it is killed."""


class NoWorkerError(BpeError):
    """No process can be started: too many are running, too little memory is left, or it cannot be told what to do."""


class Job:
    """One worker process: an async context manager that leaves no process behind, whatever happens inside it.

    >>> async with Job("train", "book.txt", "-o", "book.json", "--stream") as job:   # doctest: +SKIP
    ...     async for events in job.batches():
    ...         ...
    """

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self._told = asyncio.Event()
        """Set when it has been told something: what follows from that is not to wait for the next reading."""
        self._process: Process
        self._errors: asyncio.Task[str]

    async def __aenter__(self) -> Self:
        """Start it. Raises `NoWorkerError`."""
        try:
            self._process = await self._started()
        except OSError as error:
            raise NoWorkerError(f"No worker process can be started: {error.strerror}; try again later.") from error
        except ValueError as error:
            sentence = "No path, pattern or special token can hold a NUL character; take it out."
            raise NoWorkerError(sentence) from error
        with suppress(OSError, AttributeError):  # the screen goes first where both want the same core
            os.setpriority(os.PRIO_PROCESS, self._process.pid, os.getpriority(os.PRIO_PROCESS, 0) + MODESTY)
        self._errors = asyncio.create_task(self._last_error_line())
        return self

    async def _started(self) -> Process:
        # -P keeps the current folder out of the import path: a json.py that happens to lie there must not run.
        # A session of its own: a Ctrl+C typed in the terminal is for the app, which then ends the worker in order.
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "bpe_core", *self.arguments),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=PIPE_BYTES,
            start_new_session=True,
            env=_environment(),
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ending = asyncio.create_task(self._end())
        cancelled: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError as again:  # however often one is told to hurry: no process is left behind
                cancelled = again
        if cancelled is not None:
            raise cancelled

    async def _end(self) -> None:
        """Ask the worker to go, and see to it that it does."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()
        try:
            # Process.wait() does not return while the pipe still holds something: drain it to its end first.
            async with asyncio.timeout(PATIENCE):
                await self._drain()
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._drain()
            await self._process.wait()
        finally:
            self._errors.cancel()
            if self._process.stdin is not None:
                self._process.stdin.close()

    @property
    def pid(self) -> int:
        """The worker's process number."""
        return self._process.pid

    def send(self, command: Command) -> None:
        """Tell the worker something; a worker that has already ended hears nothing, and that is no error."""
        self.write(to_line(command))

    def write(self, line: str) -> None:
        """Send a line, its end included, to a worker that understands other lines than those of `wire.Command`."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing() and self._process.returncode is None:
            stdin.write(line.encode())
            self._told.set()

    async def batches(self) -> AsyncIterator[list[Event]]:
        """What the worker says, several events at a time; ends after `Done` or `Failed`.

        A worker that dies without either is reported as a `Failed` of our own.
        """
        assert self._process.stdout is not None
        rest: list[bytes] = []  # of the last line; a long one is put together once, and not again at each read
        while chunk := await self._process.stdout.read(PIPE_BYTES):
            if b"\n" not in chunk:
                rest.append(chunk)
                continue
            *lines, last = chunk.split(b"\n")
            lines[0] = b"".join((*rest, lines[0]))
            rest = [last]
            self._told.clear()
            if events := coalesced(_events(lines)):
                yield events
                if isinstance(events[-1], Done | Failed):
                    return
            await self._pause()
        yield [Failed(await self._obituary())]

    async def _pause(self) -> None:
        """Wait until the screen has time for more, or until the worker may have answered what it was told meanwhile.

        A screen that was late, since drawing took so long or other programs took the processor, gets as much time again
        for keys: on a slow machine a training is drawn less often, but typing does not queue up behind it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(1 / BATCHES_PER_SECOND) as pause:
                await self._told.wait()
        if self._told.is_set():
            await asyncio.sleep(_ANSWER)
        elif due := pause.when():
            await asyncio.sleep(min(_LONGEST_REST, max(0.0, asyncio.get_running_loop().time() - due)))

    async def _obituary(self) -> str:
        """One sentence on a worker that ended without a last word."""
        code = await self._process.wait()
        if code < 0:
            name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
            return f"The worker process was killed ({name})."
        last = await self._errors
        return f"The worker process ended by itself (exit code {code}){': ' + last.rstrip('.') if last else ''}."

    async def _last_error_line(self) -> str:
        assert self._process.stderr is not None
        text = (await self._process.stderr.read()).decode("utf-8", "replace").strip()
        return text.splitlines()[-1] if text else ""

    async def _drain(self) -> None:
        assert self._process.stdout is not None
        while await self._process.stdout.read(PIPE_BYTES):
            pass


def _environment() -> dict[str, str]:
    """Ours, but that a worker's output is buffered: without, Python loses what a write cut short by a signal left."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def _events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of `lines` up to the last; a line that is none is a failure, for no worker of ours wrote it."""
    for line in lines:
        try:
            event = parse(line)
        except WireError as error:
            event = Failed(str(error))
        yield event
        if isinstance(event, Done | Failed):
            return


def coalesced(events: Iterable[Event]) -> list[Event]:
    """`events` with neighbouring merges made one batch, and of neighbouring progress reports only the newest.

    >>> coalesced([Counting(1, 9, "a"), Counting(5, 9, "a"), Merges([[1]]), Merges([[2]])])
    [Counting(done=5, total=9, name='a', role='corpus'), Merges(rows=[[1], [2]])]
    """
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        if isinstance(event, Merges) and isinstance(last, Merges):
            last.rows.extend(event.rows)
        elif isinstance(event, Counting) and isinstance(last, Counting):
            result[-1] = event
        else:
            result.append(event)
    return result
