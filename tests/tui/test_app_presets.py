"""The founding examples in the running app: chosen, run with their own options, and told whether they came out."""

from pathlib import Path

import pytest
from scope import Opened, Scope
from textual.widgets import Select

from bpe_core import save, train
from bpe_core.content.presets import PRESETS
from tui.dialogs.ask_pattern import AskPattern
from tui.state.training import TrainingOptions
from tui.widgets.option_fields import ANOTHER


async def run_preset(scope: Scope, name: str) -> None:
    """As a user does: open the group, go to it, press Enter."""
    scope.tree.focus()
    row = scope.row("Presets")
    row.expand()
    await scope.pilot.pause()
    scope.tree.move_cursor(next(child for child in row.children if child.data.source.preset == name))
    await scope.press("enter")


@pytest.mark.parametrize("name", ["S0"])
@pytest.mark.slow
async def test_a_preset_comes_out_on_the_screen(opened: Opened, kept: Path, name: str) -> None:
    preset = PRESETS[name]
    async with opened() as scope:
        await scope.until_tokenizer()
        await run_preset(scope, name)
        await scope.until(lambda: "came out as promised" in scope.shown("#status"), "the verdict is told")
        text, ids = next(iter(preset.encodings.items()))
        assert scope.area.text == text and tuple(scope.ids()) == tuple(ids)
        assert len(scope.training.log_of_merges.merges) == preset.n_merges
        assert f"ties {preset.options.ties}" in scope.shown("TitleLine")
        assert scope.screen.options == TrainingOptions()  # the user's own are as they were
        warned = any("occurred only once" in sentence for sentence in scope.said)
        assert warned == (scope.training.log_of_merges.merges[-1].count == 1) == (name == "S4")


@pytest.mark.slow
async def test_a_preset_whose_article_tells_other_merges_says_what_really_comes(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await run_preset(scope, "S2-prose")
        await scope.until(
            lambda: "differs from what its article states" in scope.shown("#status"), "the verdict is told"
        )
        assert any("we wes west west</w>" in sentence and "not es est lo low" in sentence for sentence in scope.said)
        assert "west</w>" in "".join(scope.rows("#merge-log"))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_a_preset_shows_its_log_also_where_the_audit_was(
    opened: Opened, kept: Path, size: tuple[int, int]
) -> None:
    async with opened(size=size) as scope:
        await scope.until_tokenizer()
        await scope.press("f5", "f2")
        await run_preset(scope, "S3")
        await scope.until(lambda: "came out as promised" in scope.shown("#status"), "the verdict is told")
        log = scope.training.log_of_merges
        assert log.region.height > 2 and log.is_on_screen
        assert scope.tree.has_focus == (size == (120, 40)), "where there is room for both, the focus stays"


@pytest.mark.slow
async def test_any_regular_expression_can_be_the_pattern(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        scope.training.query_one("#pattern", Select).value = ANOTHER
        dialog = await scope.asked(AskPattern)
        await scope.answer("(unclosed")
        assert scope.app.screen is dialog and dialog.query_one(".dialog--hint").has_class("-wrong")
        await scope.answer(r"\w+|\W")
        await scope.until(lambda: scope.screen.options.pattern == r"\w+|\W", "the pattern is taken")
        assert scope.training.query_one("#pattern", Select).value == r"\w+|\W"
        await scope.press("f6")
        await scope.until_learned()
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.pattern == r"\w+|\W"


@pytest.mark.slow
async def test_ranks_from_elsewhere_are_asked_for_their_pattern_once(opened: Opened, kept: Path, home: Path) -> None:
    ranks = home / "ranks.txt"
    learned = train("the theme of the other thesis " * 9, vocab_size=280)
    save(learned, ranks, format="tiktoken")

    async with opened() as scope:
        await scope.until_tokenizer()
        scope.screen.requests.use_tokenizer(ranks)
        await scope.asked(AskPattern)
        await scope.answer("gpt4")
        await scope.until(
            lambda: scope.screen.path == str(ranks) and scope.screen.step == learned.step, "its merges are found"
        )
        merges = scope.training.log_of_merges.merges
        assert [(merge.left, merge.right, merge.token) for merge in merges] == learned.merges
    async with opened() as scope:  # and not again
        await scope.until(
            lambda: scope.screen.path == str(ranks) and scope.screen.step == learned.step, "it is there again"
        )


@pytest.mark.slow
async def test_a_preset_that_is_run_twice_is_kept_once(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        paths = []
        for _ in range(2):
            await run_preset(scope, "S0")
            await scope.until_learned()
            paths.append(scope.screen.path)
            await scope.settle()
        assert paths[0] == paths[1]
        assert sorted(path.name for path in kept.parent.iterdir()) == sorted({kept.name, Path(paths[0]).name})
        assert [known.path for known in scope.screen.kept] == [paths[0], str(kept)]
