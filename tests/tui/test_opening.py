"""What is opened as a text and is a tokenizer: the app asks what it is meant as."""

from pathlib import Path

import pytest
from scope import TEXT, Opened
from textual.widgets import Label

from bpe_core import save, train
from tui.dialogs.questions import AskPath, Choose


@pytest.mark.slow
async def test_a_tokenizer_that_is_opened_as_a_text_may_be_meant_as_one(
    opened: Opened, kept: Path, home: Path, book: Path
) -> None:
    model = home / "model"
    model.mkdir()
    ranks = model / "tokenizer.json"
    save(train(TEXT, vocab_size=300), ranks, format="huggingface")
    async with opened() as scope:
        await scope.until_tokenizer()

        async def answer(command: str, path: Path) -> None:
            await scope.screen.run_action(f"do('{command}')")
            await scope.asked(AskPath)
            await scope.answer(str(path))

        await answer("texts.open", ranks)
        asked = await scope.asked(Choose)
        assert "tokenizer.json is a tokenizer" in str(asked.query(Label).first().render())
        await scope.press("right", "enter")
        await scope.until(lambda: scope.area.text.startswith("{"), "it is read as a text")
        await answer("texts.open", book)
        await scope.until(lambda: scope.area.text == TEXT, "a text is opened without a question")

        await answer("corpus.add_path", model)
        await scope.asked(Choose)
        await scope.press("escape")
        await scope.back()
        assert str(model) not in scope.screen.corpus.paths and scope.screen.path == str(kept)
        await answer("corpus.add_path", model)
        await scope.asked(Choose)
        await scope.press("right", "enter")
        await scope.until(lambda: str(model) in scope.screen.corpus.paths, "it is chosen")

        await answer("texts.open", model)
        await scope.until(lambda: scope.screen.path == str(ranks), "a folder can only be meant as the tokenizer in it")
