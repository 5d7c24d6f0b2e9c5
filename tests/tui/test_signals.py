"""What the system does to the app in a real terminal: it ends in order, keeps what was typed, and comes back."""

import os
import signal
import termios
from pathlib import Path

import pytest
from terminal import AppTerminal, children, is_alive, terminal

from tui.disk import config

pytestmark = pytest.mark.usefixtures("home", "kept", "no_process_left")

LEFT = (
    b"\x1b[?1049l",
    b"\x1b[?25h",
    b"\x1b[?1000l",
    b"\x1b[?1003l",
    b"\x1b[?1006l",
    b"\x1b[?2004l",
    b"\x1b[<u",
)
"""The alternate screen, the hidden cursor, mouse, paste and keyboard modes, given back."""


def typed(app: AppTerminal, text: str) -> None:
    """Type once the app is there."""
    app.until_shown("Tokenizers")
    app.settle()
    app.type(text)
    app.settle()


def echoes(app: AppTerminal) -> bool:
    """Whether the terminal is as a shell wants it."""
    return bool(termios.tcgetattr(app.side)[3] & termios.ECHO)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_it_in_order(number: signal.Signals) -> None:
    with terminal() as app:
        typed(app, "typed just now")
        assert not echoes(app)
        begin = len(app.sent)
        os.kill(app.pid, number)
        assert app.wait() == 128 + number
        for sequence in LEFT:
            assert sequence in app.sent[begin:], sequence
        assert echoes(app) and b"Traceback" not in app.sent
    assert (config.load_text() or "").startswith("typed just now")


@pytest.mark.slow
def test_leaving_while_a_worker_needs_longer_prints_nothing(book: Path) -> None:
    hurried = (
        "from tui import __main__, screen; screen.SECONDS_TO_END = 0; __main__.main()"
    )
    with terminal(book, program=("-c", hurried)) as app:
        typed(app, "typed just now")
        app.type("\x1b[18~")  # F7
        app.until_shown("paused")
        app.quit()
        assert "Worker" not in app.text


@pytest.mark.slow
def test_a_window_that_is_closed_loses_nothing_and_leaves_nothing(book: Path) -> None:
    with terminal(book) as app:
        typed(app, "typed just now")
        app.type("\x1b[18~")  # F7: a worker, which waits, has to end too
        app.until_shown("paused")
        app.hang_up()
        assert app.wait() == 128 + signal.SIGHUP
    assert (config.load_text() or "").startswith("typed just now")


@pytest.mark.slow
def test_after_a_stop_it_goes_on_as_if_nothing_had_been() -> None:
    with terminal() as app:
        typed(app, "one ")
        for word in ("two ", "three "):
            os.kill(app.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, app.pid, os.WSTOPPED)
            begin = len(app.sent)
            os.kill(app.pid, signal.SIGCONT)
            app.until(
                lambda begin=begin: (
                    b"\x1b[?1049h" in app.sent[begin:] and "Tokenizers" in app.text
                ),
                "it is drawn",
            )
            app.settle()
            app.type(word)
            app.settle()
        assert not echoes(app)
        app.type("\x11")
        assert app.wait() == 0  # without one more key
        assert echoes(app)
    assert (config.load_text() or "").startswith("one two three ")


@pytest.mark.slow
def test_a_window_that_is_closed_ends_what_a_shell_has_started_in_it() -> None:
    """The shell ends first: then the app is told to end, and to go on, once or twice, in any order."""
    shell = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'tui'])"
    with terminal(program=("-c", shell)) as app:
        typed(app, "typed just now")
        (inner,) = children(app.pid)
        app.hang_up()
        app.wait()
    app.until(lambda: not is_alive(inner), "the app ends, too")
    assert (config.load_text() or "").startswith("typed just now")
