"""The compare pane, played through as a newcomer would: choose tokenizers, compare, find the worst lines, open one."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, Scope

from bpe_core import save, train
from tui.disk import config
from tui.panes.compare import ComparePane

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
