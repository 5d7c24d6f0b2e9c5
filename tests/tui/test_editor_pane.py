"""The editor pane tells what an edit did, what the text once was, why it is split so, what may come, what trips."""

from pathlib import Path

import pytest
from scope import Opened, Scope

from bpe_core import save, train
from tui.disk import config
from tui.panes.editor import EditorPane
from tui.text.copies import ids_of
from tui.text.review import Review

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
async def test_the_last_edits_can_be_walked(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "a thm")
        await scope.press("ctrl+end", "left", "e", "end", "e")
        assert scope.shown("#edit-line").startswith("last edit  ␣them → ␣theme  ±0 tokens  +1 byte")
        await scope.press("alt+up")
        assert scope.shown("#edit-line").startswith("2 edits ago  ␣th m → ␣them  −1 token  +1 byte")
        await scope.press("alt+up", "alt+up", "alt+down", "alt+down")
        assert scope.shown("#edit-line").startswith("last edit")


@pytest.mark.usefixtures("kept")
@pytest.mark.slow
async def test_a_pinned_text_is_compared_with_what_becomes_of_it(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "the other theme\n")
        await scope.press("ctrl+b")
        assert "no token differs" in scope.shown("#baseline-line")
        await scope.press("right", "right", "right", "backspace", "backspace")
        await reviewed(scope)
        assert "the → t  ±0 tokens  −2 bytes" in scope.shown("#baseline-line")
        assert scope.editor.area.edited.comparison is not None
        assert scope.editor.area.edited.comparison.stretches == ((0, 1),)
        await scope.press("ctrl+z", "ctrl+z")
        await reviewed(scope)
        assert "no token differs" in scope.shown("#baseline-line")
        await scope.press("ctrl+b")
        assert not scope.screen.query_one("#baseline-line").display


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_the_side_turns_from_the_token_to_its_story_and_to_what_may_come(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "the thexe")
        assert scope.rows("#inspector")[1].split() == ["74", "68", "65", "3", "bytes"]
        await scope.press("ctrl+t", "ctrl+end")
        story = [" ".join(row.split()) for row in scope.rows("#story")]
        assert story[0] == "␣thexe 3 tokens"
        assert story[3] == "␣thexe"  # a chip each
        steps = [row for row in story if row.split()[-2:-1] == ["step"]]
        assert steps and [int(row.split()[-1]) for row in steps] == sorted(int(row.split()[-1]) for row in steps)
        assert "x + e no merge" in story
        await scope.press("backspace", "backspace", "ctrl+t")
        await reviewed(scope)
        ahead = [" ".join(row.split()) for row in scope.rows("#story")]
        assert ahead[0] == "␣the 1 token"
        assert any(row.startswith("␣theme ") for row in ahead)
        await scope.press("ctrl+t")
        assert scope.editor.side.seen == "token"


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


@pytest.mark.usefixtures("kept")
@pytest.mark.slow
async def test_a_selection_has_totals_and_ids_of_its_own(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "the theme")
        await scope.press("shift+right", "shift+right", "shift+right")
        ids = ids_of(scope.area.edited, scope.area.selected)
        assert scope.shown("#totals-line") == f"selected  1 token  3 bytes  3 characters  ids {ids[0]}"
        await scope.press("alt+c")
        assert scope.app.clipboard == str(ids)
        await scope.press("right")
        assert scope.shown("#totals-line").startswith("2 tokens")


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_a_character_of_several_tokens_shows_who_owns_which_byte(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "雨")
        inspector = "\n".join(scope.rows("#inspector"))
        assert "e9 9b a8" in inspector and "╰╯ ╰╯ ╰╯" in inspector and "cjk unified" in inspector


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_other_views_show_the_same_tokens(opened: Opened) -> None:
    async with opened() as scope:
        await written(scope, "the\ntheme")
        seen = {}
        for view in ("borders", "ids", "list", "text"):
            await scope.press("ctrl+l")
            seen[scope.editor.view] = [row.strip() for row in scope.rows("#view")]
            assert scope.editor.view == view
        ids = [str(token) for token in scope.ids()]
        assert seen["borders"][0] == "the│↵│" and seen["borders"][1].replace("│", "") == "theme"
        assert " ".join(seen["ids"][:2]).split() == ids
        assert [row.split()[0] for row in seen["list"] if row] == ids
        await scope.press("x")
        assert scope.area.text == "xthe\ntheme"  # back in the text


@pytest.mark.slow
@pytest.mark.usefixtures("home")
async def test_special_tokens_are_text_until_the_switch_is_turned(opened: Opened) -> None:
    learned = train(CORPUS, vocab_size=291, special_tokens=["<|end|>"])
    save(learned, config.tokenizers_folder() / "small.json")
    async with opened() as scope:
        await written(scope, "the<|end|>")
        special = learned.special_tokens["<|end|>"]
        assert special not in scope.ids()
        assert "is text here" in scope.shown("#pitfall-line")
        await scope.press("ctrl+r")
        assert scope.ids()[-1] == special
        assert "specials on" in str(scope.editor.border_subtitle)
        await scope.press("ctrl+end", "backspace")
        assert special not in scope.ids()
        await scope.press("ctrl+r")
        assert "specials on" not in str(scope.editor.border_subtitle)


def test_no_key_of_the_pane_is_taken_from_the_text() -> None:
    from textual.widgets import TextArea

    def keys(bindings: list[object]) -> set[str]:
        return {key for binding in bindings for key in str(getattr(binding, "key", "")).split(",")}

    assert not keys(EditorPane.BINDINGS) & keys(TextArea.BINDINGS)


@pytest.mark.slow
@pytest.mark.usefixtures("kept")
async def test_ids_that_nobody_knows_yet_or_could_paste_are_not_copied(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.text.copies.MOST_COPIED", 1)
    async with opened() as scope:
        await written(scope, "the theme of it")
        await scope.press("alt+c")
        assert scope.app.clipboard == "" and any("too many" in said for said in scope.said)
        await scope.press("shift+right", "shift+right", "shift+right", "alt+c")
        assert scope.app.clipboard == str(scope.ids()[:1])
        scope.area.tokenizer = None
        await scope.press("alt+c")
        assert any("not known yet" in said for said in scope.said)


@pytest.mark.slow
async def test_what_a_token_goes_into_follows_the_steps_though_the_token_stays(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        scope.editor.put("t")  # one letter is one token at every step
        await scope.settle()
        assert any("goes into" in row for row in scope.rows("#inspector"))
        scope.screen.features.shown.go_to(0)
        await scope.settle()
        assert not any("goes into" in row for row in scope.rows("#inspector"))


@pytest.mark.slow
async def test_letters_that_are_undone_together_are_told_together(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.until_tokenizer()
        scope.area.load("")
        await scope.press(*"theme", "ctrl+z")
        assert scope.area.text == ""
        assert scope.shown("#edit-line").strip() == "last edit  5 edits at once  −3 tokens  −5 bytes"
        await scope.press("ctrl+y")
        assert scope.shown("#edit-line").strip() == "last edit  5 edits at once  +3 tokens  +5 bytes"
        await scope.press("alt+up", "alt+up")
        assert scope.shown("#edit-line").strip().startswith("3 edits ago  ")
