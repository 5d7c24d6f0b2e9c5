"""The dialog that decodes ids says what encoding their text gives instead."""

import pytest
from scope import Alone
from textual.widgets import Static, TextArea

from bpe_core import Tokenizer
from bpe_core.vocabulary import Vocabulary
from tui.dialogs.ids_to_text import IdsToText
from tui.widgets.colored_rows import ColoredRows
from tui.widgets.token_area import TokenArea

ABC = Tokenizer(Vocabulary.of_bytes().extended([(97, 98, 256), (98, 99, 257)]), "gpt4")


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        ("256", "Encoding this text gives the same ids."),
        (
            "97 98",
            "Encoding this text gives 1 id; the first difference is at place 1:  ",
        ),
        (
            "99 97 98",
            "Encoding this text gives 2 ids; the first difference is at place 2:  ",
        ),
        (
            "97 257",
            "Encoding this text gives the same number of ids; the first difference is at place 1:  ",
        ),
    ],
)
async def test_it_says_how_many_ids_encoding_gives_and_where_they_differ(
    ids: str, sentence: str
) -> None:
    dialog = IdsToText(ABC, "abc", ids)
    app = Alone()
    async with app.run_test(size=(100, 30)) as pilot:
        await app.push_screen(dialog)
        about = dialog.query_one("#about-decoded", Static)
        while "Encoding" not in str(about.render()):
            await pilot.pause(0.01)
        assert sentence in str(about.render())


async def test_it_is_as_high_as_its_ids_and_text() -> None:
    app = Alone()
    async with app.run_test(size=(100, 30)) as pilot:
        dialog = IdsToText(ABC, "abc", "")
        await app.push_screen(dialog)
        box = dialog.query_one("#ids-to-text")
        area = dialog.query_one(TokenArea)
        assert "e.g. 256 257 or [256, 257]" in area.placeholder, "ids that it has"
        await pilot.pause()
        assert box.outer_size.height <= 13
        dialog.query_one(TextArea).insert("256 10 " * 59)
        await pilot.press(*"256 10 ")
        text = dialog.query_one(ColoredRows)
        while text.virtual_size.height < 60:
            await pilot.pause(0.01)
        await pilot.pause()
        assert 20 < box.outer_size.height <= 30
        assert box.virtual_size.height <= box.size.height, "the keys are in sight"
