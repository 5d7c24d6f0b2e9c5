"""The pictures of the README and of the site, from the real app: its first seconds as a moving picture, and stills.

python -m tests.site_pictures            writes all of them to docs/pictures again; it takes four minutes
python -m tests.site_pictures NAME …     writes those with these names, such as editor, ideas-3 or bpescope
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from textual.geometry import Region
from textual.pilot import Pilot

from tests.compact_svg import drawn, picture, read_export

if TYPE_CHECKING:
    from tui.app import BpeScope
    from tui.screen import MainScreen

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs/pictures"
SIZE: Final = (104, 32)
"""The cells of most pictures: few enough that a page shows them large."""
SMALL: Final = (80, 24)
"""The cells of a picture of one pane."""
SECONDS_PER_FRAME: Final = 0.8
SECONDS_OF_STUDIO: Final = 3.2
"""How long the moving picture ends with all panes."""
PACE: Final = 10
"""The seconds in which the moving picture shows all merges."""
LARGEST_MOVING_PICTURE: Final = 1_000_000
LARGEST_STILL: Final = 60_000
"""Bytes of a file, at most."""
THEMES: Final = ("dark", "light")


# The moving picture


async def first_seconds() -> list[str]:
    """Start the app for the first time. Return its screen at each frame, as SVG, until the panes are there."""
    from tui.app import BpeScope
    from tui.disk import config
    from tui.screen import MainScreen

    config.save_configuration(config.Configuration(pace=PACE))
    app = BpeScope()
    frames: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        screen = app.screen
        assert isinstance(screen, MainScreen)
        await screen.loaded.wait()
        while not screen.training.log_of_merges.merges:
            await pilot.pause(0.02)
        due = monotonic()
        while screen.on_stage:
            await pilot.pause(0.02)
            if monotonic() >= due:
                due += SECONDS_PER_FRAME
                frames.append(app.export_screenshot())
        screen.editor.area.cursor_blink = False
        await pilot.pause(2)
        frames.append(app.export_screenshot())
    return frames


def played(exports: list[str]) -> str:
    """Return one SVG that shows frames of one size one after the other, and begins again after the last."""
    screens = [read_export(export) for export in exports]
    region = Region(0, 0, *SIZE)
    frames = [drawn(screen, region) for screen in screens]
    period = SECONDS_PER_FRAME * (len(frames) - 1) + SECONDS_OF_STUDIO
    share = 100 * SECONDS_PER_FRAME / period
    background = screens[-1].background
    style = (
        f".frame{{opacity:0;animation:seen {period:g}s step-end infinite}}"
        f"@keyframes seen{{0%{{opacity:1}}{share:.3f}%{{opacity:0}}}}"
    )
    # The last frame is below all others and always there, also where nothing is animated.
    layers = [f"<g>{frames[-1]}</g>"]
    cover = f'<path fill="{background}" d="M0 0h{SIZE[0] * 10}v{SIZE[1] * 20}H0z"/>'
    for number, frame in enumerate(frames[:-1]):
        delay = SECONDS_PER_FRAME * number
        layers.append(
            f'<g class="frame" style="animation-delay:{delay:g}s">{cover}{frame}</g>'
        )
    return picture("\n".join(layers), SIZE, background, style)


# Stills

Story = Callable[[Pilot[None], "MainScreen"], Awaitable[None]]


class Still(NamedTuple):
    """A picture of the app after a story."""

    story: Story
    size: tuple[int, int] = SIZE
    tokenizer: str = "story"
    """The tokenizer on the screen, one of `_SAMPLES`."""
    lesson: tuple[str, str] | None = None
    """The lesson and the step, counted from 0, that F12 resumes."""
    crop: str = ""
    """The widget to show; empty for the whole screen."""


async def show_editor(pilot: Pilot[None], screen: "MainScreen") -> None:
    await pilot.press("f4", "alt+e")


async def show_training(pilot: Pilot[None], screen: "MainScreen") -> None:
    await screen.features.shown.travel_to(60)
    screen.action_show("training")
    screen.set_focus(screen.training.log_of_merges)


async def show_curve(pilot: Pilot[None], screen: "MainScreen") -> None:
    await screen.features.shown.travel_to(200)
    screen.action_show("training")
    await pilot.pause(0.5)
    screen.set_focus(screen.training.curve)


async def show_corpus(pilot: Pilot[None], screen: "MainScreen") -> None:
    await pilot.press("f2")


async def show_audit(pilot: Pilot[None], screen: "MainScreen") -> None:
    await pilot.press("f5", "down")


async def show_comparison(pilot: Pilot[None], screen: "MainScreen") -> None:
    await pilot.press("f4", "alt+e", "f10")
    await pilot.pause(3)


async def resume_lesson(pilot: Pilot[None], screen: "MainScreen") -> None:
    await pilot.press("f12")
    while not screen.caption:
        await pilot.pause(0.1)
    await pilot.pause(3)


async def answer_wrongly(pilot: Pilot[None], screen: "MainScreen") -> None:
    await resume_lesson(pilot, screen)
    await pilot.press("5", "enter")


def _idea(lesson: str, step: int) -> Still:
    """A step of a lesson, counted from 1."""
    return Still(resume_lesson, SMALL, lesson=(lesson, str(step - 1)))


_SAMPLES: Final = {"forum": "forum-with-names", "story": "english-prose"}
"""A tokenizer -> the sample that it is trained on."""
STILLS: Final = {
    "editor": Still(show_editor),
    "training": Still(show_training),
    "audit": Still(show_audit, tokenizer="forum"),
    "compare": Still(show_comparison),
    "corpus": Still(show_corpus),
    "token": Still(show_editor, crop="#side"),
    "curve": Still(show_curve, SMALL, crop="#curve"),
    "lessons": Still(answer_wrongly, SMALL, lesson=("5-encoding", "2")),
    "ideas-1": _idea("1-bytes", 3),
    "ideas-2": _idea("2-first-merge", 3),
    "ideas-3": _idea("3-why-this-pair", 1),
    "ideas-4": _idea("4-pieces", 3),
    "ideas-5": _idea("5-encoding", 2),
    "ideas-6": _idea("6-fertility", 4),
    "ideas-7": _idea("7-special-tokens", 3),
    "ideas-8": _idea("8-glitch-tokens", 4),
}


def prepare(still: Still) -> None:
    """Train two tokenizers, of a forum with user names and of a story, and show one of them."""
    from bpe_core import save, train
    from bpe_core.content.samples import SAMPLES
    from tui.disk import config

    paths = {sample.name: sample.path for sample in SAMPLES}
    kept = config.tokenizers_folder()
    for name, sample in _SAMPLES.items():
        text = paths[sample].read_text("utf-8")
        save(train(text, vocab_size=768), kept / f"{name}.json")
    shown = still.tokenizer
    lessons = dict([still.lesson]) if still.lesson else {}
    config.save_configuration(
        config.Configuration(
            tokenizer=str(kept / f"{shown}.json"),
            corpus=(str(paths[_SAMPLES[shown]]),),
            reference=(str(paths["forum-clean"]),) if shown == "forum" else (),
            lessons=lessons,
        )
    )


async def taken(still: Still) -> dict[str, str]:
    """Play a story in the app. Return its last screen in each theme, as SVG."""
    from tui.app import BpeScope

    app = BpeScope()
    pictures: dict[str, str] = {}
    async with app.run_test(size=still.size) as pilot:
        app.animation_level = "none"
        await app.main.loaded.wait()
        app.main.editor.area.cursor_blink = False
        while app.main.in_force is None:
            await pilot.pause(0.1)
        await still.story(pilot, app.main)
        await pilot.pause(2)
        while app.main.audit.running:
            await pilot.pause(0.1)
        # The status has the seconds that it took.
        subject = re.sub(r" · [\d.]+ s$", "", app.main.audit.subject)
        app.main.audit = replace(app.main.audit, subject=subject)
        app.clear_notifications()
        for theme in THEMES:
            app.theme = f"bpescope-{theme}"
            await pilot.pause(1)
            pictures[theme] = _photograph(app, still)
    return pictures


def _photograph(app: "BpeScope", still: Still) -> str:
    background = app.current_theme.background or ""
    screen = read_export(app.export_screenshot())._replace(background=background)
    region = Region(0, 0, *still.size)
    if still.crop:
        region = app.main.query_one(still.crop).region
    content = drawn(screen, region)
    return picture(content, (region.width, region.height), screen.background)


def _write(name: str, svg: str, largest: int) -> None:
    size = len(svg.encode())
    if size > largest:
        sys.exit(f"The picture {name} has {size:,} bytes.")
    (FOLDER / f"{name}.svg").write_text(svg, "utf-8")


def main(names: list[str]) -> None:
    """Write the pictures with these names, or all of them if `names` is empty."""
    if not names or "bpescope" in names:
        with new_home():
            moving = played(asyncio.run(first_seconds()))
        _write("bpescope", moving, LARGEST_MOVING_PICTURE)
    for name in STILLS:
        if names and name not in names:
            continue
        with new_home():
            prepare(STILLS[name])
            pictures = asyncio.run(taken(STILLS[name]))
        for theme, svg in pictures.items():
            _write(f"{name}-{theme}", svg, LARGEST_STILL)


@contextmanager
def new_home() -> Iterator[None]:
    """Let the app run in a home without any files."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        os.chdir(home)
        for kind in ("DATA", "CONFIG", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = str(Path(folder, kind))
        os.environ |= {
            "HOME": str(home),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        yield
        os.chdir(FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
