"""`python -m benchmarks.startup`: from the command to the first content on the screen, beside a bare Textual app.

Both run in a pseudo-terminal, in turns. The bare app is a header and a line of text; what is waited for is that text.
bpescope runs with a home folder that it has been in before, the same text left in its editor and a small tokenizer on
its shelf. As soon as the text is there a key is pressed, which is answered when its letter is on the screen, and at
last come the panes. Modules are compiled before, as those of an installed program are.
"""

import os
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks import table
from tests.terminals import PATIENCE, Terminal, python_in_terminal

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
_KEY: Final = "Ж"
"""A letter that nothing else on the screen holds."""
_FIRST: Final = "first content"
_WAITED_FOR: Final = {
    _FIRST: b"words of the last run",
    "first key answered": _KEY.encode(),
    "all panes": b"Preview",
}
"""What is waited for, and what only then is on the screen; the cursor may stand on the first letter of the text."""
_APPS: Final = {
    "bare Textual app": (["-c", _BARE], (_FIRST,)),
    "bpescope": (["-m", "tui"], tuple(_WAITED_FOR)),
}
"""Name -> its arguments, and what to wait for."""
HEAD: Final = ("until", "app", "ms", "times the bare one", "fastest ms")


def main() -> None:
    """Measure and print the table; half a minute."""
    parser = ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=15, help="how often each is started (15)"
    )
    options = parser.parse_args()
    print(
        table.machine(),
        f"Medians of {options.rounds} interleaved rounds, 120 x 40 cells.\n",
    )
    for line in table.markdown(HEAD, rows(options.rounds)):
        print(line, flush=True)


def rows(rounds: int) -> Iterator[list[str]]:
    """One row for each thing waited for, once both apps have been started so often, in turns."""
    times: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as home:
        environment = _at_home(Path(home))
        for number in range(rounds + 1):
            for name, (arguments, marks) in _APPS.items():
                _text_in(Path(home)).write_text(_TEXT)
                seconds = _started(arguments, marks, environment)
                if number:  # the first round has read the disk and compiled the modules
                    for mark in marks:
                        times.setdefault((mark, name), []).append(seconds[mark])
    for (mark, name), each in times.items():
        yield _row(mark, name, each, times[_FIRST, "bare Textual app"])


def _row(mark: str, name: str, seconds: list[float], bare: list[float]) -> list[str]:
    ratio = median(ours / theirs for ours, theirs in zip(seconds, bare, strict=True))
    return [
        mark,
        name,
        f"{1000 * median(seconds):.0f}",
        f"{ratio:.2f}",
        f"{1000 * min(seconds):.0f}",
    ]


def _text_in(home: Path) -> Path:
    return home / "data" / "bpescope" / "editor.txt"


def _at_home(home: Path) -> dict[str, str]:
    """An environment in which the app has a shelf with one tokenizer, so that none is trained at the first start."""
    from bpe_core import save, train

    shelf = home / "data" / "bpescope" / "tokenizers"
    shelf.mkdir(parents=True)
    save(
        train("the theme of the other thesis " * 99, vocab_size=300),
        shelf / "small.json",
    )
    folders = {
        f"XDG_{kind.upper()}_HOME": str(home / kind)
        for kind in ("data", "config", "cache")
    }
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE"
    }
    compiled = {"PYTHONPYCACHEPREFIX": str(home / "compiled")}
    return {**inherited, **folders, **compiled, "HOME": str(home)}


def _started(
    arguments: list[str], marks: tuple[str, ...], environment: dict[str, str]
) -> dict[str, float]:
    """Seconds from the start of the process until each mark is on the screen; the key is pressed at the first."""
    began, seconds = time.perf_counter(), dict[str, float]()
    with python_in_terminal(
        *arguments, kind=Terminal, environment=environment
    ) as screen:
        while len(seconds) < len(marks):
            if not screen.read(PATIENCE):
                raise SystemExit(
                    f"{arguments[-1]} has not come to {set(marks) - seconds.keys()} in {PATIENCE:.0f} s."
                )
            for mark in marks:
                if mark not in seconds and _WAITED_FOR[mark] in screen.sent:
                    seconds[mark] = time.perf_counter() - began
                    if mark == _FIRST:
                        screen.type(_KEY)
    return seconds


if __name__ == "__main__":
    main()
