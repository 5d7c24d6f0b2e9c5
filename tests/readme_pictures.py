"""The pictures of the README, from the real app: its first seconds as a moving picture, and a still of each pane.

python -m tests.readme_pictures      writes them to docs/pictures again; it takes two minutes
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
from typing import Final

from textual.pilot import Pilot

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs/pictures"
SIZE: Final = (104, 32)
"""The cells of each picture: few enough that a page shows them large."""
SECONDS_PER_FRAME: Final = 0.8
SECONDS_OF_STUDIO: Final = 3.2
"""How long the moving picture ends with all panes."""
PACE: Final = 10
"""The seconds in which the moving picture shows all merges."""
LARGEST: Final = 1_500_000
"""Bytes of the moving picture, at most."""
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
                frames.append(picture_of(app))
        screen.editor.area.cursor_blink = False
        await pilot.pause(2)
        frames.append(picture_of(app))
    return frames


def picture_of(app: object) -> str:
    from tui.app import BpeScope

    assert isinstance(app, BpeScope)
    return app.export_screenshot(title="")


def played(frames: list[str]) -> str:
    """Return one SVG that shows frames of one size one after the other, and begins again after the last."""
    ends = [SECONDS_PER_FRAME * number for number in range(1, len(frames))]
    period = ends[-1] + SECONDS_OF_STUDIO
    share = 100 * SECONDS_PER_FRAME / period
    style = (
        f".frame {{ opacity: 0; animation: seen {period:g}s step-end infinite }}\n"
        f"@keyframes seen {{ 0% {{ opacity: 1 }} {share:.3f}% {{ opacity: 0 }} }}"
    )
    box = re.search(r'viewBox="([^"]+)"', frames[0])
    assert box is not None
    # The last frame is below all others and always there, also where nothing is animated.
    layers = [f'<g class="last">{frames[-1]}</g>']
    for number, frame in enumerate(frames[:-1]):
        delay = SECONDS_PER_FRAME * number
        layers.append(
            f'<g class="frame" style="animation-delay: {delay:g}s">{frame}</g>'
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}">',
            f"<style>{style}</style>",
            *layers,
            "</svg>\n",
        ]
    )


# Stills

Story = Callable[[Pilot[None]], Awaitable[None]]


async def editor(pilot: Pilot[None]) -> None:
    await pilot.press("f4", "alt+e")


async def training(pilot: Pilot[None]) -> None:
    from tui.screen import MainScreen

    screen = pilot.app.screen
    assert isinstance(screen, MainScreen)
    await screen.features.shown.travel_to(60)
    screen.action_show("training")
    screen.set_focus(screen.training.log_of_merges)


async def audit(pilot: Pilot[None]) -> None:
    from tui.screen import MainScreen

    await pilot.press("f5")
    screen = pilot.app.screen
    assert isinstance(screen, MainScreen)
    while screen.audit.running or not screen.audit.subject:
        await pilot.pause(0.1)
    # The status has the seconds that it took.
    screen.audit = replace(
        screen.audit, subject=re.sub(r" · [\d.]+ s$", "", screen.audit.subject)
    )
    await pilot.press("down")


async def compare(pilot: Pilot[None]) -> None:
    await pilot.press("f4", "alt+e", "f10")
    await pilot.pause(3)


_SAMPLES: Final = {"forum": "forum-with-names", "story": "english-prose"}
"""A tokenizer -> the sample that it is trained on."""
STILLS: Final[dict[str, Story]] = {
    "editor": editor,
    "training": training,
    "audit": audit,
    "compare": compare,
}


def prepare(shown: str, theme: str) -> None:
    """Train two tokenizers, of a forum with user names and of a story, and show one of them."""
    from bpe_core import save, train
    from bpe_core.content.samples import SAMPLES
    from tui.disk import config

    paths = {sample.name: sample.path for sample in SAMPLES}
    kept = config.tokenizers_folder()
    for name, sample in _SAMPLES.items():
        text = paths[sample].read_text("utf-8")
        save(train(text, vocab_size=768), kept / f"{name}.json")
    config.save_configuration(
        config.Configuration(
            theme=f"bpescope-{theme}",
            tokenizer=str(kept / f"{shown}.json"),
            corpus=(str(paths[_SAMPLES[shown]]),),
            reference=(str(paths["forum-clean"]),) if shown == "forum" else (),
        )
    )


async def still(story: Story) -> str:
    """Play a story in the app. Return its last screen as SVG."""
    from tui.app import BpeScope

    app = BpeScope()
    async with app.run_test(size=SIZE) as pilot:
        app.animation_level = "none"
        await app.main.loaded.wait()
        app.main.editor.area.cursor_blink = False
        while app.main.in_force is None:
            await pilot.pause(0.1)
        await story(pilot)
        await pilot.pause(2)
        app.clear_notifications()
        await pilot.pause(0.5)
        return picture_of(app)


def main() -> None:
    """Write all pictures."""
    with new_home():
        moving = played(asyncio.run(first_seconds()))
    if len(moving.encode()) > LARGEST:
        sys.exit(f"The moving picture has {len(moving.encode()):,} bytes.")
    (FOLDER / "bpescope.svg").write_text(moving, "utf-8")
    for name, story in STILLS.items():
        for theme in THEMES:
            with new_home():
                prepare("forum" if name == "audit" else "story", theme)
                picture = asyncio.run(still(story))
            (FOLDER / f"{name}-{theme}.svg").write_text(picture, "utf-8")


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
    main()
