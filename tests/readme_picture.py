"""The picture of the README: a first start, a few of its real frames one after the other.

python -m tests.readme_picture      writes .github/bpescope.svg again
"""

import asyncio
import os
import re
import tempfile
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).resolve().parents[1] / ".github" / "bpescope.svg"
STEPS: Final = (1, 4, 20, 100)  # of the training, and then its last
SECONDS: Final = 1.6  # that each frame is seen


async def frames() -> list[str]:
    """The app as SVG at each of the steps, and at the end; in a home with nothing in it."""
    from tui.app import BpeScope
    from tui.screen import MainScreen

    app, seen = BpeScope(), list[str]()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, MainScreen)
        await screen.loaded.wait()
        screen.editor.area.cursor_blink = False
        for step in STEPS:
            while screen.step < step:
                await pilot.pause(0.02)
            screen.features.shown.stop()
            await pilot.pause(0.5)  # what explains the merge has come
            seen.append(app.export_screenshot(title=""))
            screen.features.shown.start()
        while screen.run.busy:
            await pilot.pause(0.1)
        await pilot.pause(0.5)
        return [*seen, app.export_screenshot(title="")]


def played(pictures: list[str]) -> str:
    """One SVG that shows several of one size, each for its time, again and again."""
    share, period = 100 / len(pictures), SECONDS * len(pictures)
    style = (
        f".frame {{ opacity: 0; animation: seen {period}s step-end infinite }}\n"
        f"@keyframes seen {{ 0% {{ opacity: 1 }} {share:.3f}% {{ opacity: 0 }} }}"
    )
    box = re.search(r'viewBox="([^"]+)"', pictures[0])
    assert box is not None
    *passing, last = (
        f'<g class="frame" style="animation-delay: {number * SECONDS:g}s">{picture}</g>'
        for number, picture in enumerate(pictures)
    )
    # Below all others, and always there: what is not animated shows that one.
    layers = "\n".join([last.replace("frame", "last", 1), *passing])
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}">\n<style>{style}</style>\n{layers}\n</svg>\n'


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        os.chdir(home)
        os.environ |= {
            f"XDG_{kind}_HOME": folder for kind in ("DATA", "CONFIG", "CACHE")
        } | {"HOME": str(home)}
        os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        PLACE.write_text(played(asyncio.run(frames())), "utf-8")
