"""The founding examples in the running app: chosen, run with their own options, and told whether they came out."""

from pathlib import Path

import pytest
from scope import Opened
from textual.widgets import Select

from tui.dialogs.ask_pattern import AskPattern
from tui.widgets.option_fields import ANOTHER


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
