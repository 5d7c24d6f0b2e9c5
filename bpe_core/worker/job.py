"""Job: what long work is given. It reports through it, and learns from it whether to stop."""

import os
import signal
import threading
import time
from collections import deque
from queue import SimpleQueue
from types import FrameType
from typing import Any, ClassVar, Final

from bpe_core.errors import BpeError, Stopped
from bpe_core.worker.messages import (
    Activity,
    Event,
    Role,
    Stop,
    WorkProgress,
    packed,
    unpacked,
)

PROGRESS_EVERY: Final = 0.05  # seconds between two reports of progress, at least


class Reporter:
    """Where the events of a job go: into a pipe, whole ones; nowhere without one."""

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe

    def send(self, event: Event) -> None:
        """Pass on one event. Raises OSError if nobody listens any more, which stops the job."""
        data = memoryview(packed(event))
        while data and self._pipe is not None:
            data = data[os.write(self._pipe, data) :]

    def say(self, sentence: str) -> None:
        """Print a sentence for a person; nothing if a program reads the events."""

    def close(self) -> None:
        """End the report."""


class Job:
    """Takes what the work reports, and knows whether it is to stop.

    Messages (from a thread that reads a pipe) and signals are put into one queue, which is all that a signal handler
    does. The work calls `progress` or `receive` where it can safely be interrupted; only there they take effect.

    The first SIGINT, SIGTERM or SIGHUP asks the work to stop and keep what it has; a second SIGINT raises
    KeyboardInterrupt, and so does the first where nobody looks at it for `patience` seconds; 0 is endless, for work
    that would lose what it has. SIGHUP stays ignored if it was (nohup). The end of the pipe means that whoever started
    the work is gone, and is a "stop".
    """

    def __init__(
        self,
        reporter: Reporter | None = None,
        *,
        pipe: int | None = None,
        patience: float = 0.05,
    ) -> None:
        """Install the signal handlers (in the main thread only); with `pipe`, read messages from that descriptor."""
        self._patience = patience
        self._reporter = reporter or Reporter()
        self.say: Final = self._reporter.say
        self._began = time.monotonic()
        self.stopped = ""  # as long as the work may go on; then "stopped" (by a command) or "interrupted" (by a signal)
        self._next_progress = 0.0
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self.messages: Final[deque[Any]] = (
            deque()
        )  # what has been received for the work itself
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            handled = [signal.SIGINT, signal.SIGTERM]
            handled += [signal.SIGHUP] * (
                signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
            )
            self._handlers = {
                number: signal.signal(number, self._on_signal) for number in handled
            }
            self._handlers[signal.SIGALRM] = signal.signal(
                signal.SIGALRM, signal.default_int_handler
            )
        if pipe is not None:
            threading.Thread(
                target=self._read, args=(pipe,), name="messages", daemon=True
            ).start()

    def close(self) -> None:
        if self._handlers:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._reporter.close()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def send(self, event: Event) -> None:
        """Report an event; a slow reader slows the work down, and without a reader it is stopped."""
        try:
            self._reporter.send(event)
        except OSError:
            self.stop("stopped")

    def progress(
        self,
        activity: Activity,
        done: int,
        total: int,
        name: str = "",
        role: Role = "corpus",
    ) -> bool:
        """Report progress if the last report is old enough; True if it was. Cheap enough for every turn of a loop.

        Raises `Stopped` if the work is to end.
        """
        now = time.monotonic()
        if is_due := now >= self._next_progress:
            self._next_progress = now + PROGRESS_EVERY
            self.send(WorkProgress(activity, done, total, name, role))
        self.check()
        return is_due

    def check(self) -> None:
        """Raise `Stopped` if the work is to end. Cheap enough for every turn of a loop."""
        self.receive()
        if self.stopped:
            raise Stopped

    def next_message(self) -> Any:
        """The next message for the work, waited for; None if the job is to stop."""
        while not (self.messages or self.stopped):
            self._apply(self._inbox.get())
        return None if self.stopped else self.messages.popleft()

    def receive(self) -> None:
        """Apply the signals and messages that have arrived, without waiting; cheap enough for every turn of a loop."""
        while not self._inbox.empty():
            self._apply(self._inbox.get())

    def stop(self, reason: str) -> None:
        """Ask for the end; the first reason is the one that `stopped` keeps."""
        self.stopped = self.stopped or reason

    def _apply(self, message: Any) -> None:
        if isinstance(message, int):  # the number of a signal
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.stop("interrupted")
        elif isinstance(message, Stop):
            self.stop("stopped")
        else:
            self.messages.append(message)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(number)
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.setitimer(signal.ITIMER_REAL, self._patience)

    def _read(self, pipe: int) -> None:
        # os.read and not a buffered reader: at exit, a daemon thread inside of one would still hold its lock.
        unread = bytearray()
        try:
            while data := os.read(pipe, 1 << 16):
                for message in unpacked(unread, data):
                    self._inbox.put(message)
        except (OSError, BpeError):
            pass  # a pipe that cannot be read, or not be understood, is one without a reader behind it
        self._inbox.put(Stop())


class Request:
    """What a worker can be started with; its subclasses are frozen dataclasses, which can be pickled."""

    NICE: ClassVar[int] = (
        5  # how much less urgent its worker is than the app, in steps of `nice`
    )

    def run(self, job: Job) -> None:
        """Do it, and send what comes of it; errors are raised."""
