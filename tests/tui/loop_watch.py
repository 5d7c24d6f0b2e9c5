"""How long the event loop is held at a time, and by what: in seconds of this thread's own work, not of the clock.

As long as it is held no key is heard and nothing is drawn. A clock would also count what other programs of a busy
machine take; `time.thread_time` counts only what is really done here.
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from textual.message import Message

LONGEST: Final = 0.05
"""Seconds that the loop should never be held."""
MARGIN: Final = 20
"""How many times as long a test bears it: the clocks of cores, caches and first imports make the same work longer."""


@dataclass(frozen=True, order=True)
class Hold:
    """Once that the loop was held."""

    seconds: float
    what: str
    """The task and, if it is a widget's, the message that took most of it."""

    def __str__(self) -> str:
        return f"{1000 * self.seconds:.0f} ms in {self.what}"


@dataclass
class LoopWatch:
    """Watches the loop as long as `watching`, and counts whatever runs in another task than the one that watches."""

    least: float = LONGEST
    """Seconds from which on a hold is kept."""
    holds: list[Hold] = field(default_factory=list)
    _marks: list[tuple[float, Message]] = field(default_factory=list)

    def heard(self, message: Message) -> None:
        """A widget begins to handle a message: what is done from now on is done for it."""
        self._marks.append((time.thread_time(), message))

    @property
    def too_long(self) -> list[Hold]:
        """The holds that no noise explains, the longest first."""
        return sorted((hold for hold in self.holds if hold.seconds > MARGIN * LONGEST), reverse=True)

    @contextmanager
    def watching(self) -> Iterator["LoopWatch"]:
        """Watch what the loop runs inside of this."""
        ours, run = asyncio.current_task(), asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            task = getattr(handle._callback, "__self__", None)
            if task is ours and ours is not None:
                run(handle)
                return
            self._marks.clear()
            began = time.thread_time()
            run(handle)
            ended = time.thread_time()
            if ended - began >= self.least:
                self.holds.append(Hold(ended - began, self._described(task, handle, ended)))

        asyncio.Handle._run = timed
        try:
            yield self
        finally:
            asyncio.Handle._run = run

    def _described(self, task: object, handle: asyncio.Handle, ended: float) -> str:
        place = repr(handle)
        if isinstance(task, asyncio.Task):
            place = f"{task.get_name()[:60]} {getattr(task.get_coro(), '__qualname__', '')}"
        if not self._marks:
            return place
        ends = [*(mark[0] for mark in self._marks[1:]), ended]
        _, message = max(
            ((end - mark[0], mark[1]) for mark, end in zip(self._marks, ends, strict=True)), key=lambda part: part[0]
        )
        return f"{type(message).__qualname__} {message!r}"[:90] + f" in {place}"
