"""The driver of the terminal, for what Textual's does not bear: signals, a terminal that goes away, bytes of no text.

Without: SIGTERM leaves raw mode, mouse reports and the alternate screen on, and loses what was typed; so does a window
that is closed, behind which Textual's output moreover waits for ever, and its input is read on and on. After a SIGSTOP
and a SIGCONT Textual starts a second thread that reads keys beside the first, takes the raw terminal for what is to be
restored, and waits at its end for one more key. A byte of the input that is no UTF-8 ends the thread that reads it, and
the app, with exit code 0.
"""

import codecs
import os
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Final, cast

from bpe_core.process import INTERRUPTED, Unfailing

if TYPE_CHECKING:
    from textual.driver import Driver

_KEYBOARD: Final = 0  # the descriptor of stdin
Attributes = list[Any]
"""What `termios.tcgetattr` returns."""
_held: list[
    Attributes
] = []  # what the terminal had before `keyboard_held`, as long as no driver knows it


@contextmanager
def keyboard_held() -> Iterator[None]:
    """Keep what is typed while the app is loaded: nothing is echoed, and Ctrl+Q is a key like others.

    A terminal takes Ctrl+Q for flow control until a program says otherwise. The driver restores the terminal if it was
    started, else this does.
    """
    try:
        before = termios.tcgetattr(_KEYBOARD)
    except termios.error:  # there is no terminal
        yield
        return

    def leave(*_: object) -> None:
        termios.tcsetattr(_KEYBOARD, termios.TCSANOW, before)
        os._exit(INTERRUPTED)

    held = termios.tcgetattr(_KEYBOARD)
    held[tty.IFLAG] &= ~(termios.IXON | termios.ICRNL)
    held[tty.LFLAG] &= ~(termios.ICANON | termios.ECHO)
    _held.append(before)
    interrupt = signal.signal(signal.SIGINT, leave)
    termios.tcsetattr(_KEYBOARD, termios.TCSANOW, held)
    try:
        yield
    finally:
        if _held:
            termios.tcsetattr(_KEYBOARD, termios.TCSANOW, _held.pop())
        signal.signal(signal.SIGINT, interrupt)


def enduring(driver: "type[Driver]") -> "type[Driver]":
    """`driver`, but that a terminal may go away, the process be stopped and go on, and any bytes come."""
    from textual.drivers import linux_driver

    if not issubclass(driver, linux_driver.LinuxDriver):
        return driver

    class EnduringDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self._file = cast(IO[str], Unfailing(cast(IO[str], sys.__stderr__)))

        def start_application_mode(self) -> None:
            super().start_application_mode()
            if _held:
                self.attrs_before = _held.pop()

        def _sigcont_application(self, number: int, frame: FrameType | None) -> None:
            # A terminal that goes away sends this signal, too, right behind the one that ends the app.
            if self._app.return_code is not None:
                return
            if self._must_signal_resume:
                super()._sigcont_application(number, frame)
            else:  # nobody had told us to stop
                self._loop.call_soon_threadsafe(self._come_back)

        def _come_back(self) -> None:
            try:
                termios.tcgetattr(self.fileno)
            except termios.error:  # the terminal is gone
                return
            if self._app.return_code is None:
                self.suspend_application_mode()
                self._must_signal_resume = True
                self.resume_application_mode()
                self._app.refresh(layout=True)

        def run_input_thread(self) -> None:
            # It makes a strict decoder by this name; there is no other way to give it ours.
            before = vars(linux_driver)["getincrementaldecoder"]
            try:
                vars(linux_driver)["getincrementaldecoder"] = _replacing
                super().run_input_thread()
            except (
                EOFError,
                OSError,
            ):  # the terminal is gone, and nobody may have told us
                with suppress(RuntimeError):  # so is the loop
                    self._loop.call_soon_threadsafe(
                        partial(self._app.exit, return_code=128 + signal.SIGHUP)
                    )
            finally:
                vars(linux_driver)["getincrementaldecoder"] = before

    return EnduringDriver


def _replacing(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    whole = cast(
        type[codecs.IncrementalDecoder], codecs.getincrementaldecoder(encoding)
    )

    class Replacing(whole):  # type: ignore[misc, valid-type]
        def decode(self, data: bytes, final: bool = False) -> str:
            if not (
                data or final
            ):  # the end of a terminal: Textual would read it again and again
                raise EOFError
            return str(super().decode(data, final))

    return partial(Replacing, "replace")
