"""What a newcomer at the keyboard finds at each size: options, tabs, presets step by step, patterns to be mended."""

from pathlib import Path

import pytest
from scope import Opened
from textual.widgets import Input, Label, Select

from bpe_core import save, train
from bpe_core.content.presets import PRESETS
from tui.dialogs.ask_pattern import AskPattern
from tui.disk import config
from tui.state.training import Corpus, TrainingOptions
from tui.widgets.hint_line import HintLine, hint_of
from tui.widgets.key_line import KeyLine
from tui.widgets.title_line import TitleLine

SIZES = [(80, 24), (100, 30), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", list(SIZES)[:1])
@pytest.mark.slow
async def test_all_options_and_some_merges_are_seen(opened: Opened, kept: Path, size: tuple[int, int]) -> None:
    async with opened(size=size) as scope:
        await scope.until_tokenizer()
        await scope.press("f3")
        for field, cells in ("#vocab-size", 8), ("#pattern", 8), ("#ties", 10), ("#min-count", 5), ("#special", 7):
            widget = scope.training.query_one(field)
            row = widget.region
            assert row.width >= cells and scope.training.query_one("#settings").region.contains_region(row), field
        assert scope.training.log_of_merges.page_rows >= 4
        line = scope.screen.query_one(HintLine)
        assert line.region.height == 1 and line.region.width == size[0]
        focused = scope.screen.focused
        assert focused is not None and str(line.render()) == hint_of(focused)


@pytest.mark.slow
async def test_the_tabs_follow_every_resize(opened: Opened, kept: Path) -> None:
    async with opened(size=(120, 40)) as scope:
        await scope.until_tokenizer()
        title = scope.screen.query_one(TitleLine)
        for width, height, tabbed in (
            (120, 24, True),
            (120, 40, False),
            (90, 40, True),
            (200, 60, False),
            (80, 24, True),
        ):
            await scope.pilot.resize_terminal(width, height)
            await scope.settle()
            assert ("F3 Training" in title.render_line(0).text) == tabbed, (width, height)
            zoom = "F9 Zoom" in str(scope.screen.query_one(KeyLine).render())
            assert zoom != tabbed, "one pane that is seen alone cannot fill the screen any more"
        await scope.pilot.resize_terminal(120, 40)
        for tabbed in (True, False):
            await scope.press("f9")
            assert ("F3 Training" in title.render_line(0).text) == tabbed


@pytest.mark.slow
async def test_a_long_name_is_cut_and_not_left_out(opened: Opened, home: Path) -> None:
    save(train("aa bb", vocab_size=258), config.tokenizers_folder() / "a-story-in-english-15-more-gpt4-2.json")
    async with opened(size=(80, 24)) as scope:
        await scope.until_tokenizer()
        title = scope.screen.query_one(TitleLine).render().plain
        assert "a-story" in title and title.endswith("gpt4-2") and len(title) == 78


async def test_chosen_texts_are_counted_from_the_first_moment(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        scope.screen.features.corpus.cancel()  # as while it is still at work
        scope.screen.totals = None
        scope.corpus.corpus = Corpus()
        assert "Space chooses" in scope.shown("#totals")
        scope.corpus.corpus = Corpus((str(book),), (), "book.txt")
        assert "counting" in scope.shown("#totals")


async def test_the_palette_has_one_name_for_each_thing(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        names = [command.title for command in scope.app.get_system_commands(scope.screen)]
        assert sorted(names) == ["Quit", "Screenshot", "Theme"]  # help and zoom are commands of the main screen


@pytest.mark.slow
async def test_the_controls_of_the_audit_say_what_they_do(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f5")
        assert "Enter looks for suspicious tokens" in str(scope.screen.query_one(HintLine).render())
        await scope.press("slash")
        assert "its bytes in hex" in str(scope.screen.query_one(HintLine).render())


@pytest.mark.slow
async def test_a_preset_is_learned_step_by_step(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        scope.row("Presets").expand()
        await scope.settle()
        scope.tree.move_cursor(scope.row("S3  aabdaabdaab"))
        log, fields = scope.training.log_of_merges, scope.training.fields
        size, pattern = fields.query_one("#vocab-size", Input), fields.query_one("#pattern", Select)
        size.value = "333"  # typed and not taken yet
        options = PRESETS["S3"].options
        for n_merges in range(1, PRESETS["S3"].n_merges + 1):
            await scope.press("f7")
            await scope.until(
                lambda n=n_merges: (not scope.screen.path and len(log.merges) == n) or not scope.screen.run.busy,
                "one more",
            )
            assert [merge.token_bytes for merge in log.merges] == list(PRESETS["S3"].tokens[:n_merges])
            if n_merges < PRESETS["S3"].n_merges:
                assert (size.value, pattern.value) == (str(options.vocab_size), options.pattern)
        await scope.until_learned()  # the last step is the end, with its verdict
        assert "came out as promised" in scope.shown("#status")
        assert (size.value, pattern.value) == ("333", "gpt4") and scope.screen.options == TrainingOptions()
        scope.screen.set_focus(log)
        await scope.press("f7")
        assert not scope.screen.run.busy and scope.said[-1] == "That was the last merge; F7 again begins anew."
        await scope.press("f2", "f7")
        await scope.until(lambda: scope.screen.run.phase == "paused" and len(log.merges) == 1, "another one has begun")


@pytest.mark.slow
async def test_the_first_vocabulary_is_as_large_as_the_field_says(opened: Opened) -> None:
    async with opened() as scope:
        await scope.until_learned()
        size = int(scope.training.query_one("#vocab-size", Input).value)
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.n_vocab == size
    async with opened() as scope:
        await scope.until_tokenizer()
        assert int(scope.training.query_one("#vocab-size", Input).value) == size, "also the next time"


@pytest.mark.slow
async def test_a_pattern_that_was_given_wrongly_can_be_changed(opened: Opened, kept: Path, home: Path) -> None:
    ranks = home / "ranks.txt"
    save(train("the theme of the other thesis " * 9, vocab_size=280, pattern="gpt2"), ranks, format="tiktoken")
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.screen.run_action("change_pattern")
        dialog = await scope.asked(AskPattern)
        assert "split as 'gpt4'" in str(dialog.query(Label).first().render())
        await scope.answer("none")
        await scope.until(lambda: scope.screen.tokenizer and scope.screen.tokenizer.pattern == "none", "it splits so")
        await scope.screen.run_action("change_pattern")
        await scope.asked(AskPattern)
        await scope.answer("gpt4")
        await scope.until(lambda: scope.screen.tokenizer and scope.screen.tokenizer.pattern == "gpt4", "and as it says")
        assert scope.app.configuration.patterns == {}
        scope.screen.requests.use_tokenizer(ranks)
        await scope.asked(AskPattern)
        await scope.answer("none")
        await scope.until(lambda: scope.screen.path == str(ranks), "it is loaded")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.pattern == "none"
        await scope.command("split pattern")
        dialog = await scope.asked(AskPattern)
        assert dialog.query_one(Input).value == "none", "the pattern in force is seen"
        await scope.answer("gpt2")
        await scope.until(
            lambda: scope.screen.tokenizer and scope.screen.tokenizer.pattern == "gpt2", "it splits in another way"
        )
    async with opened() as scope:
        await scope.until(lambda: scope.screen.path == str(ranks), "it is there again")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.pattern == "gpt2"


@pytest.mark.slow
async def test_a_list_of_names_is_wide_enough_for_them(opened: Opened, kept: Path) -> None:
    async with opened(size=(80, 24)) as scope:
        await scope.until_tokenizer()
        for field in ("#pattern", "#ties"):
            select = scope.training.query_one(field, Select)
            select.focus()
            await scope.press("enter")
            overlay = select.query_one("SelectOverlay")
            shown = [overlay.render_line(y).text for y in range(overlay.size.height)]
            assert not any("…" in line.replace("another …", "") for line in shown)
            await scope.press("escape")
