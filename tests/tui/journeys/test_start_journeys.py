"""The start: whatever the arguments are, the screen is there first, and keys that were pressed before count."""

import re
import sys
import termios
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from player import play

from tests.tui.terminal import terminal
from tui.disk import config

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
        player.press("f2", "end", "space")
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
