"""The editor pane tells what an edit did, what the text once was, why it is split so, what may come, what trips."""

from pathlib import Path

import pytest
from scope import Opened, Scope

from tests.core.small_files import huggingface, put
from tui.dialogs.ask_path import AskPath
from tui.disk import config
from tui.panes.editor import EditorPane
from tui.text.review import Review
from tui.widgets import token_area


async def written(scope: Scope, text: str) -> None:
    """Put a text into the editor and wait until it is reviewed."""
    scope.area.load_text(text)
    scope.area.focus()
    await reviewed(scope)


def review(scope: Scope) -> Review | None:
    return scope.editor.area.edited.review


async def reviewed(scope: Scope) -> None:
    await scope.until(
        lambda: review(scope) and review(scope).settled, "the text is reviewed"
    )


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
    return "".join(
        part.text
        for part in scope.area.draw_row(0)
        if part.style and part.style.underline
    )


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_a_character_of_several_tokens_shows_who_owns_which_byte(
    opened: Opened, home: Path
) -> None:
    async with opened() as scope:
        await written(scope, "雨")
        inspector = "\n".join(scope.rows("TokenSide Lines"))
        assert (
            "e9 9b a8" in inspector
            and "╰──雨──╯" in inspector
            and "cjk unified" in inspector
        )
        save_picture = scope.screen.features.excerpts.save_picture("svg")
        scope.screen.run_in_background(save_picture)
        await scope.asked(AskPath)
        await scope.answer(str(home / "rain.svg"))
        await scope.until((home / "rain.svg").exists, "a picture is saved")
        assert (home / "rain.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.usefixtures("kept")
async def test_the_token_is_shown_with_its_neighbors_and_its_uses(
    opened: Opened,
) -> None:
    async with opened(size=(200, 60)) as scope:

        def shown() -> str:
            return " ".join(" ".join(scope.rows("TokenSide #token")).split())

        await written(scope, "the theme the")
        await scope.press("ctrl+home", *["right"] * 4)
        await scope.until(lambda: "ids next to it" in shown(), "it is described")
        under = scope.area.edited.under_cursor
        assert under is not None
        token = under.ids[0]
        n_uses = scope.ids().count(token)
        await scope.until(
            lambda: f" {n_uses} use" in shown(), "its uses in the text are counted"
        )
        ids = " ".join(map(str, scope.ids()))
        assert ids in shown(), "the tokens in the text, above their ids"
        assert f"{token - 1} {token} {token + 1}" in shown()
        assert "uses in the corpus" in shown()

        scope.area.load_text("the theme the " * 150)
        await scope.press("ctrl+home", *["right"] * 4)
        await scope.until(
            lambda: f" {scope.ids().count(token)} uses" in shown(),
            "a long text is searched when no key is pressed",
        )
        await scope.press("end", "enter")
        assert scope.app.is_running


@pytest.mark.usefixtures("kept")
async def test_a_click_on_a_title_shows_its_side_and_the_text_keeps_the_focus(
    opened: Opened,
) -> None:
    async with opened(size=(80, 24)) as scope:
        await written(scope, "the theme")
        for side, line in (
            ("why", "cut out by the pattern"),
            ("ahead", "All tokens are final:"),
        ):
            await scope.pilot.click(scope.editor.side.query_one(f"#title-{side}"))
            await scope.settle()
            assert scope.editor.side.seen == side and scope.area.has_focus
            rows = scope.rows(f"TokenSide #{side}")
            assert any(row.strip().startswith(line) for row in rows), rows
        await scope.press("ctrl+t")
        assert scope.editor.side.seen == "token"


def test_no_key_of_the_pane_is_taken_from_the_text() -> None:
    from textual.widgets import TextArea

    def keys(bindings: list[object]) -> set[str]:
        return {
            key
            for binding in bindings
            for key in str(getattr(binding, "key", "")).split(",")
        }

    assert not keys(EditorPane.BINDINGS) & keys(TextArea.BINDINGS)


@pytest.mark.slow
async def test_the_tokens_of_a_text_that_is_changed_before_it_is_split_are_seen_and_followed(
    opened: Opened, home: Path
) -> None:
    folder = config.tokenizers_folder()
    folder.mkdir(parents=True, exist_ok=True)
    put(
        folder,
        {"tokenizer.json": huggingface() | {"normalizer": {"type": "Lowercase"}}},
    )
    async with opened() as scope:
        area = scope.area
        area.load_text("ABC ABCß")
        area.focus()
        await scope.until(
            lambda: area.edited.under_cursor, "a token is under the cursor"
        )
        assert scope.ids() == [258, ord(" "), 258, 0xC3, 0x9F]
        assert scope.shown("#status-lines").startswith(
            "5 tokens  9 bytes  1.80 bytes/token  8 characters"
        )
        await scope.press("ctrl+t")
        assert " ".join(scope.rows("TokenSide #why")[0].split()) == "abc 1 token"
        await scope.press("ctrl+b", "ctrl+end", "backspace", "W")
        told = scope.shown("#status-lines").splitlines()
        assert told[1].startswith("last edit  nothing → w  +1 token  +1 byte")
        assert "c3 9f → w" in told[2].lower().replace("\\x", "").replace("·", " ")


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
async def test_an_edit_is_told_by_the_tokenizer_it_was_done_under(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        await written(scope, "")
        tokenizer = scope.screen.tokenizer
        assert tokenizer is not None
        scope.area.insert("the other thesis")
        scope.screen.in_force = tokenizer.at(
            0
        )  # before the edit is told, whose tokens this one has not
        await scope.settle()
        assert scope.app.is_running and scope.screen.in_force.step == 0
