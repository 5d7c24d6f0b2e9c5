"""Work beside the event loop: in a thread, or on the loop in slices between which keys and drawing have their turn."""

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

_SLICE: Final = 0.008  # seconds of work in a slice
_REST: Final = 0.005  # seconds between two slices

Result = TypeVar("Result")
Given = ParamSpec("Given")
Steps = Generator[None, None, Result]
"""A computation that pauses after each of its steps, which take some milliseconds, and returns its result."""


async def in_thread(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """What `work` returns, called in a thread. Raises what it raises, and OSError if no thread can be started.

    The thread is a daemon, unlike those of `asyncio.to_thread`, for which the end of the app would wait.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def run() -> None:
        try:
            settle = partial(future.set_result, work(*args, **kwargs))
        except BaseException as error:
            settle = partial(future.set_exception, error)
        with suppress(RuntimeError):  # the loop has been closed
            loop.call_soon_threadsafe(lambda: None if future.cancelled() else settle())

    try:
        Thread(target=copy_context().run, args=(run,), daemon=True).start()
    except RuntimeError as error:
        raise OSError(
            EAGAIN, f"{error}: too many are running, or too little memory is left"
        ) from error
    return await future


class SlicedWork(Generic[Result]):
    """One computation at a time, on the event loop; a new one replaces the one that is under way."""

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
        """Call `done` with the result: before `run` returns if one slice is enough."""
        self.cancel()
        if not self._advance(steps, done):
            self._worker = self._owner.run_worker(partial(self._continue, steps, done))

    def _advance(self, steps: Steps[Result], done: Callable[[Result], None]) -> bool:
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
            await asyncio.sleep(_REST)
