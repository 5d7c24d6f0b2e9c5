"""`python -m benchmarks.startup`: from the command to the first content on the screen, beside a bare Textual app.

Both run in a pseudo-terminal, in turns. The bare app is a header and a line of text; what is waited for is that text.
bpescope runs with a home folder that it has been in before, the same text left in its editor and a small tokenizer on
its shelf; it is waited for the text, and in a further row for the panes around it, which come later.
"""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import table

_BARE: Final = """
from textual.app import App
from textual.widgets import Header, Static
class Bare(App):
    def compose(self):
        yield Header()
        yield Static("the words of the last run")
Bare().run()
"""
_TEXT: Final = "the words of the last run"
_STARTS: Final = (
    ("first content", "bare Textual app", ("-c", _BARE), b"words of the last run"),
    ("first content", "bpescope", ("-m", "tui"), b"words of the last run"),
    ("all panes", "bpescope", ("-m", "tui"), b"Preview"),
)
"""What is waited for, which app, its arguments, and a word that only then is on the screen."""
HEAD: Final = ("until", "app", "ms", "times the bare one", "fastest ms")
_PATIENCE: Final = 60.0
"""Seconds after which an app has not begun."""


def main() -> None:
    """Measure and print the table; half a minute."""
    parser = ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="how often each is started (15)")
    options = parser.parse_args()
    print(table.machine(), f"Medians of {options.rounds} interleaved rounds, 120 x 40 cells.\n")
    for line in table.markdown(HEAD, rows(options.rounds)):
        print(line, flush=True)


def rows(rounds: int) -> Iterator[list[str]]:
    """One row for each app, once both have been started so often, in turns."""
    times: list[list[float]] = [[] for _ in _STARTS]
    with tempfile.TemporaryDirectory() as home:
        environment = _at_home(Path(home))
        for _ in range(rounds + 1):
            for seconds, (_, _, arguments, word) in zip(times, _STARTS, strict=True):
                seconds.append(_seconds_until(word, arguments, environment))
    times = [seconds[1:] for seconds in times]  # the first round has read the disk
    for seconds, (until, name, _, _) in zip(times, _STARTS, strict=True):
        yield _row(until, name, seconds, times[0])


def _row(until: str, name: str, seconds: list[float], bare: list[float]) -> list[str]:
    ratio = median(ours / theirs for ours, theirs in zip(seconds, bare, strict=True))
    return [until, name, f"{1000 * median(seconds):.0f}", f"{ratio:.2f}", f"{1000 * min(seconds):.0f}"]


def _at_home(home: Path) -> dict[str, str]:
    """An environment in which the app has a shelf with one tokenizer, so that none is trained at the first start."""
    from bpe_core import save, train

    shelf = home / "data" / "bpescope" / "tokenizers"
    shelf.mkdir(parents=True)
    save(train("the theme of the other thesis " * 99, vocab_size=300), shelf / "small.json")
    (shelf.parent / "editor.txt").write_text(_TEXT)
    folders = {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("data", "config", "cache")}
    return {**os.environ, **folders, "HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _seconds_until(word: bytes, arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Seconds from the start of the process to a screen that holds `word`."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    try:
        seen = b""
        while word not in seen:
            if not select.select([screen], [], [], _PATIENCE)[0]:
                raise SystemExit(f"{arguments[-1]} has not begun after {_PATIENCE:.0f} s.")
            seen = (seen + os.read(screen, 1 << 16))[-(1 << 17) :]
        return time.perf_counter() - began
    finally:
        process.kill()
        process.wait()
        os.close(screen)


if __name__ == "__main__":
    main()
