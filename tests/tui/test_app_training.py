"""A training in the app: choose texts, train, pause, step, go on, stop; and whatever can go wrong on the way."""

import os
import random
import re
import signal
from pathlib import Path

import pytest
from scope import Opened, Scope
from textual.widgets import Input

from tui.features import training
from tui.state import PACES

pytestmark = pytest.mark.usefixtures("no_process_left")


@pytest.fixture
def long_book(home: Path) -> Path:
    """Words of so little sense that there are more than 20,000 merges in them."""
    letters = random.Random(7)
    words = ("".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=9)) for _ in range(6_000))
    path = home / "long.txt"
    path.write_text(" ".join(words))
    return path


def fill(scope: Scope, field: str, value: str) -> None:
    scope.training.query_one(f"#{field}", Input).value = value


async def merging(scope: Scope) -> None:
    """Begin a training of more merges than 5 a second make while a test waits, and wait for the first ones."""
    fill(scope, "vocab-size", "1000000")
    scope.screen.action_do("training.change_pace", PACES.index(5) - PACES.index(scope.screen.pace))
    await scope.press("f6")
    await scope.until(lambda: scope.screen.run.phase == "merging" and scope.screen.run.done > 3, "merges arrive")


@pytest.mark.slow
async def test_what_was_learned_and_cannot_be_saved_is_called_so(
    opened: Opened, long_book: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training, "save_beside", full)
    async with opened(long_book, size=(160, 40)) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        await merging(scope)
        assert re.search(r"training \d+%", scope.shown("TitleLine"))
        worker = screen.features.training.newest.worker
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        await scope.until(lambda: any("could not be kept" in said for said in scope.said), "it is told")
        await scope.settle()
        assert "not saved" in scope.shown("TitleLine") and "training" not in scope.shown("TitleLine")
        screen.action_do("audit.audit")
        await scope.settle()
        assert "What was learned is not saved" in scope.said[-1]


@pytest.mark.slow
async def test_what_cannot_be_trained_is_told_in_one_sentence(opened: Opened, book: Path, kept: Path) -> None:
    async with opened(book) as scope:
        screen = scope.screen
        await scope.until_tokenizer()
        tokenizer = screen.tokenizer

        async def told(sentence: str) -> None:
            n = len(scope.said)
            await scope.press("f6")
            await scope.until(lambda: len(scope.said) > n and not screen.run.busy, "it is told")
            assert sentence in scope.said[-1] and len(scope.said) == n + 1
            assert screen.tokenizer is tokenizer and screen.path == str(kept)

        fill(scope, "vocab-size", "")
        await told("The vocabulary size is empty; it must be a number from 257.")
        assert screen.focused is scope.training.query_one("#vocab-size")
        fill(scope, "vocab-size", "many")
        await told("The vocabulary size is many")
        assert scope.training.query_one("#vocab-size", Input).selected_text == "many"
        fill(scope, "vocab-size", "256")
        await told("The vocabulary size is 256")
        fill(scope, "vocab-size", "9" * 5000)
        await told("The vocabulary size is 999")
        fill(scope, "vocab-size", "257")
        fill(scope, "special", "<a> <b> <c>")
        await told("“vocabulary” is 257, but must be at least 260")  # no room for three special tokens
        fill(scope, "vocab-size", "300")
        fill(scope, "special", "")
        fill(scope, "min-count", "0")
        await told("The minimum count is 0")
        fill(scope, "min-count", "1")
        book.write_bytes(bytes(range(256)))
        await told("book.txt cannot be read")
        book.unlink()
        await told("book.txt cannot be read")
