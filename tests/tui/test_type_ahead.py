"""Deeds that come in one batch, as over a slow line, do what they would do one after the other."""

from pathlib import Path

import pytest
from scope import TEXT, Opened, events_of_click, key
from textual.widgets import Input, Select

from tui.dialogs.help import Help
from tui.dialogs.questions import AskPath
from tui.terminal.guards import GuardedPalette


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["tab", "shift+tab", *"257"], "257"),
        pytest.param([*"9257", "home", "delete", "end", "8"], "2578", marks=pytest.mark.slow),
        pytest.param([*"25", "backspace", *"57"], "257", marks=pytest.mark.slow),
        pytest.param([*"57", "home", "2"], "257", marks=pytest.mark.slow),
        pytest.param([*"257.5"], "257.5", marks=pytest.mark.slow),
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


@pytest.mark.parametrize(
    ("keys", "front"),
    [
        pytest.param("ctrl+o escape f1", Help, marks=pytest.mark.slow),
        ("f1 ctrl+p escape", Help),
        pytest.param("ctrl+p t h e m e enter escape", None, marks=pytest.mark.slow),
        pytest.param("ctrl+p pageup", GuardedPalette, marks=pytest.mark.slow),
        pytest.param("ctrl+p pagedown pagedown", GuardedPalette, marks=pytest.mark.slow),
        pytest.param("ctrl+p escape", None, marks=pytest.mark.slow),
        pytest.param("ctrl+p escape ctrl+p", GuardedPalette, marks=pytest.mark.slow),
        pytest.param("f1 escape escape", None, marks=pytest.mark.slow),
        pytest.param("f1 ctrl+p", GuardedPalette, marks=pytest.mark.slow),
        pytest.param("ctrl+o escape ctrl+o", AskPath, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
async def test_each_key_goes_to_where_the_one_before_has_led(
    opened: Opened, kept: Path, keys: str, front: type | None
) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        text = scope.area.text
        await scope.batch(*map(key, keys.split()))
        await scope.until(lambda: isinstance(scope.app.screen, front or type(scope.screen)), "they have done it")
        assert scope.area.text == text


@pytest.mark.slow
async def test_clicks_and_keys_in_one_batch_keep_their_order(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        await scope.until_tokenizer()
        select = scope.training.query_one("#ties", Select)
        place = select.region
        await scope.batch(*events_of_click(place.x + 1, place.y), key("down"), key("enter"), key("f4"), key("x"))
        assert select.value == "lowest"
        assert scope.area.text.startswith("x")
