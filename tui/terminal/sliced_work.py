"""SlicedWork: a long computation in slices, between which keys and drawing have their turn."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from time import perf_counter
from typing import ClassVar, Generic, Protocol, TypeVar

from textual.worker import Worker

from tui.terminal.keys_first import seconds_of_rest

Result = TypeVar("Result")
Steps = Generator[None, None, Result]
"""A computation that pauses after each of its steps, which take some milliseconds, and returns its result."""


class WorksBeside(Protocol):
    """A widget, as far as it is needed here."""

    def run_worker(self, work: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        """Do work beside the screen."""


class SlicedWork(Generic[Result]):
    """One computation at a time; another one takes the place of what is not done yet."""

    AT_ONCE: ClassVar[float] = 0.008
    """Seconds of work between two moments for keys and drawing."""
    REST: ClassVar[float] = 0.005
    """Seconds that such a moment lasts."""

    def __init__(self, owner: WorksBeside) -> None:
        self._owner = owner
        self._worker: Worker[None] | None = None
        self.seconds = 0.0
        """How long the last computation took."""

    @property
    def is_working(self) -> bool:
        """Whether a computation is under way."""
        return self._worker is not None

    def cancel(self) -> None:
        """Do without the result of what is under way."""
        if self._worker is not None:
            self._worker.cancel()
            self._worker = None

    def run(self, steps: Steps[Result], done: Callable[[Result], None]) -> None:
        """Call `done` with the result: at once where that takes but a moment."""
        self.cancel()
        if not self._advance(steps, done, perf_counter()):
            self._worker = self._owner.run_worker(partial(self._go_on, steps, done, perf_counter()))

    def _advance(self, steps: Steps[Result], done: Callable[[Result], None], began: float) -> bool:
        end = perf_counter() + self.AT_ONCE
        try:
            while perf_counter() < end:
                next(steps)
        except StopIteration as finished:
            self._worker, self.seconds = None, perf_counter() - began
            done(finished.value)
            return True
        return False

    async def _go_on(self, steps: Steps[Result], done: Callable[[Result], None], began: float) -> None:
        while not self._advance(steps, done, began):
            await asyncio.sleep(max(self.REST, seconds_of_rest()))
