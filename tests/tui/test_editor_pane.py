"""The editor pane tells what an edit did, what the text once was, why it is split so, what may come, what trips."""

import json
from pathlib import Path

import pytest
from scope import Opened, Scope

from bpe_core import save, train
from tui.dialogs.questions import AskPath
from tui.disk import config
from tui.panes.editor import EditorPane
from tui.text.tokens import Review
from tui.widgets import token_area

CORPUS = "the theme of the other thesis, the thing that they thought through\n" * 20 + "é é é"


@pytest.fixture
def kept(home: Path) -> Path:
    path = config.tokenizers_folder() / "small.json"
    save(train(CORPUS, vocab_size=290), path)
    return path


async def written(scope: Scope, text: str) -> None:
    """Put a text into the editor and wait until it is reviewed."""
    await scope.until_tokenizer()
    scope.area.load_text(text)
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
async def test_a_character_of_several_tokens_shows_who_owns_which_byte(opened: Opened, home: Path) -> None:
    async with opened() as scope:
        await written(scope, "雨")
        inspector = "\n".join(scope.rows("TokenSide Lines"))
        assert "e9 9b a8" in inspector and "╰╯ ╰╯ ╰╯" in inspector and "cjk unified" in inspector
        await scope.editor.run_action("share('svg')")
        await scope.asked(AskPath)
        await scope.answer(str(home / "rain.svg"))
        await scope.until((home / "rain.svg").exists, "a picture is saved")
        assert (home / "rain.svg").read_text("utf-8").startswith("<svg")


def test_no_key_of_the_pane_is_taken_from_the_text() -> None:
    from textual.widgets import TextArea

    def keys(bindings: list[object]) -> set[str]:
        return {key for binding in bindings for key in str(getattr(binding, "key", "")).split(",")}

    assert not keys(EditorPane.BINDINGS) & keys(TextArea.BINDINGS)


PIECES = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁low", "lo", "low", "▁low"]
TO_BLOCKS = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
FROM_BLOCKS = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
VOCABULARY = {name: token for token, name in enumerate(PIECES)}
LLAMA = {
    "added_tokens": [{"id": 0, "content": "<unk>", "special": True}],
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, TO_BLOCKS]},
    "pre_tokenizer": None,
    "decoder": {"type": "Sequence", "decoders": [FROM_BLOCKS, {"type": "ByteFallback"}, {"type": "Fuse"}, STRIP]},
    "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "vocab": VOCABULARY}
    | {"merges": ["l o", "lo w", "▁ low"]},
}
LOW = PIECES.index("▁low")


@pytest.mark.slow
async def test_the_tokens_of_llama_2_are_seen_and_followed(opened: Opened, home: Path) -> None:
    """It changes a text before it splits it."""
    folder = config.tokenizers_folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(LLAMA))
    async with opened() as scope:
        await scope.until_tokenizer()
        area = scope.area
        area.load_text("low lowß")
        area.focus()
        await scope.until(lambda: area.edited.under_cursor, "a token is under the cursor")
        assert area.edited.live is not None
        assert area.edited.live.ids == [LOW, LOW, 1 + 0xC3, 1 + 0x9F]
        assert scope.shown("#status-lines").startswith("4 tokens  9 bytes  2.25 bytes/token  8 characters")
        assert [(span.start, span.end) for span in area.edited.live.spans(0, 8)] == [(0, 3), (3, 7), (7, 8)]
        await scope.press("ctrl+t")
        assert " ".join(scope.rows("TokenSide Lines")[0].split()) == "␣low 1 token"
        await scope.press("ctrl+b", "ctrl+end", "backspace", "w")
        assert scope.shown("#status-lines").splitlines()[1].startswith("last edit  nothing → w  +1 token  +1 byte")
        assert "c3 9f → w" in scope.shown("#status-lines").splitlines()[2].lower().replace("\\x", "").replace("·", " ")
        await scope.press("ctrl+t", "ctrl+l")
        assert area.edited.live.text == "low loww"


@pytest.mark.usefixtures("kept")
async def test_no_pitfall_of_other_tokens_is_told_while_steps_pass(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as scope:
        await written(scope, "ends with a space ")
        assert "The text ends" in scope.shown("#status-lines")
        monkeypatch.setattr(token_area, "_AT_REST", 3600)
        for step in 1, 2:
            scope.screen.in_force = scope.screen.tokenizer.at(step)
        await scope.settle()
        assert scope.shown("#status-lines").splitlines()[-1] == "looking for pitfalls …"


@pytest.mark.slow
async def test_an_edit_is_told_by_the_tokenizer_it_was_done_under(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await written(scope, "")
        tokenizer = scope.screen.tokenizer
        assert tokenizer is not None
        scope.area.insert("the other thesis")
        scope.screen.in_force = tokenizer.at(0)  # before the edit is told, whose tokens this one has not
        await scope.settle()
        assert scope.app.is_running and scope.screen.in_force.step == 0
