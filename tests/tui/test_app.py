"""What is remembered oddly, and paths that people type."""

import json
from functools import partial
from pathlib import Path

import pytest
from scope import Opened
from textual.app import App
from textual.widgets import Input, Label

from tui.dialogs.questions import Ask, place_of_file, whole_number
from tui.disk import config


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


def test_a_place_that_cannot_be_written_is_not_taken(tmp_path: Path) -> None:
    place = partial(place_of_file, (".csv", ".md"))
    for typed, told in (
        (tmp_path / "missing" / "a.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "a.txt", "ends in none of .csv, .md"),
        ("nu\x00l.csv", "cannot be written"),
        (tmp_path / f"{'x' * 300}.csv", "cannot be written"),
    ):
        with pytest.raises(ValueError, match=told):
            place(str(typed))
    assert place(f" {tmp_path}/a.csv ") == tmp_path / "a.csv"
    assert not list(tmp_path.iterdir())


async def test_what_is_offered_is_replaced_by_typing_and_an_error_goes_once_it_is_corrected() -> None:
    app: App[None] = App()
    answers: list[int | None] = []
    async with app.run_test() as pilot:
        dialog = Ask("How many?", partial(whole_number, 5, 1_000), "300", hint="A few.", suggest=("750",))
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


async def test_a_picture_asked_for_while_the_app_leaves_is_none(opened: Opened) -> None:
    async with opened() as scope:
        app = scope.app
    assert app.deliver_screenshot() is None
