"""What a worker is allowed to do next, as told by its stdin and by signals; waiting for either burns no CPU."""

import os
import signal
import threading
from queue import SimpleQueue
from types import FrameType
from typing import Any, Final

from bpe_core.cli.standard_streams import tell
from bpe_core.cli.wire import Command, WireError, parse_command
from bpe_core.visible import visible

UNLIMITED: Final = float("inf")

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

LONGEST: Final = 4096
"""Bytes of a line that can be a command."""


class Control:
    """Credit for merges, and the wish to stop.

    Commands and signals meet in one queue. A `SimpleQueue` may be put to from a signal handler, so a handler only
    leaves its wish there and the work decides where it is safe to heed it. The first SIGINT, SIGTERM or SIGHUP (unless
    that is ignored, as nohup has it) asks the work to stop and keep what it has; a second SIGINT is Python's ordinary
    KeyboardInterrupt, for those who cannot wait.

    A stdin that ends means that the app is gone: nobody is left to say `run`, so the work stops too, and keeps.
    """

    def __init__(self, *, stdin: bool, paused: bool = False) -> None:
        """Listen to signals, and to commands on file descriptor 0 if `stdin`."""
        self.credit: float = 0 if paused else UNLIMITED
        """Merges that may still be made; UNLIMITED while running."""
        self.held = False
        """True after a `pause`: even counting rests. Starting paused holds only the merges."""
        self.stopped: str | None = None
        """Why to stop, once that is wanted: "stopped" or "interrupted"."""
        self._inbox: SimpleQueue[Command | int] = SimpleQueue()
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            no_hangup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            heeded = (number for number in _SIGNALS if not (no_hangup and number == signal.SIGHUP))
            self._handlers = {number: signal.signal(number, self._signalled) for number in heeded}
        if stdin:
            threading.Thread(target=self._listen, name="commands", daemon=True).start()

    def close(self) -> None:
        """Give the signals back."""
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def look(self) -> None:
        """Take in what has arrived; cheap enough for every turn of a loop."""
        while not self._inbox.empty():
            self._heed(self._inbox.get())

    def wait(self) -> None:
        """Sleep until something arrives, and take it in."""
        self._heed(self._inbox.get())
        self.look()

    def resting(self) -> bool:
        """Whether even counting is to wait for a command."""
        return self.held and self.stopped is None

    def stop(self, reason: str) -> None:
        """Stop at the next look; the first reason counts."""
        self.stopped = self.stopped or reason

    def _heed(self, wish: Command | int) -> None:
        if isinstance(wish, int):
            return self.stop("interrupted")
        self.held = wish.verb == "pause"
        match wish.verb:
            case "run":
                self.credit = UNLIMITED
            case "pause":
                self.credit = 0
            case "step":
                # A step out of a run is a pause first: "three more", not "three more after infinity".
                self.credit = wish.n + (0 if self.credit == UNLIMITED else self.credit)
            case "stop":
                self.stop("stopped")

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._inbox.put(number)
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _listen(self) -> None:
        # os.read and not sys.stdin: a daemon thread inside a buffered reader would hold its lock when Python exits.
        rest = b""
        while data := _read():
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[:LONGEST]  # no command is that long: of such a line no more is held than shows that it is none
            for line in filter(None, map(bytes.strip, lines)):
                try:
                    self._inbox.put(parse_command(line))
                except WireError as error:
                    tell(visible(str(error)))
        self._inbox.put(Command("stop"))


def _read() -> bytes:
    try:
        return os.read(0, 4096)
    except OSError:
        return b""
