"""`python -m benchmarks.studio`: the training studio under the hand, measured from outside, in a terminal.

The real app runs in a pseudo-terminal, told of by keys and a mouse and judged by the frames that it draws:

    drag     the mouse drags the line of steps to and fro through 4,096 merges: frames a second that draw the editor
             anew, how long the last is behind the hand, and the app's processor time for each
    train    the standard library is learned from in the app while keys are pressed in the editor, and without the app,
             by turns: how long until a frame shows the key, how long until the screen says that it pauses, and how
             long the whole training takes, beside that without a screen
"""

import os
import random
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path
from typing import Final

from benchmarks import inputs, table
from benchmarks.frames import Frame, FrameTerminal
from tests.terminals import python_in_terminal

_ROOT: Final = Path(__file__).resolve().parents[1]
_STEPS: Final = 4096
_STEP_LINE: Final = re.compile(r"step +([\d,]+) of ([\d,]+)")
_F6: Final = "\x1b[17~"
_ENDED: Final = "vocabulary size reached"
_SETTLED: Final = 4.0
"""Seconds after which all panes are there; the cursor blinks, so that it is never quiet."""
_QUIT: Final = b"\x11"
_LETTERS: Final = [
    chr(code)
    for code in (*range(0x3B1, 0x3C9), *range(0x430, 0x450), *range(0x561, 0x587))
]
"""What is typed, each of them once in a text that has none: the first frame with it is the one that shows the key."""


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="drag, train (both)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=10,
        help="how long is dragged in each text (10)",
    )
    parser.add_argument(
        "--moves",
        type=int,
        default=60,
        help="how often a second the mouse tells where it is (60)",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=Path(sysconfig.get_path("stdlib")),
        help="what is learned from",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[8192, 32768],
        help="of the vocabularies that are",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="trainings of each size, in the app and without (5)",
    )
    parser.add_argument(
        "--profile",
        type=Path,
        help="profile the app while it is dragged, into this file",
    )
    options = parser.parse_args()
    parts = options.parts or ["drag", "train"]
    if strange := set(parts) - {"drag", "train"}:
        parser.error(f"there is no part {', '.join(sorted(strange))}")
    print(table.machine(), "120 x 40 cells.\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if "drag" in parts:
            _print_drags(Path(folder), options.seconds, options.moves, options.profile)
        if "train" in parts:
            _print_trainings(
                Path(folder), options.corpus, options.sizes, options.rounds
            )


# Dragging


def _print_drags(
    folder: Path, seconds: float, moves: int, profile: Path | None
) -> None:
    from bpe_core import save, train
    from bpe_core.content.samples import EDITOR_GREETING

    learned_from = inputs.corpus(folder, 1)
    texts = [path.read_text("utf-8") for path in sorted(learned_from.path.iterdir())]
    vocabulary = folder / "steps.json"
    save(train(texts, vocab_size=256 + _STEPS), vocabulary)
    shown = {
        "the greeting": EDITOR_GREETING,
        "100 KB of sources": "".join(texts)[:100_000],
    }
    head = (
        "text in the editor",
        "frames",
        "a second",
        "CPU ms a frame",
        "last behind by ms",
        "longest pause ms",
    )
    rows = (
        [name, *_dragged(folder, vocabulary, text, seconds, moves, profile)]
        for name, text in shown.items()
    )
    for line in table.markdown(head, rows):
        print(line, flush=True)
    print(
        f"\nDragged for {seconds:.0f} s, the mouse telling of {moves} places a second. {_load()}\n",
        flush=True,
    )


def _dragged(
    folder: Path,
    vocabulary: Path,
    text: str,
    seconds: float,
    moves: int,
    profile: Path | None,
) -> Iterator[str]:
    home = folder / "home"
    with _app(home, text, "-t", str(vocabulary), profile=profile) as screen:
        screen.until_drawn(f"{_STEPS:,} of {_STEPS:,}")
        screen.read_for(_SETTLED)
        row, left, right = _slider(screen)
        marks = {line[:16] for line in text.splitlines() if len(line) >= 16}
        places = cycle([*range(left, right), *range(right, left, -1)])
        n_before, worked = len(screen.frames), screen.processor_time
        began = screen.type(f"\x1b[<0;{left + 1};{row + 1}M")
        n_sent = 0
        while time.perf_counter() < began + seconds:
            n_sent += 1
            screen.read_for(began + n_sent / moves - time.perf_counter())
            ended = screen.type(f"\x1b[<32;{next(places) + 1};{row + 1}M")
        n_within = len(screen.frames)
        screen.rest()
        worked = screen.processor_time - worked
        screen.type(f"\x1b[<0;{left + 1};{row + 1}m")
        drawn = [
            frame
            for frame in screen.frames[n_before:]
            if _steps(frame) and _draws(frame, marks)
        ]
        within = [frame for frame in screen.frames[n_before:n_within] if frame in drawn]
        yield f"{len(within)}"
        yield f"{len(within) / seconds:.1f}"
        yield f"{1000 * worked / len(drawn):.1f}"
        yield f"{1000 * (drawn[-1].at - ended):.0f}"
        yield f"{1000 * max(later.at - sooner.at for sooner, later in pairwise(within)):.0f}"


def _slider(screen: FrameTerminal) -> tuple[int, int, int]:
    """Its row, first cell and last."""
    for frame in reversed(screen.frames):
        for (row, column), line in frame.lines.items():
            if _STEP_LINE.search(line) and "◂" in line:
                return row, column + line.index("◂") + 1, column + line.index("▸") - 1
    raise SystemExit("The line of steps was not drawn.")


def _steps(frame: Frame) -> bool:
    """Whether it tells of a step in the line of steps."""
    return any(_STEP_LINE.search(line) for line in frame.lines.values())


def _draws(frame: Frame, marks: set[str]) -> bool:
    """Whether it draws a line of the text anew."""
    return any(any(mark in line for mark in marks) for line in frame.lines.values())


# Training


@dataclass
class _Rounds:
    """What was measured of trainings to one size."""

    echoes: list[float] = field(default_factory=list)
    """Seconds from a key to the frame that shows it."""
    works: list[float] = field(default_factory=list)
    """Seconds of processor time that the app has taken meanwhile, whatever for."""
    pauses: list[float] = field(default_factory=list)
    """Seconds from F6 to the frame that says that it will pause."""
    paused: list[float] = field(default_factory=list)
    """Seconds from F6 to the frame that says at which merge it has paused."""
    app: list[float] = field(default_factory=list)
    """Seconds of whole trainings in the app."""
    headless: list[float] = field(default_factory=list)
    """Those of trainings without a screen, by turns with those."""
    n_lost: int = 0
    """Keys that no frame shows."""


def _print_trainings(
    folder: Path, corpus: Path, sizes: Sequence[int], n_rounds: int
) -> None:
    rounds = {size: _Rounds() for size in sizes}
    for number in range(n_rounds):
        for size, measured in rounds.items():
            for way in (_in_app, _headless)[:: 1 if number % 2 else -1]:
                way(folder, corpus, size, measured)
            _pause(folder, corpus, size, measured)
            print(
                f"round {number + 1}, {size:,}: {', '.join(_figures(measured))}",
                file=sys.stderr,
                flush=True,
            )
    head = (
        "training to",
        "keys",
        "median ms",
        "95 % ms",
        "longest ms",
        "95 % CPU ms",
        "pausing ms",
        "paused ms",
        "app s",
        "headless s",
        "app/headless",
    )
    for line in table.markdown(
        head, ([f"{size:,}", *_figures(measured)] for size, measured in rounds.items())
    ):
        print(line)
    print(
        f"\n{n_rounds} rounds on {corpus}; of the pauses the median and the longest. {_load()}"
    )


def _figures(of: _Rounds) -> Iterator[str]:
    yield f"{len(of.echoes)}" + (f" ({of.n_lost} lost)" if of.n_lost else "")
    for seconds in (
        table.quantile(of.echoes, 0.5),
        table.quantile(of.echoes, 0.95),
        max(of.echoes),
    ):
        yield f"{1000 * seconds:.0f}"
    yield f"{1000 * table.quantile(of.works, 0.95):.0f}"
    for pauses in (of.pauses, of.paused):
        yield (
            f"{1000 * statistics.median(pauses):.0f}, {1000 * max(pauses):.0f}"
            if pauses
            else "none"
        )
    yield f"{statistics.median(of.app):.2f}"
    yield f"{statistics.median(of.headless):.2f}"
    yield f"{statistics.median(app / alone for app, alone in zip(of.app, of.headless, strict=True)):.2f}"


def _in_app(folder: Path, corpus: Path, size: int, measured: _Rounds) -> None:
    """Train while keys are pressed, from F6 to the frame in which the training says how it ended."""
    rng = random.Random(len(measured.app))
    with _app(folder / "home", "\n", str(corpus), size=size) as screen:
        screen.until_drawn("260 tokens")
        screen.read_for(_SETTLED)
        n_before = len(screen.frames)
        began, typed, letters = (
            screen.type(_F6),
            dict[str, tuple[float, float]](),
            list(_LETTERS),
        )
        while (ended := _ended(screen, n_before)) is None:
            screen.read_for(rng.uniform(0.1, 0.3))
            if letters:
                letter = letters.pop()
                typed[letter] = screen.type(letter), screen.processor_time
        screen.read_for(0.5)
        for letter, (at, worked) in typed.items():
            data = letter.encode()
            shown = next(
                (frame for frame in screen.frames[n_before:] if data in frame.data),
                None,
            )
            if shown is None:
                measured.n_lost += 1
            elif shown.at < ended.at:
                measured.echoes.append(shown.at - at)
                measured.works.append(shown.worked - worked)
        measured.app.append(ended.at - began)


def _ended(screen: FrameTerminal, since: int) -> Frame | None:
    return next(
        (frame for frame in screen.frames[since:] if _ENDED.encode() in frame.data),
        None,
    )


def _pause(folder: Path, corpus: Path, size: int, measured: _Rounds) -> None:
    """Pause in the midst of the merges; nothing is noted of a pause that came when the last had been made."""
    with _app(folder / "home", "\n", str(corpus), size=size) as screen:
        screen.until_drawn("260 tokens")
        screen.read_for(_SETTLED)
        screen.type(_F6)
        screen.until_drawn("merges/s", _ENDED)
        n_before = len(screen.frames)
        pressed = screen.type(_F6)
        told = screen.until_drawn(
            "pausing", "paused at", _ENDED, "counting", since=n_before
        )
        paused = screen.until_drawn("paused at", _ENDED, "counting", since=n_before)
        if b"paused at" in paused.data:
            measured.pauses.append(told.at - pressed)
            measured.paused.append(paused.at - pressed)


def _headless(folder: Path, corpus: Path, size: int, measured: _Rounds) -> None:
    output = folder / "headless.json"
    output.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-P",
        "-m",
        "bpe_core",
        "train",
        str(corpus),
        "-o",
        str(output),
    ]
    began = time.perf_counter()
    subprocess.run(
        [*command, "--vocab-size", str(size)], check=True, stderr=subprocess.DEVNULL
    )
    measured.headless.append(time.perf_counter() - began)


# The app


@contextmanager
def _app(
    home: Path,
    text: str,
    *arguments: str,
    size: int = 1024,
    profile: Path | None = None,
) -> Iterator[FrameTerminal]:
    """The app with this text in its editor, and a home of its own that is made anew; it is left at the end."""
    from bpe_core import save, train
    from tui.disk import config
    from tui.state import TrainingOptions

    names = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory(dir=home.parent) as own:
        before = dict(os.environ)
        os.environ.update(
            {
                "HOME": own,
                **{name: f"{own}/{name}" for name in names},
                "PYTHONPATH": str(_ROOT),
            }
        )
        environment = dict(os.environ)
        try:
            config.save_text(text)
            kept = (
                config.tokenizers_folder() / "small.json"
            )  # else it would begin with a training on the samples
            save(train("the theme of the thesis", vocab_size=260), kept)
            options = TrainingOptions(vocab_size=size)
            config.save_configuration(
                config.Configuration(tokenizer=str(kept), options=options)
            )
        finally:
            os.environ.clear()
            os.environ.update(before)
        profiled = ("-m", "cProfile", "-o", str(profile)) if profile else ()
        command = (*profiled, "-m", "tui", *arguments)
        with python_in_terminal(
            *command, kind=FrameTerminal, environment=environment
        ) as screen:
            yield screen
            screen.type(_QUIT)
            screen.wait()


def _load() -> str:
    return f"Load: {', '.join(f'{n:.1f}' for n in os.getloadavg())}."


if __name__ == "__main__":
    main()
