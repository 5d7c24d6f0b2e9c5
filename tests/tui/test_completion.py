"""Paths that are being typed are completed, from folders that are read beside the screen."""

import threading
from pathlib import Path

import pytest
from scope import Opened
from textual.widgets import Input, Label

from tui.dialogs import ask_path
from tui.dialogs.ask_path import MOST, AskPath, completions


@pytest.fixture
def files(home: Path) -> Path:
    (home / "notes").mkdir()
    for name in (
        "novel.txt",
        "Nothing.md",
        ".hidden",
        "notes/one.txt",
        "no\x1b]0;pwned\x07.txt",
    ):
        (home / name).write_text("text\n")
    (home / "nowhere").symlink_to("nowhere")
    return home


def test_a_path_is_completed_from_its_folder(files: Path) -> None:
    assert completions("no") == ["notes/", "novel.txt", "nowhere"]
    assert completions("N") == ["Nothing.md"]
    assert completions("notes") == ["notes/"]
    assert completions("notes/") == ["notes/one.txt"]
    assert completions(f"{files}/nov") == [f"{files}/novel.txt"]
    assert completions("~/nov") == ["~/novel.txt"] and completions("~") == ["~/"]
    assert completions("novel.txt") == [] and completions(".h") == [".hidden"]
    assert not any(name.startswith(".") for name in completions(f"{files}/"))


@pytest.mark.parametrize(
    "typed",
    [
        "missing/x",
        "novel.txt/x",
        "~nobody-of-this-name/x",
        "nu\x00l/",
        "x" * 5000 + "/",
    ],
)
def test_what_leads_nowhere_has_no_completion(files: Path, typed: str) -> None:
    assert completions(typed) == []


def test_of_a_large_folder_the_first_are_looked_at(home: Path) -> None:
    for number in reversed(range(MOST + 20)):
        (home / f"{number:03}").touch()
    assert completions("") == [f"{number:03}" for number in range(MOST)]


@pytest.mark.slow
async def test_tab_completes_and_the_names_are_listed(
    opened: Opened, kept: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = []

    def watched(typed: str) -> list[str]:
        threads.append(threading.current_thread())
        return completions(typed)

    monkeypatch.setattr(ask_path, "completions", watched)
    async with opened() as scope:
        await scope.press("ctrl+o")
        dialog = await scope.asked(AskPath)
        field, hint = dialog.query_one(Input), dialog.query_one(".dialog--hint", Label)
        await scope.press("n", "o")
        await scope.until(
            lambda: str(hint.render()).split() == ["notes/", "novel.txt", "nowhere"],
            "they are listed",
        )
        await scope.until(
            lambda: field._suggestion == "notes/", "the first is suggested"
        )
        await scope.press("tab")
        assert field.value == "notes/" and dialog.focused is field
        await scope.until(
            lambda: field._suggestion == "notes/one.txt", "the next is suggested"
        )
        await scope.press("tab", "enter")
        await scope.until(lambda: scope.area.text == "text\n", "the text is opened")
        assert threads and threading.main_thread() not in threads
