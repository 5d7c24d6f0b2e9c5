"""The only door to worker processes: start one, read what it says in batches, tell it what to do, end it.

The worker is `python -m bpe_core`, a process of its own, so that a training at full speed takes no time from the
screen. Its stdout is a pipe that is read in portions, between which keys are heard; what they say is gathered and
handed on at most `BATCHES_PER_SECOND` times a second. A worker that is faster than we can read waits in its write.
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

from bpe_core.cli.events import Counting, Done, Event, Failed, Merges, State
from bpe_core.cli.result_events import Explained, Places
from bpe_core.cli.wire import Command, WireError, parse, to_line
from bpe_core.errors import BpeError

BATCHES_PER_SECOND: Final = 10
"""Each draws most of the screen again, and a key that is pressed meanwhile has to wait for it."""
FLEETING: Final = 100
"""Merges in a batch from which on nobody can read them as they come: the next is handed on `SELDOM` times a second."""
SELDOM: Final = 4
"""Times a second."""
PIPE_BYTES: Final = 1 << 16
"""So much, and as much again, is kept of what a worker says while the screen draws."""
PORTION: Final = 1 << 14
"""Bytes that are read and understood at one go: some 250 merges, in a millisecond."""
MODESTY: Final = 5
"""How much less urgent a worker is than the screen, in steps of `nice`."""
_LONGEST_REST: Final = 0.5
"""Seconds more that a late screen gets at most."""
_URGENT: Final = State | Explained | Places | Done | Failed
"""What somebody waits for, or what a worker answers: it is not gathered."""
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
        """Terminate the worker unless it has ended, and kill it if it has not ended within `PATIENCE` seconds."""
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

    async def batches(self) -> AsyncIterator[list[Event]]:
        """What the worker says, several events at a time; ends after `Done` or `Failed`.

        A worker that dies without either is reported as a `Failed` of our own.
        """
        lines, rest = _Lines(self._process.stdout), _Rest()
        gathered: list[Event] = []
        while not lines.ended:
            await asyncio.sleep(0)
            news: list[Event] = []
            with suppress(TimeoutError):
                async with asyncio.timeout_at(rest.end if gathered else None):
                    news = list(_events(await lines.read()))
            gathered += news
            if gathered and (rest.is_over() or any(isinstance(event, _URGENT) for event in news)):
                events, gathered = coalesced(gathered), []
                is_fleeting = any(isinstance(event, Merges) and len(event.rows) > FLEETING for event in events)
                yield events
                if isinstance(events[-1], Done | Failed):
                    return
                rest.begin(1 / (SELDOM if is_fleeting else BATCHES_PER_SECOND))
        yield [*coalesced(gathered), Failed(await self._obituary())]

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


class _Lines:
    """The whole lines that come out of a pipe."""

    def __init__(self, pipe: asyncio.StreamReader | None) -> None:
        assert pipe is not None
        self._pipe = pipe
        self._rest: list[bytes] = []  # of the last line; a long one is put together once, and not again at each read
        self.ended = False

    async def read(self) -> list[bytes]:
        """The lines that end in the next portion read, without their newlines; a cancelled call loses nothing."""
        portion = await self._pipe.read(PORTION)
        self.ended = not portion
        if b"\n" not in portion:
            self._rest.append(portion)
            return []
        *lines, last = portion.split(b"\n")
        lines[0] = b"".join((*self._rest, lines[0]))
        self._rest = [last]
        return lines


class _Rest:
    """The time in which the screen is left alone, from one batch to the next.

    A screen that was late, since drawing took so long or other programs took the processor, gets as much time again
    for keys: on a slow machine a training is drawn less often, but typing does not queue up behind it.
    """

    def __init__(self) -> None:
        self.end = 0.0
        """By the clock of the event loop."""
        self._is_lengthened = True

    def begin(self, seconds: float) -> None:
        """The screen has got a batch."""
        self.end, self._is_lengthened = asyncio.get_running_loop().time() + seconds, False

    def is_over(self) -> bool:
        """Whether it may get the next."""
        now = asyncio.get_running_loop().time()
        if now >= self.end and not self._is_lengthened:
            self.end, self._is_lengthened = now + min(_LONGEST_REST, now - self.end), True
        return now >= self.end


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
