"""A change of the vocabulary is worked out in a thread, which ends when nobody waits for it."""

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.widgets import Static

from bpe_core import load
from bpe_core.errors import Stopped
from tui.dialogs.review import ReviewChange
from tui.features import surgery
from tui.features.vocabulary_change import Made, Plan, Progress, work_out


def test_counting_ends_when_nobody_waits(book: Path, kept: Path) -> None:
    plan = Plan(load(kept), (str(book),), words=("xyz",))
    counts = work_out(plan, Progress()).sentences
    assert "Tokens of the texts: 320 before, 320 after." in counts
    assert "Different lines: 0 of 20." in counts
    progress = Progress()
    progress.is_over = True
    with pytest.raises(Stopped):
        work_out(plan, progress)


def test_a_text_that_is_gone_is_named(kept: Path, home: Path) -> None:
    plan = Plan(load(kept), (str(home / "gone.txt"),), words=("xyz",))
    assert "gone.txt" in work_out(plan, Progress()).sentences[-1]


async def test_escape_ends_the_work_and_what_it_finds_is_not_shown(
    opened: Callable[..., Any], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Progress] = []
    may_end = Event()

    def slow(plan: Plan, progress: Progress) -> Made:
        started.append(progress)
        may_end.wait(60)
        return work_out(plan, progress)

    monkeypatch.setattr(surgery, "work_out", slow)
    async with opened() as scope:
        feature = scope.screen.features.surgery
        scope.screen.editor.area.load_text("xyz")
        scope.screen.editor.area.select_all()
        await scope.press("alt+g")
        dialog = await scope.asked(ReviewChange)
        await scope.until(lambda: started, "the work has begun")
        assert not started[0].is_over
        await scope.press("escape")
        await scope.until(lambda: not dialog.is_attached, "the dialog is closed")
        await scope.until(lambda: started[0].is_over, "the work is told to end")
        may_end.set()
        await scope.settle()
        assert feature._plan is None
        assert scope.screen.lanes == ()


async def test_long_rows_are_not_wrapped(
    opened: Callable[..., Any], kept: Path
) -> None:
    async with opened() as scope:
        scope.screen.editor.area.load_text("xyz" * 40)
        scope.screen.editor.area.select_all()
        await scope.press("alt+g")
        dialog = await scope.asked(ReviewChange)
        await scope.until(lambda: dialog.query("Button"), "the change is shown")
        await scope.settle()
        rows = dialog.query_one("#review-list", Static)
        assert rows.size.height == len(str(rows.content).split("\n"))
        assert rows.size.width > dialog.query_one("#review-lists").size.width
