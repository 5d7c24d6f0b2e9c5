"""The start: whatever the arguments are, the screen is there first, and keys that were pressed before count."""

import re
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from player import Cells, play

from tests.tui.terminal import terminal
from tui.disk import config
from tui.state import LaneChoice

BLOCKED: dict[str, threading.Event] = {}
"""Path -> what is set when the file may be opened."""


def wait_to_open(event: str, arguments: tuple[Any, ...]) -> None:
    """Let whoever opens a blocked file wait, as on a disk that does not answer."""
    if BLOCKED and event == "open" and str(arguments[0]) in BLOCKED:
        BLOCKED[str(arguments[0])].wait()


@pytest.fixture(scope="session")
def hook() -> None:
    sys.addaudithook(wait_to_open)  # for good: Python cannot take it back


@pytest.fixture
def slow(hook: None, book: Path) -> Iterator[threading.Event]:
    """`book` is on a disk that does not answer until this is set."""
    answers = BLOCKED[str(book)] = threading.Event()
    yield answers
    answers.set()
    BLOCKED.clear()


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_while_a_file_is_read_words_arrive_and_the_screen_says_what_it_waits_for(
    kept: Path, book: Path, slow: threading.Event, size: tuple[int, int]
) -> None:
    config.save_configuration(config.Configuration(tokenizer=str(kept)))
    async with play(book, size=size) as player:
        player.write("zebra ")
        await player.until("zebra Type", "reading book.txt …", "step 24 of 24")
        player.press("f6")
        await player.until(lambda screen: "book.txt is still being read" in screen.told)
        slow.set()
        await player.until(lambda screen: "reading" not in screen)
        player.press("f2")
        await player.until("✓ book.txt")


async def test_the_app_can_be_left_while_a_file_is_read(
    kept: Path, book: Path, slow: threading.Event
) -> None:
    async with play(book) as player:
        player.write("zebra ")
        player.press("ctrl+q")
        await player.ended()
    assert (config.load_text() or "").startswith("zebra ")


async def test_a_text_chosen_meanwhile_stays_with_the_one_that_was_read(
    kept: Path, book: Path, slow: threading.Event
) -> None:
    async with play(book) as player:
        await player.until("reading book.txt …")
        # The last sample text is above six presets.
        player.press("f2", "end", *["k"] * 6, "space")
        await player.until("Chosen  low lower", "reading book.txt …")
        slow.set()
        await player.until(lambda screen: "reading" not in screen)
        await player.until("book.txt")
    assert str(book) == config.load_configuration().corpus[-1]
    assert len(config.load_configuration().corpus) == 2


async def test_a_tokenizer_is_fetched_after_the_first_frame(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()

    def fetched(name: str) -> Path:
        answers.wait()
        return small

    monkeypatch.setattr("bpe_core.hub.located", fetched)
    async with play(tokenizers=("gpt-4o",), waits=False) as player:
        player.write("zebra ")
        await player.until("zebra Type", "reading gpt-4o …")
        answers.set()
        await player.until("step 24 of 24")


async def test_arguments_that_cannot_be_used_are_told_and_the_others_are_opened(
    kept: Path, home: Path, book: Path
) -> None:
    (home / "binary").write_bytes(bytes(range(256)) * 9)
    (home / "empty").touch()
    async with play(home / "binary", book, home / "empty") as player:
        for sentence in "binary cannot be read", "No text found in", "empty":
            await player.until(
                lambda screen, sentence=sentence: sentence in screen.told
            )
        player.press("f2")
        await player.until("✓ book.txt")
    assert config.load_configuration().corpus == (str(book),)


async def test_a_damaged_file_of_settings_is_told_with_where_it_is_kept(
    kept: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / "[bold]settings"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    (folder / "bpescope").mkdir(parents=True)
    (folder / "bpescope" / "configuration.json").write_text("{")
    async with play() as player:
        await player.until(
            lambda screen: "[bold]settings" in screen.told.replace(" ", "")
        )


def test_what_cannot_be_used_is_printed_when_the_app_is_left(
    kept: Path, home: Path
) -> None:
    (home / "binary").write_bytes(bytes(range(256)) * 9)
    with terminal(home / "binary") as app:
        app.until_shown("cannot be read")
        app.quit()
        *_, printed = re.split(r"\x1b\[\?[0-9]+[hl]", app.sent.decode())
    assert printed.startswith("bpescope: binary cannot be read: ")
    assert printed.count("\n") == 1


HUNG = """
import sys, threading

def wait_to_open(event, arguments):
    if event == "open" and str(arguments[0]).endswith("book.txt"):
        threading.Event().wait()

sys.addaudithook(wait_to_open)
from tui import command
command()
"""
"""The app where a file is on a disk that never answers."""


@pytest.mark.parametrize("keys", ["zebra ", "\x11"])
def test_keys_pressed_before_the_first_frame_count(
    kept: Path, book: Path, keys: str
) -> None:
    config.save_text("my own text")
    with terminal(book, program=("-c", HUNG)) as app:
        before = termios.tcgetattr(app.side)
        app.until(lambda: not _is_canonical(app.side), "the keyboard is held")
        assert b"\x1b[?1049h" not in app.sent
        app.type(keys)
        if keys != "\x11":
            app.until_shown("zebra my own text")
            app.type("\x11")
        assert app.wait() == 0
        assert termios.tcgetattr(app.side) == before
    assert (config.load_text() or "").startswith(keys.strip("\x11"))


def test_a_wrong_argument_leaves_the_terminal_as_it_was(home: Path) -> None:
    with terminal("missing.txt") as app:
        before = termios.tcgetattr(app.side)
        assert app.wait() == 2
        assert termios.tcgetattr(app.side) == before


def _is_canonical(side: int) -> bool:
    return bool(termios.tcgetattr(side)[3] & termios.ICANON)


NUMBERED = "\n".join(
    f"line {number} of " + "many words " * (number % 7) for number in range(200)
)
"""Some of its lines are wrapped, at each width others."""


def first_in_view(screen: Cells) -> str:
    """The first words of the text that are in view in the editor."""
    starts = re.findall(r"X?(?:line \d+ of|many words)[^│]*", screen.text)
    return starts[0].strip() if starts else ""


def number_in_view(screen: Cells) -> int:
    """The number of the line whose first or later row is at the top of the editor."""
    rows = screen.text.splitlines()
    starts = re.compile(r"X?(line \d+ of|many words)")
    first = next(row for row in rows if starts.search(row))
    number = next(int(n) for row in rows for n in re.findall(r"line (\d+) of", row))
    return number if "line " in first else number - 1


@pytest.mark.parametrize("again", [(120, 40), (80, 24), (200, 60)])
async def test_the_cursor_and_the_scroll_position_come_back_at_any_size(
    kept: Path, again: tuple[int, int]
) -> None:
    config.save_text(NUMBERED)
    async with play(size=(120, 40)) as player:
        await player.until("line 0 of", "step 24 of 24")
        player.press(*["pagedown"] * 6, *["up"] * 3)
        player.write("X")
        await player.until("X")
        await player.rest()
        player.press("right", "right")
        await player.rest()
        first = number_in_view(player.screen)
        place = player.screen.place("X")
    async with play(size=again) as player:
        await player.until("X", "step 24 of 24")
        await player.rest()
        assert number_in_view(player.screen) == first
        if again == (120, 40):
            assert player.screen.place("X") == place
        player.write("Y")  # after two keys that changed no text
        await player.until("wYords")


async def test_a_text_that_was_scrolled_away_from_the_cursor_comes_back_like_that(
    kept: Path,
) -> None:
    config.save_text(NUMBERED)
    async with play() as player:
        await player.until("line 0 of", "step 24 of 24")
        await player.rest()
        player.scroll_down(player.screen.place("line 2 of"), times=9)
        await player.until(lambda screen: "line 2 of" not in screen)
        await player.rest()
        first = first_in_view(player.screen)
    async with play() as player:
        await player.until("step 24 of 24")
        await player.rest()
        assert first_in_view(player.screen) == first
        player.press("right")
        await player.until("line 0 of")


async def test_the_scroll_position_comes_back_under_two_lanes(kept: Path) -> None:
    config.save_configuration(
        config.Configuration(tokenizer=str(kept), lanes=(LaneChoice("", 3),))
    )
    config.save_text(NUMBERED)
    first = ""
    for _ in range(2):
        async with play() as player:
            await player.until("step 24 of 24", "╭ @24", "╰ @3")
            await player.rest()
            if not first:
                player.press(*["pagedown"] * 8)
                await player.until(lambda screen: "line 2 of" not in screen)
                await player.rest()
                first = first_in_view(player.screen)
            assert first_in_view(player.screen) == first


@pytest.mark.parametrize(
    "stored",
    [
        '{"cursor": -5, "top": -1, "left": -9}',
        f'{{"cursor": {10**400}, "top": {10**400}, "left": {10**400}}}',
    ],
)
async def test_a_place_outside_of_the_text_is_harmless(kept: Path, stored: str) -> None:
    config.save_text("a short text\nof two lines")
    config.text_file().with_name("editor.place.json").write_text(stored)
    async with play() as player:
        await player.until("a short text", "of two lines", "step 24 of 24")
        player.write("Z")
        end = "lines" in player.screen and str(10**400) in stored
        await player.until("linesZ" if end else "Za short")


async def test_the_place_in_the_users_text_is_kept_during_a_lesson(kept: Path) -> None:
    config.save_text(NUMBERED)
    async with play() as player:
        await player.until("line 0 of", "step 24 of 24")
        player.press(*["pagedown"] * 8)
        await player.rest()
        first = first_in_view(player.screen)
        assert "line 2 of" not in player.screen
        await player.command("bytes and characters")
        await player.until("1 of ", lambda screen: "many words" not in screen)
    async with play() as player:
        await player.until("step 24 of 24", "many words")
        await player.rest()
        assert first_in_view(player.screen) == first
        await player.command("bytes and characters")
        await player.until("1 of ", lambda screen: "many words" not in screen)
        player.press("escape")
        await player.until("many words")
        await player.rest()
        assert first_in_view(player.screen) == first
