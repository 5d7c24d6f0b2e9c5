"""The event loop is not held: in no journey does a key wait. `python -m benchmarks.monkey --holds` measures it."""

import asyncio
import time
from pathlib import Path

import pytest
from loop_watch import LONGEST, MARGIN, LoopWatch
from scope import Opened, key
from textual.widgets import Input

TEXT = "the theme of the other thesis, the thing that they thought through\n"


@pytest.mark.slow
async def test_a_training(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        before = scope.screen.path
        scope.training.query_one("#vocab-size", Input).value = "320"
        await scope.press("f6")
        await scope.until(lambda: scope.screen.path not in ("", before), "it is learned")
        assert not scope.watch.too_long, scope.watch.too_long


@pytest.mark.slow
async def test_typing_selecting_and_going_back_in_time(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        scope.area.load(TEXT * 3000)
        await scope.settle()
        scope.watch.holds.clear()  # what it takes to read a text is another matter
        scope.area.focus()
        await scope.press("ctrl+end", *"now", "alt+a", "shift+left", "shift+up", "alt+left", "alt+left", "alt+right")
        assert not scope.watch.too_long, scope.watch.too_long


@pytest.mark.slow
async def test_an_audit(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        await scope.press("f5", "enter")
        await scope.until(lambda: scope.screen.audit.subject and not scope.screen.audit.running, "it has ended")
        await scope.press("down", "enter")
        assert not scope.watch.too_long, scope.watch.too_long


@pytest.mark.slow
async def test_going_through_the_panes_and_resizing(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f2", "tab", "f3", "end", "home", "f5", "f4", "f9", "f9", "f1", "escape", "ctrl+p", "escape")
        for size in ((200, 60), (80, 24), (120, 40)):
            await scope.pilot.resize_terminal(*size)
            await scope.settle()
        assert not scope.watch.too_long, scope.watch.too_long


@pytest.mark.slow
async def test_a_large_paste_into_a_field_is_cut_and_that_is_told(opened: Opened, kept: Path) -> None:
    from textual.events import Paste

    async with opened() as scope:
        await scope.until_tokenizer()
        field = scope.training.query_one("#special", Input)
        field.focus()
        await scope.settle()
        await scope.batch(Paste("a" * 500_500), key("end"))
        assert len(field.value) == 10_000
        assert scope.said == ["A field takes 10,000 characters; what was pasted behind them was left out."]
        assert not scope.watch.too_long, scope.watch.too_long


@pytest.mark.slow
async def test_the_eye_of_these_tests_is_open() -> None:
    def hold(seconds: float) -> None:
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    watch = LoopWatch()
    with watch.watching():
        asyncio.get_running_loop().call_soon(hold, 1.1 * MARGIN * LONGEST)
        await asyncio.sleep(0.01)
        hold(1.1 * MARGIN * LONGEST)  # the test's own work is none of the app's
    assert len(watch.too_long) == 1 and "hold" in watch.too_long[0].what
