"""The screen itself: sizes, themes, help, palette, the mouse, and what is said of wrong deeds."""

from pathlib import Path

import pytest
from player import Cells, play, seen_in_terminal

from bpe_core import load
from tui.disk import config

TEXT = "they thought through the thesis"


async def test_every_size_shows_what_fits_and_help_palette_and_wrong_numbers_do_what_they_say(
    small: Path, book: Path
) -> None:
    async with play(book, tokenizers=(small,)) as player:
        player.write(f"{TEXT}\n")
        await player.until(TEXT)
        for width, height, panes in (
            (80, 24, 1),
            (200, 60, 4),
            (30, 8, 1),
            (120, 40, 3),
            (80, 24, 1),
        ):
            player.resize(width, height)
            await player.until("24 of 24", lambda screen: any(screen.rows[-3:]))
            player.press("f4", "ctrl+home")
            shown = TEXT if height > 8 else "step"
            await player.until(
                shown, lambda screen, panes=panes: screen.text.count("╭") == panes
            )
        for key, seen in (
            ("f2", "Tokenizers"),
            ("f3", "vocabulary"),
            ("f5", "▶ Audit"),
            ("f10", "▶ Compare"),
            ("f4", TEXT),
        ):
            player.press(key)
            await player.until(seen, "F6 Train")
        player.press("f4")
        player.write("still here ")
        await player.until("still here ")
        player.resize(120, 40)
        for pane, word, key, elsewhere in (
            ("f4", "pitfall", "Ctrl+T", "x"),
            ("f5", "glitch token", "v", "Ctrl+T"),
        ):
            player.press(pane, "f1")
            await player.until(f"│  {word}  ", f"│  {key}  ")
            seen = player.screen.text
            assert (
                seen.index(f"│  {word}  ") < seen.index(f"│  {key}  ")
                and f"│  {elsewhere}  " not in seen
            )
            player.press("f1")
            await player.until("Ctrl+Q")  # all the rest
            player.press("f1")
            await player.until(lambda screen: "Ctrl+Q" not in screen)
        await player.command("go to a step")
        await player.answer("Go to which step", "7")
        await player.until("step  7 of 24")
        for wrong in "12", "many":
            player.press("f4", "f3", *["backspace"] * 6)
            player.write(wrong)
            player.press("f6")
            await player.until(f"size is {wrong};")
            await player.rest()
            assert player.screen.step == (7, 24)


async def test_a_theme_changes_all_colors_at_once_and_all_is_there_again_at_the_next_start(
    small: Path, other: Path, book: Path
) -> None:
    tokenizer = load(other)

    def tokens(step: int) -> list[str]:
        return [tokenizer.decode([token]) for token in tokenizer.at(step).encode(TEXT)]

    def colors(screen: Cells) -> dict[str, str]:
        return {
            "editor": screen.style(*screen.place(TEXT)),
            "log": screen.style(*screen.place("␣that ")),
            "inspector": screen.style(*screen.place("characters")),
            "corpus": screen.style(*screen.place("Samples")),
        }

    async with play(book, tokenizers=(small, other)) as player:
        player.write(f"{TEXT}\n")
        await player.until(lambda screen: tokens(26) in screen.pieces(TEXT))
        dark = colors(player.screen)
        for theme in "textual-light", "textual-dark":
            await player.command("theme")
            await player.until("Search for themes")
            player.write(theme)
            await player.until(lambda screen, theme=theme: screen.text.count(theme) > 1)
            await player.rest()
            player.press("enter")
            await player.until(
                lambda screen: "Search for themes" not in screen and TEXT in screen
            )
            await player.rest()
            now = colors(player.screen)
            assert tokens(26) in player.screen.pieces(TEXT)
            for part in dark:
                assert now[part] != dark[part], part
            dark = now
        player.press("alt+left", "alt+left", "alt+left")
        await player.until("step 23 of 26", "“largest” decides")
    async with play() as player:
        await player.until("of 26", "other · 282 tokens", "✓ book.txt", "characters")
        await player.until(lambda screen: tokens(screen.step[0]) in screen.pieces(TEXT))
        await player.rest()
        assert colors(player.screen)["corpus"] == dark["corpus"], (
            "the theme is remembered"
        )


async def test_the_mouse_reaches_tabs_rows_and_tokens_behind_a_wrap(
    small: Path,
) -> None:
    line = "the theme of the other thesis, the thing that they thought through"
    async with play(tokenizers=(small,), size=(80, 24)) as player:
        player.press("alt+a", "delete")
        player.write(line)
        first = "the theme of the other thesis, the thing that"  # what fits into a row
        await player.until(
            f"{len(line)} bytes", lambda screen: first in screen and line not in screen
        )
        player.click("they")
        await player.until("characters 45 to 49")  # of the token " they"
        player.press("ctrl+home", "shift+right", "shift+right", "shift+right")
        await player.until("characters 0 to 2")  # of the last token that is selected
        player.click(first, right=len(first) + 1)  # behind the end of the row
        player.write("X")
        await player.until(
            f"{first[:-1]}Xt", f"{len(line) + 1} bytes"
        )  # before the last character of that row
        player.click("F3 Training")
        await player.until("vocabulary")
        await player.rest()
        player.click(" 21 ", beside="␣that", right=1)
        await player.until("step 21 of 24")
        player.click("F4 Editor")
        await player.until(first[:-1])
        player.click("280 tokens")  # beside the tabs, which leads nowhere
        await player.rest()
        assert first[:-1] in player.screen


async def test_alt_and_a_letter_types_nothing_into_the_editor_a_search_or_a_dialog(
    kept: Path,
) -> None:
    async with play(tokenizers=(kept,)) as player:
        player.press("alt+a", "delete")
        player.type_bytes("\x1bq", "\x1bZ", "ä", "\x1bü", "é")
        await player.until("4 bytes", "äé")
        player.press("f5")
        await player.until("Token")
        await player.rest()
        player.type_bytes("\x1bq", "\x1bz")
        await player.rest()
        assert "qz" not in player.screen
        player.press("slash")
        player.type_bytes("\x1bq", "ä", "\x1bZ", "\x1bx", "t")
        await player.until("ät")
        player.press("ctrl+o")
        await player.until("Which text")
        player.press("ctrl+u")
        player.type_bytes("\x1bq", "ö", "\x1bZ", "\x1bx", "n")
        await player.until("ön")
        player.press("escape")


@pytest.mark.slow
@pytest.mark.usefixtures("no_process_left")
def test_alt_and_letters_that_a_terminal_sends_at_once_are_each_a_command(
    kept: Path,
) -> None:
    with seen_in_terminal("-t", kept) as (app, screen):
        app.until(lambda: screen().step == (24, 24), "the app is there")
        app.type("\x1ba\x1bc\x1b,\x1bQ\x1bq\x1bZ")
        app.until(lambda: "as a Python list" in screen().told, "the ids are copied")
        app.type("\x7fzebra")
        app.until(lambda: "5 bytes" in screen(), "the selected text is replaced")
    assert config.load_text() == "zebra"
