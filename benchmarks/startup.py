"""`python -m benchmarks.startup`: from the command to the first content on the screen, beside a bare Textual app.

Both run in a pseudo-terminal, in turns. The bare app is a header and a line of text; what is waited for is a word that
only a drawn screen holds. bpescope runs with a home folder that it has been in before, a small tokenizer on its shelf.
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
        yield Static("Corpus")
Bare().run()
"""
_APPS: Final = {"bare Textual app": ["-c", _BARE], "bpescope": ["-m", "tui"]}
HEAD: Final = ("until", "app", "ms", "times the bare one", "fastest ms")
_WORD: Final = b"Corpus"
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
    times: dict[str, list[float]] = {name: [] for name in _APPS}
    with tempfile.TemporaryDirectory() as home:
        environment = _at_home(Path(home))
        for _ in range(rounds + 1):
            for name, arguments in _APPS.items():
                times[name].append(_first_content(arguments, environment))
    times = {name: seconds[1:] for name, seconds in times.items()}  # the first round has read the disk
    for name, seconds in times.items():
        yield _row(name, seconds, times["bare Textual app"])


def _row(name: str, seconds: list[float], bare: list[float]) -> list[str]:
    ratio = median(ours / theirs for ours, theirs in zip(seconds, bare, strict=True))
    return ["first content", name, f"{1000 * median(seconds):.0f}", f"{ratio:.2f}", f"{1000 * min(seconds):.0f}"]


def _at_home(home: Path) -> dict[str, str]:
    """An environment in which the app has a shelf with one tokenizer, so that none is trained at the first start."""
    from bpe_core import save, train

    shelf = home / "data" / "bpescope" / "tokenizers"
    shelf.mkdir(parents=True)
    save(train("the theme of the other thesis " * 99, vocab_size=300), shelf / "small.json")
    folders = {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("data", "config", "cache")}
    return {**os.environ, **folders, "HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor"}


def _first_content(arguments: list[str], environment: dict[str, str]) -> float:
    """Seconds from the start of the process to the first frame."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    try:
        seen = b""
        while _WORD not in seen:
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
