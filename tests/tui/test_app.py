"""The app as one sees it: what stands on the screen at which size, the founding examples, the travels through time."""

import json
from pathlib import Path

import pytest
from scope import TEXT, Opened, Scope
from textual.widgets import Input, OptionList, Select

from bpe_core import load, save, train
from bpe_core.content.samples import samples
from bpe_core.visible import visible
from tui.dialogs.button_questions import Confirm
from tui.dialogs.help import Help
from tui.dialogs.questions import AskPath, AskPlace
from tui.disk import config
from tui.widgets.merge_log import MergeLog
from tui.widgets.step_line import StepLine

PANES = ("corpus", "training", "editor", "audit")


def panes(scope: Scope) -> str:
    """The panes that can be seen, in order."""
    return " ".join(pane for pane in PANES if scope.screen.query_one(f"#{pane}").region.area)


async def learn(scope: Scope, **options: object) -> list[str]:
    """Train with these options; the token column of the merge log."""
    for field, value in options.items():
        widget = scope.training.query_one(f"#{field.replace('_', '-')}")
        assert isinstance(widget, Input | Select)
        widget.value = str(value) if isinstance(widget, Input) else value
    before = scope.screen.path
    await scope.press("f6")
    await scope.until(lambda: scope.screen.path not in ("", before) and not scope.screen.run.busy, "a training ends")
    return [merge.token_bytes.decode() for merge in scope.training.log_of_merges.merges]


# What stands where


@pytest.mark.parametrize(
    ("size", "seen"),
    [
        ((80, 24), {"F2": "corpus", "F3": "training", "F4": "editor", "F5": "audit"}),
        pytest.param(
            (120, 40),
            {
                **{"F2": "corpus training editor", "F3": "corpus training editor"},
                **{"F4": "corpus training editor", "F5": "corpus audit"},
            },
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (200, 60), dict.fromkeys(("F2", "F3", "F4", "F5"), "corpus training editor audit"), marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.slow
async def test_the_panes_that_fit_are_seen(
    opened: Opened, kept: Path, size: tuple[int, int], seen: dict[str, str]
) -> None:
    async with opened(size=size) as scope:
        await scope.until_tokenizer()
        for (key, expected), pane in zip(seen.items(), PANES, strict=True):
            await scope.press(key.lower())
            assert (scope.screen.active, panes(scope)) == (pane, expected)
            focused = scope.screen.focused
            assert focused is not None and scope.screen.query_one(f"#{pane}") in focused.ancestors
            assert scope.screen.query_one(StepLine).region.area  # the steps stay, whatever is seen
        await scope.press("f4", "f9")
        assert panes(scope) == "editor"
        await scope.press("f5")
        assert panes(scope) == "audit"  # what fills the screen gives way to what one goes to
        await scope.press("f9")
        assert panes(scope) == seen["F5"]


@pytest.mark.slow
async def test_the_help_comes_and_goes(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.press("f1")
        assert isinstance(scope.app.screen, Help)
        await scope.press("escape")
        assert scope.app.screen is scope.screen


# The founding examples


def sample(name: str) -> Path:
    return next(sample.path for sample in samples() if sample.name == name)


@pytest.mark.slow
async def test_the_textbook_example_comes_out(opened: Opened, kept: Path) -> None:
    async with opened(sample("aaabdaaabac")) as scope:
        await scope.until_tokenizer()
        scope.area.load("aaabdaaabac")
        assert await learn(scope, vocab_size=259, pattern="none") == ["aa", "aaa", "aaab"]
        rows = scope.rows("#merge-log")
        for row, token in zip(rows[1:4], ("aa", "aaa", "aaab"), strict=True):
            assert token in row.split()
        lengths = [scope.ids() and len(scope.ids())]
        for _ in range(3):  # and back through time
            await scope.press("alt+left")
            lengths.append(len(scope.ids()))
        assert lengths == [5, 7, 9, 11]
        assert [merge.n_tokens for merge in scope.training.log_of_merges.merges] == [9, 7, 5]
        scope.training.query_one("#ties", Select).value = "lowest"
        assert await learn(scope) == ["aa", "ab", "aaab"]


@pytest.mark.slow
async def test_hi_this_is_test(opened: Opened, kept: Path, home: Path) -> None:
    text = (
        "Consider this as a trainig text and this can be as big as you want and be carefull\n"
        "while choosing the data because wrong type of data can lead to lots of irregularities"
    )
    (home / "s0.txt").write_text(text)
    async with opened(home / "s0.txt") as scope:
        await scope.until_tokenizer()
        scope.area.load("Hi this is test")
        await learn(scope, vocab_size=276, pattern="none")
        assert scope.ids() == [72, 105, 266, 105, 115, 256, 101, 115, 116]
        merges = scope.training.log_of_merges.merges
        assert [(m.left, m.right, m.count) for m in merges[:5]] == [
            *((32, 116, 7), (115, 32, 6), (101, 32, 6), (97, 110, 5), (256, 104, 3))
        ]
        assert merges[-1].n_tokens == 109
        assert "109 tokens left, 1.54 bytes each" in scope.training.log_of_merges.row_hint(19)
        assert await learn(scope, ties="lowest") and scope.ids() == [
            72,
            105,
            256,
            262,
            263,
            105,
            115,
            256,
            101,
            115,
            116,
        ]


@pytest.mark.slow
async def test_low_lower_widest_newest(opened: Opened, kept: Path) -> None:
    async with opened(sample("low-lower-widest-newest")) as scope:
        await scope.until_tokenizer()
        tokens = await learn(scope, vocab_size=262, pattern="words", ties="largest")
        assert tokens == ["st", "est", "ow", "low", "west", "ne"]
        assert [merge.count for merge in scope.training.log_of_merges.merges] == [9, 9, 7, 7, 6, 6]
        for word, ids in (
            *(("newest", [261, 260]), ("lower", [259, 101, 114])),
            *(("widest", [119, 105, 100, 257]), ("low", [259])),
        ):
            scope.area.load(word)
            assert scope.ids() == ids


# Time travel


@pytest.mark.slow
async def test_every_way_through_time_leads_to_the_same_place(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        whole = load(kept)
        scope.area.load(TEXT[:40])
        screen, line = scope.screen, scope.screen.query_one(StepLine)

        async def at(step: int) -> None:
            await scope.until(lambda: screen.step == step, f"step {step} is in force")
            assert scope.ids() == whole.at(step).encode(TEXT[:40])
            assert line.step == step and scope.training.log_of_merges.step == step

        await at(24)
        await scope.press("alt+left", "alt+left")
        await at(22)
        await scope.press("alt+right")
        await at(23)
        line.focus()
        await scope.press("home")
        await at(0)
        await scope.press("alt+left")
        await at(0)
        await scope.press("right", "right")
        await at(2)
        await scope.press("end")
        await at(24)
        await scope.press("alt+right")
        await at(24)
        scope.screen.query_one(MergeLog).focus()
        await scope.press("up", "up")
        await at(22)
        await scope.press("home")
        await at(1)
        await scope.press("end")
        await at(24)


# KnownTokenizer tokenizers


@pytest.mark.slow
async def test_a_kept_tokenizer_is_chosen_and_discarded(opened: Opened, kept: Path) -> None:
    other = kept.with_name("other.json")
    save(train(TEXT, vocab_size=260, pattern="gpt2"), other)
    async with opened() as scope:
        await scope.until_tokenizer()
        shelf = scope.corpus.query_one("#kept", OptionList)
        shelf.focus()

        async def point(path: Path) -> None:
            shelf.highlighted = shelf.get_option_index(str(path))
            await scope.pilot.pause()

        for path in (kept, other):
            await point(path)
            await scope.press("enter")
            await scope.until(lambda path=path: scope.screen.path == str(path), f"{path.stem} is in force")
        assert scope.screen.tokenizer is not None and scope.screen.tokenizer.pattern == "gpt2"
        assert len(scope.training.log_of_merges.merges) == 4

        await point(kept)
        for key in ("escape", "n", "y"):
            assert kept.exists()
            await scope.press("delete")
            await scope.asked(Confirm)
            await scope.press(key)
            await scope.back()
        await scope.until(lambda: len(scope.screen.kept) == 1, "it is gone from the shelf")
        assert not kept.exists() and other.exists() and not scope.said


@pytest.mark.slow
@pytest.mark.parametrize("content", ['{"format": "bpescope"', "\x1b]0;pwned\x07"])
async def test_a_broken_tokenizer_is_told_and_the_app_goes_on(opened: Opened, kept: Path, content: str) -> None:
    config.save_configuration(config.Configuration(tokenizer=str(kept)))
    kept.write_text(content)
    async with opened() as scope:
        await scope.until(lambda: scope.said, "it is told")
        (sentence,) = scope.said
        assert "small.json" in sentence and sentence.endswith(".") and "\x1b" not in sentence
        await scope.press("a")
        assert scope.area.text.startswith("aType here.")


@pytest.mark.slow
async def test_odd_things_that_are_remembered_do_no_harm(opened: Opened, kept: Path) -> None:
    config.save_configuration(config.Configuration())
    stored = {
        "theme": "no such theme",
        "tokenizer": "/nu\x00l" + "x" * 300,
        "corpus": ["/gone", "/nu\x00l", "x" * 300],
        "options": {"vocab_size": -5, "pattern": "(", "ties": "by lot", "min_count": 0},
    }
    config._configuration_file().write_text(json.dumps(stored))
    async with opened() as scope:
        await scope.until_tokenizer()
        assert scope.screen.corpus.paths == ()
        await scope.press("f6")
        await scope.until(lambda: scope.said, "something is said")


# Paths that people type


@pytest.mark.slow
async def test_a_path_that_is_none_is_told_in_the_dialog(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("ctrl+o")
        dialog = await scope.asked(AskPath)
        hint = dialog.query_one(".dialog--hint")
        for answer in ("missing", "~nobody-of-this-name/x", "x" * 300, "nu\x00l", "\x1b]0;pwned\x07"):
            await scope.answer(answer)
            assert scope.app.screen is dialog and hint.has_class("-wrong")
            said = str(hint.render())
            assert visible(answer)[:20] in said.replace("\n", "") and "\x1b" not in said and "\x00" not in said
        await scope.press("escape")
        assert scope.app.screen is scope.screen


async def test_a_place_that_cannot_be_written_is_told_in_the_dialog(tmp_path: Path) -> None:
    dialog = AskPlace("Where to?", suffixes=(".csv", ".md"))
    for typed, told in (
        (tmp_path / "missing" / "a.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "a.txt", "ends in none of .csv, .md"),
        ("nu\x00l.csv", "cannot be written"),
        (tmp_path / f"{'x' * 300}.csv", "cannot be written"),
    ):
        with pytest.raises(ValueError, match=told):
            dialog.understood(str(typed))
    assert dialog.understood(f" {tmp_path}/a.csv ") == tmp_path / "a.csv"
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
async def test_a_text_is_opened_and_saved_byte_for_byte(opened: Opened, kept: Path, home: Path) -> None:
    data = "mixed\r\nlines\rand\x0cform feeds \u2028 é\n".encode()
    (home / "in.txt").write_bytes(data)
    (home / "out.txt").write_text("something of value")
    async with opened() as scope:
        await scope.until_tokenizer()

        async def answer(key: str, path: str) -> None:
            await scope.press(key)
            await scope.asked(AskPath)
            await scope.answer(path)

        async def replace(key: str) -> None:
            await answer("ctrl+s", "out.txt")
            await scope.asked(Confirm)
            await scope.press(key)
            await scope.back()

        await answer("ctrl+o", "in.txt")
        await scope.until(lambda: scope.area.text == data.decode(), "the text is there")
        await answer("ctrl+s", "new.txt")
        await scope.until(lambda: len(scope.said) == 1, "the text is saved")
        await replace("n")
        assert (home / "out.txt").read_text() == "something of value"
        await replace("y")
        await scope.until(lambda: len(scope.said) == 2, "the text is replaced")
        assert (home / "out.txt").read_bytes() == data
        for path in "in.txt/below", "x" * 300, "nu\x00l":
            await answer("ctrl+s", path)
            dialog = scope.app.screen
            assert dialog.query_one(".dialog--hint").has_class("-wrong"), "what cannot be written is told"
            assert dialog.query_one(Input).value == path, "and can be corrected"
            await scope.press("escape")
    assert (home / "new.txt").read_bytes() == data


@pytest.mark.slow
async def test_a_folder_with_odd_names_can_be_opened_and_chosen(opened: Opened, kept: Path, home: Path) -> None:
    for name in ("[b", "[red", "\x1b]0;pwned\x07", "new\nline", b"\xff\xfe.txt".decode("utf-8", "surrogateescape")):
        (home / name).write_text(TEXT)
    (home / "[").mkdir()
    (home / "[" / "b]").touch()
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        scope.tree.move_cursor(scope.row("home (here)"))
        await scope.press("enter")
        await scope.until(lambda: len(scope.row("home (here)").children) == 6, "the folder is listed")
        scope.tree.move_cursor(scope.row("home (here)"))
        for _ in range(6):
            await scope.press("down", "space")
        assert len(scope.screen.corpus.paths) == 6
        scope.tree.move_cursor(scope.row("["))
        await scope.press("space")
        await scope.until(lambda: scope.screen.totals, "they are counted")
        assert f"{5 * len(TEXT):,}" in scope.shown("#totals")


@pytest.mark.slow
async def test_the_title_tells_how_far_a_training_is_on_a_small_screen(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book, size=(80, 24)) as scope:
        await scope.until_tokenizer()
        assert "%" not in scope.shown("TitleLine")
        await scope.press("f4", "f7")
        await scope.until(lambda: scope.screen.run.done == 1, "a merge is learned")
        await scope.press("f7")
        await scope.until(lambda: scope.screen.run.done == 2 and scope.screen.run.phase == "paused", "another is")
        assert f"paused at {scope.screen.run.fraction:.0%}" in scope.shown("TitleLine")
        assert scope.screen.active == "editor"


async def test_a_picture_asked_for_while_the_app_leaves_is_none(opened: Opened) -> None:
    async with opened() as scope:
        app = scope.app
    assert app.deliver_screenshot() is None
