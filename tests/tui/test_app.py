"""Paths that people type, and keys that they type fast."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from scope import TEXT, Opened, key
from textual.app import App
from textual.widgets import Input, Label

from bpe_core import save, train
from tui.commands.command import Work
from tui.dialogs.answers import whole_number
from tui.dialogs.ask import Ask
from tui.dialogs.ask_path import AskPath, existing_file, existing_path, place_of_file
from tui.dialogs.confirm import Confirm

# Paths that people type


def test_a_field_is_part_of_a_source_but_not_of_a_file(book: Path) -> None:
    assert existing_path(f"{book}::title") == Path(f"{book}::title")
    assert existing_file(str(book)) == book
    with pytest.raises(ValueError, match="ends in a field"):
        existing_file(f"{book}::title")


def test_a_place_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    place = partial(place_of_file, (".csv", ".md"))
    for typed, told in (
        (tmp_path / "missing" / "a.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "a.txt", "must end in .csv or .md"),
        ("nu\x00l.csv", "cannot be written"),
        (tmp_path / f"{'x' * 300}.csv", "cannot be written"),
    ):
        with pytest.raises(ValueError, match=told):
            place(str(typed))
    assert place(f" {tmp_path}/a.csv ") == tmp_path / "a.csv"
    assert not list(tmp_path.iterdir())


async def test_what_is_offered_is_replaced_by_typing_and_an_error_goes_once_it_is_corrected() -> (
    None
):
    app: App[None] = App()
    answers: list[int | None] = []
    async with app.run_test() as pilot:
        dialog = Ask(
            "How many?",
            partial(whole_number, 5, 1_000),
            "300",
            hint="A few.",
            suggest=("750",),
        )
        app.push_screen(dialog, answers.append)
        await pilot.pause()

        def below() -> str:
            return str(dialog.query_one(".dialog--hint", Label).render())

        await pilot.press("4", "enter")
        assert below() == "Type a number from 5 to 1,000." and not answers
        await pilot.press("7")
        assert dialog.query_one(Input).value == "7" and below() == "A few."
        await pilot.press("tab", "enter")
    assert answers == [750]


@pytest.mark.slow
async def test_a_tokenizer_that_is_opened_as_a_text_may_be_meant_as_one(
    opened: Opened, kept: Path, home: Path, book: Path
) -> None:
    model = home / "model"
    model.mkdir()
    ranks = model / "tokenizer.json"
    save(train(TEXT, vocab_size=300), ranks, format="huggingface")
    async with opened() as scope:
        features = scope.screen.features

        async def answer(deed: Callable[[], Work | None], path: Path) -> None:
            work = deed()
            if work is not None:
                scope.screen.run_in_background(work)
            await scope.asked(AskPath)
            await scope.answer(str(path))

        await answer(features.texts.open, ranks)
        asked = await scope.asked(Confirm)
        assert "tokenizer.json is a tokenizer" in str(
            asked.query(Label).first().render()
        )
        await scope.press("right", "enter")
        await scope.until(
            lambda: scope.area.text.startswith("{"), "it is read as a text"
        )
        await answer(features.texts.open, book)
        await scope.until(
            lambda: scope.area.text == TEXT, "a text is opened without a question"
        )

        await answer(features.corpus.add_path, model)
        await scope.asked(Confirm)
        await scope.press("escape")
        await scope.back()
        assert str(model) not in scope.screen.corpus.paths and scope.screen.path == str(
            kept
        )
        await answer(features.corpus.add_path, model)
        await scope.asked(Confirm)
        await scope.press("right", "enter")
        await scope.until(
            lambda: str(model) in scope.screen.corpus.paths, "it is chosen"
        )

        await answer(features.texts.open, model)
        await scope.until(
            lambda: scope.screen.path == str(ranks),
            "a folder can only be meant as the tokenizer in it",
        )


@pytest.mark.slow
async def test_what_is_in_the_cache_is_put_in_force_and_what_cannot_be_is_one_sentence(
    opened: Opened, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    snapshot = (
        tmp_path
        / "cache"
        / "huggingface"
        / "hub"
        / "models--some--model"
        / "snapshots"
        / "1"
    )
    snapshot.mkdir(parents=True)
    save(train(TEXT, vocab_size=290), snapshot / "tokenizer.json", format="huggingface")
    async with opened() as scope:
        for name in "gpt2", "some/model":
            assert scope.screen.path == str(kept)
            scope.screen.run_in_background(scope.screen.features.tokenizers.fetch())
            await scope.asked(Ask)
            await scope.answer(name)
            await scope.until(
                lambda: any(
                    "TIKTOKEN_CACHE_DIR is empty" in said for said in scope.said
                ),
                "it says why",
            )
            await scope.until(
                lambda: not scope.screen.notice, "nothing is awaited any more"
            )
        await scope.until(
            lambda: scope.screen.path == str(snapshot / "tokenizer.json"),
            "the other one is in force",
        )
        assert (
            scope.screen.tokenizer is not None
            and scope.screen.tokenizer.name == "some/model"
        )
        await scope.until(
            lambda: "some/model" in {kept.name for kept in scope.screen.kept},
            "it is listed",
        )


async def test_no_key_of_a_fast_burst_is_lost(
    opened: Opened, kept: Path, book: Path
) -> None:
    async with opened() as scope:
        text = scope.area.text
        field = scope.training.query_one("#vocab-size", Input)
        field.focus()
        await scope.settle()
        field.value = ""
        await scope.batch(*map(key, ["tab", "shift+tab", *"257"]))
        assert (field.value, scope.area.text) == ("257", text)
        # A path that is typed ahead is in the dialog, and Enter answers it.
        await scope.batch(key("ctrl+o"), *map(key, "book.txt"), key("enter"), key("x"))
        await scope.until(
            lambda: scope.area.text.endswith(TEXT[-9:]), "the text is open"
        )
        assert scope.app.screen is scope.screen
