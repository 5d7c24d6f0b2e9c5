"""The editor's text played from bytes to the last merge, and recorded."""

import asyncio
from pathlib import Path

import pytest
from scope import Opened

from bpe_core import load
from bpe_core.explain.trace import steps_seen
from tui.widgets.screen_lines import HintLine, KeyLine
from tui.widgets.step_line import StepLine

pytestmark = pytest.mark.usefixtures("no_process_left")


@pytest.mark.slow
async def test_a_text_is_played_from_bytes_to_the_last_merge(opened: Opened, kept: Path, home: Path) -> None:
    async with opened() as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        scope.area.load("the thesis")
        screen.set_focus(screen.query_one(StepLine))
        steps = steps_seen(load(kept), "the thesis")
        seen: list[int] = []

        def keys() -> str:
            return str(screen.query_one(KeyLine).render())

        def hint() -> str:
            return str(screen.query_one(HintLine).render())

        screen.watch(screen, "step", lambda step: seen.append(step), init=False)
        assert "Pause" not in keys() and "Space plays" in hint()
        await scope.press("space")
        assert screen.playing and scope.tokens()[0] in ("t", "th"), "it begins at the bytes"
        assert "space Pause  + Faster  - Slower" in keys() and "change the pace" in hint()
        await scope.press("minus")
        pace = screen.playing
        await scope.press("plus")
        assert 0 < pace < (quicker := screen.playing)
        await scope.press("space")
        assert not screen.playing and "space Play" in keys()
        screen.set_focus(scope.area)
        await screen.features.shown.play()  # by its name: then the keys are those of the line of steps all the same
        assert screen.playing == quicker
        await scope.press("space")
        assert not screen.playing and scope.area.text == "the thesis"
        await scope.press("space")
        await scope.until(lambda: not screen.playing and screen.step == steps[-1], "it comes to its end")
        assert set(seen) <= {0, *steps} and seen[-1] == steps[-1], "only what changes the text is shown"
        await scope.press("space", "left")
        assert not screen.playing, "whoever goes a step has seen enough"


async def test_a_step_that_is_given_up_while_it_is_drawn_holds_up_no_other(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        shown = scope.screen.features.shown
        going = asyncio.create_task(shown.go_to_soon(3))
        await asyncio.sleep(0)
        assert scope.screen.step == 3 and not shown.is_drawn
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)
        assert going.cancelled()
        await scope.until(lambda: shown.is_drawn, "the next step may come")
        await shown.travel_to(5)
        assert scope.screen.step == 5
