"""The tree of texts: it lists beside the screen, tells what each row is for, and shows what is chosen where."""

import threading
from pathlib import Path

import pytest
from scope import Opened
from textual.widgets import Label

from tui.disk import sources


@pytest.mark.slow
async def test_a_text_that_is_named_twice_is_listed_once(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book, book) as scope:
        await scope.press("f2", "home")
        chosen = []
        for _ in range(3):
            chosen.append(scope.screen.corpus.paths)
            await scope.press("space")  # on "Files": all that stand below it, or none
        assert chosen == [(str(book),), (str(book), str(book.parent)), ()]
        assert sum("book.txt" in row for row in scope.rows("CorpusTree")) == 1


@pytest.mark.slow
async def test_a_slow_pattern_keeps_nobody_waiting(
    opened: Opened, kept: Path, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The split is held open here, so that no clock is needed to see that keys are answered meanwhile."""
    held, calls = threading.Event(), []

    def slow(source: sources.TextSource, number: int, pattern: str) -> list[str]:
        calls.append(source.title)
        held.wait()
        return ["slow"]

    async with opened(book) as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        monkeypatch.setattr("tui.panes.corpus.first_pieces", slow)
        try:
            for title in ("A chant", "Whitespace", "book.txt"):
                scope.tree.move_cursor(scope.row(title))
                await scope.press("up", "down")
            heading = scope.corpus.query_one("#preview-heading", Label)
            assert "book.txt" in str(heading.render())
            await scope.until(lambda: "splitting" in scope.shown("#preview"), "it says why it shows nothing")
            assert len(calls) == 1, "one thread is busy, however many texts one passes"
        finally:
            held.set()
        await scope.until(lambda: scope.shown("#preview") == "slow", "the last one comes")
        assert calls[-1] == "book.txt" and len(calls) <= 2, "those that were passed are not split"
