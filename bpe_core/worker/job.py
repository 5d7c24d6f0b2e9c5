"""The job of long work: the work reports its progress to it, and asks it whether to stop."""

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

PROGRESS_EVERY: Final = 0.05
"""Minimum number of seconds between two reports of progress."""
_HAS_ALARM: Final = hasattr(signal, "SIGALRM")
"""False on Windows, which has no SIGHUP either. There the second Ctrl+C interrupts at once, not the first."""


def _set_alarm(seconds: float) -> None:
    """Send SIGALRM to this process after `seconds`, or never for 0."""
    if _HAS_ALARM:
        signal.setitimer(signal.ITIMER_REAL, seconds)


class Reporter:
    """Writes the events of a job to a pipe, or discards them without a pipe."""

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe

    def send(self, event: Event) -> None:
        """Write an event. Raises OSError if the reader has closed the pipe."""
        if self._pipe is None:
            return
        data = memoryview(packed(event))
        while data:
            n_written = os.write(self._pipe, data)
            data = data[n_written:]

    def say(self, sentence: str) -> None:
        """Print a sentence for a person. A pipe is read by a program, so nothing is printed."""

    def close(self) -> None:
        """End the report."""


class Job:
    """Receives the reports of long work, and knows whether the work should stop.

    Signals, and messages from a thread that reads a pipe, go into one queue. A signal handler does
    nothing else. Signals and messages take effect when the work calls `progress`, `check` or `receive`, which it
    does where it can stop safely.

    The first SIGINT, SIGTERM or SIGHUP asks the work to stop and to keep everything it has so far.
    A second SIGINT raises KeyboardInterrupt. SIGHUP stays ignored if it was ignored before (nohup). If the pipe
    ends, the process that started the work is gone, and the job stops.
    """

    def __init__(
        self,
        reporter: Reporter | None = None,
        *,
        pipe: int | None = None,
        patience: float = 0.05,
    ) -> None:
        """Install the signal handlers, if this is the main thread.

        Args:
            reporter: Receives the events.
            pipe: A descriptor to read messages from.
            patience: Seconds after which the first SIGINT, too, raises KeyboardInterrupt if the
                work has not noticed it. 0 for never, if the work would lose its results.
        """
        self._patience = patience
        self._reporter = reporter or Reporter()
        self.say: Final = self._reporter.say
        self._start_time = time.monotonic()
        self.stopped = ""
        """Empty while the work may go on; "stopped" by a message, or "interrupted" by a signal."""
        self._next_progress = 0.0
        self._inbox: SimpleQueue[Any] = SimpleQueue()
        self.messages: Final[deque[Any]] = deque()
        """The messages for the work itself that have arrived."""
        self._old_handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._install_handlers()
        if pipe is not None:
            reader = threading.Thread(
                target=self._read, args=(pipe,), name="messages", daemon=True
            )
            reader.start()

    def _install_handlers(self) -> None:
        stop_signals = [signal.SIGINT, signal.SIGTERM]
        if _HAS_ALARM and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            stop_signals.append(signal.SIGHUP)
        for number in stop_signals:
            self._old_handlers[number] = signal.signal(number, self._on_signal)
        if _HAS_ALARM:
            # The timer that `_on_signal` sets raises KeyboardInterrupt, as Ctrl+C does.
            self._old_handlers[signal.SIGALRM] = signal.signal(
                signal.SIGALRM, signal.default_int_handler
            )

    def close(self) -> None:
        """Restore the signal handlers, and end the report."""
        if self._old_handlers:
            _set_alarm(0)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._reporter.close()

    @property
    def seconds(self) -> float:
        """The age of this job."""
        return time.monotonic() - self._start_time

    def send(self, event: Event) -> None:
        """Report an event. A slow reader slows the work down. If the reader is gone, the job stops."""
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
        """Report progress if the last report is old enough. Cheap enough for every iteration of a loop.

        Returns:
            Whether the progress was reported.

        Raises:
            Stopped: The job is to stop.
        """
        now = time.monotonic()
        is_due = now >= self._next_progress
        if is_due:
            self._next_progress = now + PROGRESS_EVERY
            self.send(WorkProgress(activity, done, total, name, role))
        self.check()
        return is_due

    def check(self) -> None:
        """Raise `Stopped` if the job should stop. Cheap enough for every iteration of a loop."""
        self.receive()
        if self.stopped:
            raise Stopped

    def next_message(self) -> Any:
        """Wait for the next message for the work. Return None if the job is to stop."""
        while not (self.messages or self.stopped):
            self._apply(self._inbox.get())
        return None if self.stopped else self.messages.popleft()

    def receive(self) -> None:
        """Apply the signals and messages that have arrived, without waiting for more."""
        while not self._inbox.empty():
            self._apply(self._inbox.get())

    def stop(self, reason: str) -> None:
        """Ask the work to end. `stopped` keeps the first reason."""
        self.stopped = self.stopped or reason

    def _apply(self, message: Any) -> None:
        if isinstance(message, int):  # the number of a signal
            _set_alarm(0)
            self.stop("interrupted")
        elif isinstance(message, Stop):
            self.stop("stopped")
        else:
            self.messages.append(message)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(number)
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _set_alarm(self._patience)

    def _read(self, pipe: int) -> None:
        # os.read instead of a buffered reader, whose lock a daemon thread would still hold at exit.
        unread = bytearray()
        try:
            while data := os.read(pipe, 1 << 16):
                for message in unpacked(unread, data):
                    self._inbox.put(message)
        except (OSError, BpeError):
            pass  # as if the pipe had ended
        self._inbox.put(Stop())


class Request:
    """The task of a worker. Subclasses are frozen dataclasses, so that they can be pickled."""

    NICE: ClassVar[int] = 5
    """How much the `nice` value of the worker exceeds that of the app."""

    def run(self, job: Job) -> None:
        """Do the work and send its events. Raise any error."""
