"""The editor pane tells what an edit did, what the text once was, why it is split so, what may come, what trips."""

from pathlib import Path

import pytest
from scope import Opened, Scope

from bpe_core import save, train
from tui.disk import config
from tui.panes.editor import EditorPane
from tui.text.tokens import Review

CORPUS = "the theme of the other thesis, the thing that they thought through\n" * 20 + "é é é"


@pytest.fixture
def kept(home: Path) -> Path:
    path = config.tokenizers_folder() / "small.json"
    save(train(CORPUS, vocab_size=290), path)
    return path


async def written(scope: Scope, text: str) -> None:
    """Put a text into the editor and wait until it is reviewed."""
    await scope.until_tokenizer()
    scope.area.load(text)
    scope.area.focus()
    await reviewed(scope)


def review(scope: Scope) -> Review | None:
    return scope.editor.area.edited.review


async def reviewed(scope: Scope) -> None:
    await scope.until(lambda: review(scope) and review(scope).settled, "the text is reviewed")


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_what_is_not_final_is_underlined(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "of the th")
        assert review(scope) is not None and review(scope).open_from == 6
        await scope.until(lambda: underlined(scope) == " th", "the end is underlined")
        await scope.press("ctrl+end", "e", "y")
        await reviewed(scope)
        assert underlined(scope) in (" they", "")


def underlined(scope: Scope) -> str:
    return "".join(part.text for part in scope.area.draw_row(0) if part.style and part.style.underline)


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_a_character_of_several_tokens_shows_who_owns_which_byte(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "雨")
        inspector = "\n".join(scope.rows("#inspector"))
        assert "e9 9b a8" in inspector and "╰╯ ╰╯ ╰╯" in inspector and "cjk unified" in inspector


def test_no_key_of_the_pane_is_taken_from_the_text() -> None:
    from textual.widgets import TextArea

    def keys(bindings: list[object]) -> set[str]:
        return {key for binding in bindings for key in str(getattr(binding, "key", "")).split(",")}

    assert not keys(EditorPane.BINDINGS) & keys(TextArea.BINDINGS)
