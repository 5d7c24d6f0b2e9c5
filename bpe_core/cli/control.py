"""Pausing, stepping, pacing and stopping a command while it works, by commands on stdin and by signals."""

import os
import signal
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from bpe_core.cli.standard_streams import print_to_stderr
from bpe_core.cli.wire import Command, WireError, parse_command
from bpe_core.visible import visible

if TYPE_CHECKING:
    from bpe_core.trainer import Merge
    from bpe_core.trainer.conditions import Condition

UNLIMITED: Final = float("inf")
"""The credit of a worker that is running, and not stepping."""

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LONGEST_COMMAND: Final = 4096
"""Bytes of the longest line that is read as a command."""

ARREARS: Final = 0.05
"""Seconds of merges at most that are made up for at once where they came later than the pace asks for."""


class Control:
    """How many merges may still be made, how fast, and whether to stop.

    Commands (from a thread that reads stdin) and signals are put into one queue, which is all that a signal handler
    does. The work calls `receive` or `wait` where it can safely be interrupted; only there they take effect.

    The first SIGINT, SIGTERM or SIGHUP asks the work to stop and keep what it has; a second SIGINT raises
    KeyboardInterrupt. SIGHUP stays ignored if it was (nohup). The end of stdin means that the app is gone, and is
    a `stop`.
    """

    def __init__(self, *, stdin: bool, paused: bool = False) -> None:
        """Install the signal handlers (in the main thread only); with `stdin`, read commands from file descriptor 0.

        `paused`: begin without credit, so that no merge is made before a command.
        """
        self.credit: float = 0 if paused else UNLIMITED
        """Merges that may still be made; UNLIMITED while running."""
        self.goal: Condition | None = None
        """On what the running is to end in a pause; None without a condition."""
        self.reached = ""
        """The condition that ended the running; empty once a command has arrived since."""
        self.pace = 0
        """Merges a second at most; 0 for no limit."""
        self._due = 0.0
        """When the next merge is due by `time.monotonic`, if there is a pace."""
        self.held = False
        """True from a `pause` to the next command: even counting waits. After starting paused it is False."""
        self.stopped: str | None = None
        """None while the work may go on; then "stopped" (by a command) or "interrupted" (by a signal)."""
        self._inbox: SimpleQueue[Command | int] = SimpleQueue()
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            no_hangup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            handled = (number for number in _SIGNALS if not (no_hangup and number == signal.SIGHUP))
            self._handlers = {number: signal.signal(number, self._on_signal) for number in handled}
        if stdin:
            threading.Thread(target=self._read_commands, name="commands", daemon=True).start()

    def close(self) -> None:
        """Restore the signal handlers that were there before."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def receive(self) -> None:
        """Apply the commands and signals that have arrived, without waiting; cheap enough for every turn of a loop."""
        while not self._inbox.empty():
            self._apply(self._inbox.get())

    def wait(self, seconds: float | None = None) -> bool:
        """Block until a command or a signal arrives, and apply all that have; False if none came in `seconds`."""
        try:
            self._apply(self._inbox.get(timeout=seconds))
        except Empty:
            return False
        self.receive()
        return True

    def has_turn(self, before: Callable[[float], None]) -> bool:
        """Whether the pace allows the next merge now. Blocks until it does, or else until something has arrived.

        `before(seconds)` is called first where that takes some time; what has arrived is applied. Steps that were asked
        for one by one are due at once.
        """
        if not self.pace or self.credit != UNLIMITED:
            return True
        now = time.monotonic()
        self._due = max(self._due, now - ARREARS)
        if self._due > now:
            before(self._due - now)
            try:
                self._apply(self._inbox.get(timeout=self._due - now))
                return False
            except Empty:
                pass
        self._due += 1 / self.pace
        return True

    def at_once(self, most: int) -> int:
        """How many merges may be made before it is asked again, `most` at most: one where each is looked at."""
        return 1 if self.pace or self.goal is not None else int(min(most, self.credit))

    def made(self, merge: "Merge", n_bytes: int) -> None:
        """Take a merge off the credit, and all of the credit if the condition holds now, in a corpus of `n_bytes`."""
        self.credit -= 1
        if self.goal is not None and self.goal.holds(merge, n_bytes):
            self.credit, self.reached, self.goal = 0, str(self.goal), None

    def must_wait(self) -> bool:
        """Whether all work, counting too, has to `wait` for the next command."""
        return self.held and self.stopped is None

    def stop(self, reason: str) -> None:
        """Set `stopped` to `reason`, unless it has one already."""
        self.stopped = self.stopped or reason

    def _apply(self, received: Command | int) -> None:
        if isinstance(received, int):  # the number of a signal
            return self.stop("interrupted")
        if received.verb == "pace":
            # In force at once: whoever waits for the turn of a slow pace waits for it no longer.
            self.pace, self._due = received.n, 0.0
            return
        self.held = received.verb == "pause"
        self.goal, self.reached = received.condition, ""
        match received.verb:
            case "run" | "until":
                self.credit = UNLIMITED
            case "pause":
                self.credit = 0
            case "step":
                # A step out of a run is a pause first: "three more", not "three more after infinity".
                self.credit = received.n + (0 if self.credit == UNLIMITED else self.credit)
            case "stop":
                self.stop("stopped")

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(number)
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _read_commands(self) -> None:
        # os.read and not sys.stdin: at exit, a daemon thread inside a buffered reader would still hold its lock.
        rest = b""
        while data := _read_stdin():
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[:LONGEST_COMMAND]  # enough of an overlong line to see that it is no command; bounds the memory
            for line in filter(None, map(bytes.strip, lines)):
                try:
                    self._inbox.put(parse_command(line))
                except WireError as error:
                    print_to_stderr(visible(str(error)))
        self._inbox.put(Command("stop"))


def _read_stdin() -> bytes:
    try:
        return os.read(0, 4096)
    except OSError:
        return b""
