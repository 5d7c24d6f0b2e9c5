"""What the system tells the app to do: to end, and to go on after it was stopped; and a terminal that goes away.

Without: SIGTERM leaves raw mode, mouse reports and the alternate screen on, and loses what was typed; so does a window
that is closed, behind which Textual's output moreover waits for ever, and its input is read on and on. After a SIGSTOP
and a SIGCONT Textual starts a second thread that reads keys beside the first, takes the raw terminal for what is to be
restored, and waits at its end for one more key.
"""

import asyncio
import signal
import sys
import termios
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Final, cast

from bpe_core.process import Unfailing

if TYPE_CHECKING:
    from textual.driver import Driver

_ENDING: Final = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def call_at_end(leave: Callable[[int], None]) -> None:
    """Call `leave` with the exit code that shells expect when the system asks the app to end; within its loop."""
    loop = asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, partial(leave, 128 + number))


def enduring(driver: "type[Driver]") -> "type[Driver]":
    """`driver`, but that a terminal may go away, and the process be stopped and go on."""
    from textual.drivers.linux_driver import LinuxDriver

    if not issubclass(driver, LinuxDriver):
        return driver

    class EnduringDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._file = cast(IO[str], Unfailing(cast(IO[str], sys.__stderr__)))

        def _sigcont_application(self, number: int, frame: FrameType | None) -> None:
            # A terminal that goes away sends this signal, too, right behind the one that ends the app.
            if self._app.return_code is not None:
                return
            if self._must_signal_resume:
                super()._sigcont_application(number, frame)
            else:  # nobody had told us to stop
                self._loop.call_soon_threadsafe(self._come_back)

        def _come_back(self) -> None:
            if self._app.return_code is not None or not _is_there(self.fileno):
                return
            self.suspend_application_mode()
            self._must_signal_resume = True
            self.resume_application_mode()
            self._app.refresh(layout=True)

        def run_input_thread(self) -> None:
            try:
                super().run_input_thread()
            except (EOFError, OSError):  # the terminal is gone, and nobody may have told us
                with suppress(RuntimeError):  # so is the loop
                    self._loop.call_soon_threadsafe(partial(self._app.exit, return_code=128 + signal.SIGHUP))

    return EnduringDriver


def _is_there(terminal: int) -> bool:
    try:
        termios.tcgetattr(terminal)
    except termios.error:
        return False
    return True
