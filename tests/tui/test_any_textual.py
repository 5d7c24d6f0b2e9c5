"""A journey through the app on the version of Textual that is installed, whichever it is.

It shows whether a version can be allowed. It uses only public names and compares no pictures, and
a crash fails it with Textual's own traceback.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from terminal import terminal
from textual.pilot import Pilot

from tui.app import BpeScope
from tui.commands.panes import PANES

pytestmark = pytest.mark.usefixtures("kept", "no_process_left")


class Traveler:
    """A running app and its keyboard."""

    def __init__(self, app: BpeScope, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], object], what: str) -> None:
        """Wait until `holds()` is true. If the app crashed, `run_test` raises its exception next."""
        for _ in range(3_000):
            if holds():
                return
            assert self.app.is_running, f"the app ended before {what}"
            await self.pilot.pause(0.02)
        pytest.fail(f"waited too long until {what}")

    async def visit_dialog(self, opened_by: str, *keys: str) -> None:
        """Open a dialog, press keys in it, and close it."""
        main = self.app.main
        await self.press(opened_by)
        await self.until(lambda: self.app.screen is not main, f"{opened_by} opens it")
        await self.press(*keys, "escape")
        await self.until(lambda: self.app.screen is main, "it closes")


async def test_a_journey_through_the_app(book: Path) -> None:
    app = BpeScope((str(book),), full_speed=True)
    async with app.run_test(tooltips=True, notifications=True) as pilot:
        traveler = Traveler(app, pilot)
        main = app.main
        await traveler.until(main.loaded.is_set, "the panes are loaded")
        await traveler.until(lambda: main.in_force and main.totals, "texts are counted")

        n_kept = len(main.kept)
        await traveler.press("f6")
        await traveler.until(lambda: len(main.kept) > n_kept, "a training has ended")
        await traveler.until(lambda: main.step > 24, "its merges are shown")
        last_step = main.step
        await traveler.press("f3", "f3", "up", "alt+left")
        await traveler.until(lambda: main.step < last_step, "an earlier one is shown")

        area = main.editor.area
        await traveler.press(
            "f4", "alt+a", *"thx", "backspace", "e", "enter", *"(a)", "up"
        )
        await traveler.press("home", "shift+right", "ctrl+x", "ctrl+z", "ctrl+y")
        assert area.text == "he\n(a)"
        await traveler.press("ctrl+right", "alt+w", "pagedown", "ctrl+end", "alt+w")
        await pilot.click(area, offset=(1, 0))

        await pilot.resize_terminal(120, 40)
        for pane in PANES:
            await traveler.press(pane.key)
            assert main.active == pane.id
            await traveler.press("down", "end", "pageup", "f9", "f9")
            assert main.focused
            await pilot.click(main.focused, offset=(2, 1))

        await traveler.visit_dialog("f1", "f1", "pagedown")
        await traveler.visit_dialog("alt+i", *"1,2", "tab", "tab")
        await traveler.visit_dialog("ctrl+p", *"them", "pagedown", "up")
        app.theme = "textual-light"
        await traveler.press("ctrl+p", *"measure", "down", "enter")
        await traveler.until(lambda: main.active == "compare", "a command is run")
        await traveler.press("ctrl+q")
        await traveler.until(lambda: not app.is_running, "the app has ended")
    assert app.return_code == 0


def test_it_starts_and_ends_in_a_terminal(book: Path) -> None:
    with terminal(book) as app:
        app.until(lambda: app.has_ended or "tokens" in app.text, "it starts")
        app.settle()
        if not app.has_ended:
            app.type("the\x11")
        assert app.wait() == 0, app.text[-5_000:]
