"""The compare pane, played through as a newcomer would: choose tokenizers, compare, find the worst lines, open one."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, Scope

from bpe_core import load, save, train
from tui.disk import config
from tui.panes.compare import ComparePane
from tui.widgets.comparison_table import ComparisonTable

LINES = "plain\n\nthe theme of the other thesis\nthough\nthe theme of the other thesis\n"


def keep_two() -> tuple[Path, Path]:
    """Two tokenizers in the folder of those that are kept, of one size and of another."""
    folder = config.tokenizers_folder()
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "large.json", folder / "small.json"
    for path, size in zip(paths, (310, 262), strict=True):
        save(train(TEXT, vocab_size=size), path)
    return paths


async def compared(scope: Scope) -> None:
    await scope.until(lambda: not scope.screen.comparison.running, "the comparison ends")


def seen(scope: Scope) -> list[str]:
    return scope.rows("#comparison")


async def test_from_the_choice_of_tokenizers_to_a_line_in_the_editor(opened: Opened, tmp_path: Path) -> None:
    large, small = keep_two()
    text = tmp_path / "text.txt"
    text.write_text(LINES)
    async with opened(text) as scope:
        await scope.until_tokenizer()
        pane = scope.screen.query_one(ComparePane)
        table = scope.screen.query_one(ComparisonTable)
        await scope.press("f10")
        rows = [row.replace("●", "").split() for row in scope.rows("#compare-picker")]
        marks = {row[1]: row[0] for row in rows if row and row[0].startswith("[")}
        in_force = Path(scope.screen.path).stem
        assert marks == {"large": "[B]", "small": "[B]"} | {in_force: "[A]"}
        await scope.press("space", "space")  # the first is the second now
        chosen = [one.name for one in pane.picker.chosen]
        assert set(chosen) == {"large", "small"}
        await scope.press("enter")
        await compared(scope)
        counts = [len(load({"large": large, "small": small}[name]).encode(LINES)) for name in chosen]
        assert [row for row in seen(scope) if "text.txt" in row and all(f" {n:,} " in row for n in counts)]
        for _ in range(table._views.index(next(view for view in table._views if view.key == "lines"))):
            await scope.press("right")
        if chosen[0] == "large":  # nothing is worse for it: look at the other's
            await scope.press("t")
        assert "tokens more than by the other" in scope.shown("#compare-caption")
        assert "the theme of the other thesis" in seen(scope)[1]
        assert "text.txt:3, 2 times in all" in table.hint
        await scope.press("enter")
        await scope.until(lambda: scope.area.text == LINES, "the text is in the editor")
        assert scope.area.cursor_location == (2, 0)
        assert scope.screen.active == "editor"
        await scope.press("f10", "right")
        assert table.view is not None and table.view.key == "disagreements"
        await scope.press("down", "enter")
        await scope.until(lambda: scope.screen.active == "editor", "the place is shown")
        rows = scope.screen.comparison.found["pairs"][0]["disagreements"]
        assert scope.area.selected_text == rows[1]["text"]
        await scope.press("f10", "c")
        assert pane.has_class("-choosing")


@pytest.mark.slow
async def test_a_comparison_is_stopped_and_what_is_missing_is_told(opened: Opened, tmp_path: Path) -> None:
    keep_two()
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text(TEXT * 9)
    async with opened(tmp_path) as scope:
        await scope.until_tokenizer()
        await scope.press("f10", "enter")
        await scope.until(lambda: scope.screen.comparison.texts or not scope.screen.comparison.running, "it goes on")
        scope.screen.action_do("comparison.compare")
        await compared(scope)
        assert scope.screen.comparison.found is not None
        assert len(scope.screen.comparison.texts) == scope.screen.comparison.found["total"]["texts"]
        await scope.press("c")
        for one in scope.screen.query_one(ComparePane).picker.chosen:
            scope.screen.query_one(ComparePane).picker.move_to([k.path for k in scope.screen.kept].index(one.path))
            await scope.press("space")
        await scope.press("enter")
        assert any("No tokenizer is chosen" in said for said in scope.said)
