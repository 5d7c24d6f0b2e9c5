"""Long work that does not block keys or drawing: in a thread, or on the event loop in short slices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import copy_context
from errno import EAGAIN
from functools import partial
from threading import Thread
from time import perf_counter
from typing import Final, Generic, ParamSpec, TypeVar

from textual.dom import DOMNode
from textual.worker import Worker

_SLICE: Final = 0.008
"""Seconds of work in one slice."""
_PAUSE: Final = 0.005
"""Seconds between two slices."""

Result = TypeVar("Result")
Given = ParamSpec("Given")
Steps = Generator[None, None, Result]
"""A computation that yields after each step of a few milliseconds, and returns its result."""


async def in_thread(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """Call `work` in a thread, and return its result.

    Raise what it raises, or OSError if no thread can be started. The thread is a daemon: the app
    would not end before the threads of `asyncio.to_thread`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            result = work(*args, **kwargs)
            settle = partial(future.set_result, result)
        except BaseException as error:
            settle = partial(future.set_exception, error)
        # The loop may have been closed in the meantime.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle_unless_cancelled, settle)

    def settle_unless_cancelled(settle: Callable[[], None]) -> None:
        if not future.cancelled():
            settle()

    try:
        Thread(target=copy_context().run, args=(run,), daemon=True).start()
    except RuntimeError as error:
        reason = f"{error}: too many are running, or too little memory is free"
        raise OSError(EAGAIN, reason) from error
    return await future


class SlicedWork(Generic[Result]):
    """Runs one computation at a time on the event loop; a new one cancels the one before it."""

    def __init__(self, owner: DOMNode) -> None:
        self._owner = owner
        self._worker: Worker[None] | None = None

    @property
    def is_working(self) -> bool:
        return self._worker is not None

    def cancel(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None

    def run(self, steps: Steps[Result], done: Callable[[Result], None]) -> None:
        """Run `steps`, then call `done` with the result: before `run` returns if one slice is enough."""
        self.cancel()
        if not self._advance(steps, done):
            self._worker = self._owner.run_worker(partial(self._continue, steps, done))

    def _advance(self, steps: Steps[Result], done: Callable[[Result], None]) -> bool:
        """Work for one slice. At the end of the steps, call `done` and return True."""
        end = perf_counter() + _SLICE
        try:
            while perf_counter() < end:
                next(steps)
        except StopIteration as finished:
            self._worker = None
            done(finished.value)
            return True
        return False

    async def _continue(
        self, steps: Steps[Result], done: Callable[[Result], None]
    ) -> None:
        while not self._advance(steps, done):
            await asyncio.sleep(_PAUSE)
