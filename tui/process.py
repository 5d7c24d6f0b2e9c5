"""Start worker processes, read their events in batches, send them messages, and end them.

No other file of the app starts a worker. A worker is `python -m bpe_core.worker`, a separate process, so
that a training at full speed does not slow the screen down. Its stdout is a pipe that is read in portions;
keys are handled between two portions. If a worker is faster than the app reads, its write blocks.
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

PORTION: Final = 1 << 15
"""Bytes that are read and parsed at a time: about 700 merges, which takes a millisecond."""
PATIENCE: Final = 3.0
"""Seconds that a worker gets to end by itself before it is killed."""


class WorkerError(BpeError):
    """A worker reports that its work failed, or no worker can be started."""


class WorkerProcess:
    """A worker process, as an async context manager that always ends the process.

    >>> async with WorkerProcess(CountRequest(Recipe(("book.txt",)), "gpt4")) as worker:   # doctest: +SKIP
    ...     async for events in worker.batches():
    ...         ...
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self._process: Process
        """Set when the context is entered, and `_errors` too."""
        self._is_done = False
        """Whether the worker has sent its last event, so that it ends by itself."""
        self._errors: asyncio.Task[bytes]

    async def __aenter__(self) -> Self:
        try:
            # -P keeps the current folder out of the import path: a json.py in it must not run.
            # The new session keeps Ctrl+C from the worker: the app handles it, and ends the worker.
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "bpe_core.worker",
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkerError(
                f"No worker process can be started: {error.strerror}; try again later."
            ) from error
        self._process = process
        # If both need the same core, the screen goes first.
        with suppress(OSError, AttributeError):
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
            except asyncio.CancelledError as error:
                # End the process first, however often this task is cancelled.
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def _end(self, process: Process) -> None:
        """Terminate the worker unless it ends by itself, and kill it after `PATIENCE` seconds.

        A worker with nothing to save is killed at once: it may not notice for a long time that it was
        asked to end.
        """
        has_work_to_save = isinstance(self.request, TrainRequest | FetchRequest)
        if process.returncode is None and not self._is_done:
            with suppress(ProcessLookupError):
                if has_work_to_save:
                    process.terminate()
                else:
                    process.kill()
        patience = PATIENCE
        if (
            isinstance(self.request, TrainRequest)
            and self.request.recipe.dask == "local"
        ):
            # If it were killed, it could not end the processes that it has started.
            patience *= 10
        try:
            # Process.wait() does not return while the pipe holds data, so read it to its end first.
            async with asyncio.timeout(patience):
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
        """Send the worker a message; do nothing if it has ended."""
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing():
            return
        if self._process.returncode is None:
            stdin.write(packed(message))

    async def batches(self) -> AsyncIterator[list[Event]]:
        """Yield the worker's events in batches, up to `Done` or `Failed`.

        If the worker dies without sending either, yield a `Failed` that says so.
        """
        pipe = self._process.stdout
        assert pipe is not None
        unread = bytearray()
        while portion := await pipe.read(PORTION):
            events = _parsed(unread, portion)
            if events:
                self._is_done = isinstance(events[-1], Done | Failed)
                yield events
                if self._is_done:
                    return
                await asyncio.sleep(0)
        yield [Failed(await self._reason_of_end(self._process))]

    async def events(self) -> AsyncIterator[Event]:
        """Yield the worker's events one by one. Raise `WorkerError` instead of yielding `Failed`."""
        async for events in self.batches():
            for event in events:
                if isinstance(event, Failed):
                    raise WorkerError(event.message)
                yield event

    async def _reason_of_end(self, process: Process) -> str:
        code = await process.wait()
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            return f"The worker process was killed ({name})."
        reason = f"The worker process ended by itself (exit code {code})"
        lines = (await self._errors).decode("utf-8", "replace").strip().splitlines()
        if lines:
            # The last line of a traceback is the error.
            reason += f": {lines[-1].rstrip('.')}"
        return f"{reason}."


async def _drain(process: Process) -> None:
    assert process.stdout is not None
    while await process.stdout.read(PORTION):
        pass


def _parsed(unread: bytearray, portion: bytes) -> list[Any]:
    """Return the events that end in this portion, up to the worker's last one.

    Return `Failed` in place of bytes that are not an event.
    """
    events: list[Event] = []
    try:
        for event in unpacked(unread, portion):
            events.append(event)
            if isinstance(event, Done | Failed):
                break
    except BpeError as error:
        events.append(Failed(str(error)))
    return events
