"""A driver of the terminal that survives signals, a closed terminal, and input that is not UTF-8.

Textual's own driver has these faults:

- SIGTERM leaves raw mode, mouse reports and the alternate screen on, and loses the typed text.
- After the window is closed, the output waits forever, and the input is read again and again.
- After SIGSTOP and SIGCONT a second thread reads keys next to the first. At the end, the terminal is
  restored to raw mode, and the driver waits for one more key.
- A byte that is not UTF-8 ends the thread that reads keys, and the app with exit code 0.
- Alt and a letter, pressed twice so quickly that both are read at once, type "^" and the letter.
"""

import codecs
import os
import re
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

_ALT_KEYS: Final = re.compile(r"(?:\x1b[ac-eg-zA-NQ-Z.,])+")
"""Alt and letters as most terminals send them. Others after Escape are arrow keys, or start a longer sequence."""
_KEYBOARD: Final = 0
"""The descriptor of stdin."""
Attributes = list[Any]
"""The terminal's settings, as `termios.tcgetattr` returns them."""
_settings_before: list[Attributes] = []
"""The settings before `keyboard_held`, until a driver takes them over; at most one item."""


@contextmanager
def keyboard_held() -> Iterator[None]:
    """Keep the keys typed while the app is loaded: don't echo them, and let Ctrl+Q through.

    By default a terminal uses Ctrl+Q for flow control. If the driver was started, it restores the
    terminal's settings at its end; otherwise this function does.
    """
    try:
        before = termios.tcgetattr(_KEYBOARD)
    except termios.error:
        # Stdin is not a terminal.
        yield
        return

    def exit_at_once(*_: object) -> None:
        termios.tcsetattr(_KEYBOARD, termios.TCSANOW, before)
        os._exit(INTERRUPTED)

    held = termios.tcgetattr(_KEYBOARD)
    held[tty.IFLAG] &= ~(termios.IXON | termios.ICRNL)
    held[tty.LFLAG] &= ~(termios.ICANON | termios.ECHO)
    _settings_before.append(before)
    handler_before = signal.signal(signal.SIGINT, exit_at_once)
    termios.tcsetattr(_KEYBOARD, termios.TCSANOW, held)
    try:
        yield
    finally:
        if _settings_before:
            termios.tcsetattr(_KEYBOARD, termios.TCSANOW, _settings_before.pop())
        signal.signal(signal.SIGINT, handler_before)


def enduring(driver: "type[Driver]") -> "type[Driver]":
    """Return a driver class that has none of the faults listed at the top of this file."""
    from textual.drivers import linux_driver

    if not issubclass(driver, linux_driver.LinuxDriver):
        return driver

    class EnduringDriver(driver):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            stderr = cast(IO[str], sys.__stderr__)
            self._file = cast(IO[str], Unfailing(stderr))

        def start_application_mode(self) -> None:
            super().start_application_mode()
            if _settings_before:
                self.attrs_before = _settings_before.pop()

        def _sigcont_application(self, number: int, frame: FrameType | None) -> None:
            # A closed terminal sends SIGCONT, too, right after the signal that ends the app.
            if self._app.return_code is not None:
                return
            if self._must_signal_resume:
                super()._sigcont_application(number, frame)
            else:
                # SIGSTOP stopped the process, which Textual cannot notice.
                self._loop.call_soon_threadsafe(self._come_back)

        def _come_back(self) -> None:
            try:
                termios.tcgetattr(self.fileno)
            except termios.error:
                # The terminal was closed.
                return
            if self._app.return_code is None:
                self.suspend_application_mode()
                self._must_signal_resume = True
                self.resume_application_mode()
                self._app.refresh(layout=True)

        def run_input_thread(self) -> None:
            # The method looks up its decoder by this name: replacing it is the only way to use another.
            decoder_before = vars(linux_driver)["getincrementaldecoder"]
            try:
                vars(linux_driver)["getincrementaldecoder"] = _replacing
                super().run_input_thread()
            except (EOFError, OSError):
                # The terminal was closed, possibly without a signal. The loop may be closed, too.
                exit_app = partial(self._app.exit, return_code=128 + signal.SIGHUP)
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(exit_app)
            finally:
                vars(linux_driver)["getincrementaldecoder"] = decoder_before

    return EnduringDriver


def _replacing(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a factory of decoders that replace invalid bytes and raise EOFError at the end of the input."""
    strict = cast(
        type[codecs.IncrementalDecoder], codecs.getincrementaldecoder(encoding)
    )

    class ReplacingDecoder(strict):  # type: ignore[misc, valid-type]
        def decode(self, data: bytes, final: bool = False) -> str:
            if not data and not final:
                # The terminal was closed. Textual would read the empty input again and again.
                raise EOFError
            text = str(super().decode(data, final))
            if _ALT_KEYS.fullmatch(text):
                return "".join(map(_alt_key, text[1::2]))
            return text

    return partial(ReplacingDecoder, "replace")


def _alt_key(character: str) -> str:
    r"""Return Alt and a character as the newer sequence for keys, which has an end.

    >>> _alt_key("q")
    '\x1b[113;3u'
    """
    modifiers = 4 if character.isupper() else 3
    return f"\x1b[{ord(character.lower())};{modifiers}u"
