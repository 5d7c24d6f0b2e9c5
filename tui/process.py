"""The only door to worker processes: start one, read what it says in batches, tell it what to do, end it.

The worker is `python -m bpe_core.worker`, a process of its own, so that a training at full speed takes no time from the
screen. Its stdout is a pipe that is read in portions, between which keys are heard. A worker that is faster than we can
read waits in its write.
"""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Self

from bpe_core.errors import BpeError
from bpe_core.worker.inputs import FetchRequest
from bpe_core.worker.job import Request
from bpe_core.worker.messages import Done, Event, Failed, packed, unpacked
from bpe_core.worker.train import TrainRequest

PORTION: Final = (
    1 << 15
)  # bytes that are read and understood at one go: some 700 merges, in a millisecond
PATIENCE: Final = 3.0  # seconds a worker gets to end by itself after it was asked to, before it is killed


class WorkerError(BpeError):
    """A worker says that it cannot do what it was asked, or none can be started."""


class WorkerProcess:
    """One worker process: an async context manager that leaves no process behind, whatever happens inside it.

    >>> async with WorkerProcess(CountRequest(Recipe(("book.txt",)), "gpt4")) as worker:   # doctest: +SKIP
    ...     async for events in worker.batches():
    ...         ...
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self._process: Process  # once it is entered
        self._is_done = (
            False  # whether the worker has said its last word: it ends by itself
        )
        self._errors: asyncio.Task[bytes]

    async def __aenter__(self) -> Self:
        try:
            # -P keeps the current folder out of the import path: a json.py that happens to lie there must not run.
            # A session of its own: a Ctrl+C typed in the terminal is for the app, which then ends the worker in order.
            self._process = process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "bpe_core.worker"),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(
                f"No worker process can be started: {error.strerror}; try again later."
            ) from error
        with suppress(
            OSError, AttributeError
        ):  # the screen goes first where both want the same core
            nice = os.getpriority(os.PRIO_PROCESS, 0) + self.request.NICE
            os.setpriority(os.PRIO_PROCESS, process.pid, nice)
        self.pid = process.pid
        assert process.stderr is not None
        self._errors = asyncio.create_task(process.stderr.read())
        self.send(self.request)
        return self

    async def __aexit__(self, *_: object) -> None:
        ending = asyncio.create_task(self._end(self._process))
        cancelled: asyncio.CancelledError | None = None
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except (
                asyncio.CancelledError
            ) as again:  # however often one is told to hurry: no process is left behind
                cancelled = again
        if cancelled is not None:
            raise cancelled

    async def _end(self, process: Process) -> None:
        """Terminate the worker unless it ends by itself, and kill it if it has not ended within `PATIENCE` seconds, or
        at once if there is nothing that it keeps: it may be far from where it would hear that it is to end.

        Popen.terminate() would reap a worker that has just ended, of which asyncio then knows nothing, and says so.
        """
        request = self.request
        has_workers = (
            isinstance(request, TrainRequest) and request.recipe.dask == "local"
        )
        if process.returncode is None and not self._is_done:
            with suppress(ProcessLookupError):
                (
                    process.terminate
                    if isinstance(request, TrainRequest | FetchRequest)
                    else process.kill
                )()
        try:
            # Process.wait() does not return while the pipe still holds something: drain it to its end first.
            async with asyncio.timeout(
                PATIENCE * (10 if has_workers else 1)
            ):  # killed, it could not end its own
                await _drain(process)
                await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await _drain(process)
            await process.wait()
        finally:
            self._errors.cancel()
            if process.stdin is not None:
                process.stdin.close()

    def send(self, message: object) -> None:
        """Tell the worker something; once it has ended, nothing is told."""
        stdin = self._process.stdin
        if (
            stdin is not None
            and not stdin.is_closing()
            and self._process.returncode is None
        ):
            stdin.write(packed(message))

    async def batches(self) -> AsyncIterator[list[Event]]:
        """What the worker says, several events at a time; ends after `Done` or `Failed`.

        A worker that dies without either is reported as a `Failed` of our own.
        """
        pipe, unread = self._process.stdout, bytearray()
        assert pipe is not None
        while portion := await pipe.read(PORTION):
            if events := _understood(unread, portion):
                self._is_done = isinstance(events[-1], Done | Failed)
                yield events
                if self._is_done:
                    return
                await asyncio.sleep(0)
        yield [Failed(await self._obituary(self._process))]

    async def events(self) -> AsyncIterator[Event]:
        """What `batches` gives, one event after the other. Raises `WorkerError` in the place of `Failed`."""
        async for events in self.batches():
            for event in events:
                if isinstance(event, Failed):
                    raise WorkerError(event.message)
                yield event

    async def _obituary(self, process: Process) -> str:
        code = await process.wait()
        if code < 0:
            name = (
                signal.Signals(-code).name
                if -code in set(signal.Signals)
                else f"signal {-code}"
            )
            return f"The worker process was killed ({name})."
        lines = (await self._errors).decode("utf-8", "replace").strip().splitlines()
        return f"The worker process ended by itself (exit code {code}){': ' + lines[-1].rstrip('.') if lines else ''}."


async def _drain(process: Process) -> None:
    assert process.stdout is not None
    while await process.stdout.read(PORTION):
        pass


def _understood(unread: bytearray, portion: bytes) -> list[Any]:
    """The events that end in this portion, up to the last; what is none is a failure: no worker of ours wrote it."""
    events: list[Event] = []
    try:
        for event in unpacked(unread, portion):
            events.append(event)
            if isinstance(event, Done | Failed):
                break
    except BpeError as error:
        events.append(Failed(str(error)))
    return events
