"""Deeds that come in one batch, as over a slow line, do what they would do one after the other."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, key
from textual.widgets import Input


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["tab", "shift+tab", *"257"], "257"),
    ],
)
async def test_no_digit_of_a_fast_burst_is_lost(opened: Opened, kept: Path, keys: list[str], value: str) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        text = scope.area.text
        field = scope.training.query_one("#vocab-size", Input)
        field.focus()
        await scope.settle()
        field.value = ""
        await scope.batch(*map(key, keys))
        assert (field.value, scope.area.text) == (value, text)


async def test_a_path_typed_ahead_is_in_the_dialog_and_enter_answers_it(opened: Opened, kept: Path, book: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.batch(key("ctrl+o"), *map(key, "book.txt"), key("enter"), key("x"))
        await scope.until(lambda: scope.area.text.endswith(TEXT[-9:]), "the text is open")
        assert scope.app.screen is scope.screen
