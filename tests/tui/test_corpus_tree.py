"""The tree of texts: it lists beside the screen, tells what each row is for, and shows what is chosen where."""

import asyncio
import threading
from pathlib import Path

import pytest
from scope import TEXT, Opened
from textual.widgets import Label

from tui.disk import sources
from tui.disk.sources import LARGEST_FOLDER, Listing
from tui.widgets import corpus_tree


@pytest.mark.slow
async def test_a_large_folder_is_listed_beside_the_screen_and_in_slices(
    opened: Opened, kept: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(LARGEST_FOLDER + 200):
        (home / f"{number:05}.txt").touch()
    threads, rows = [], []

    def listing(path: Path) -> Listing:
        threads.append(threading.current_thread())
        return sources.listing(path)

    monkeypatch.setattr(corpus_tree, "listing", listing)
    async with opened() as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        row = scope.row("home (here)")
        add = type(row).add
        monkeypatch.setattr(type(row), "add", lambda *given, **named: (rows.append(turn), add(*given, **named))[1])
        turn = 0

        async def count_turns() -> None:
            nonlocal turn
            while True:
                turn += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count_turns())
        row.expand()
        await scope.until(lambda: len(row.children) == LARGEST_FOLDER + 1, "all is listed")
        counting.cancel()
        assert threads and threading.main_thread() not in threads
        assert max(rows.count(turn) for turn in set(rows)) <= 100, "others have their turn after each slice"
        assert str(row.children[-1].label) == "and 200 more"
        row.collapse()
        row.expand()
        await scope.settle()
        assert len(row.children) == LARGEST_FOLDER + 1, "and not again"


@pytest.mark.slow
async def test_a_folder_tells_of_the_texts_chosen_in_it(opened: Opened, kept: Path, home: Path) -> None:
    for name in ("one.txt", "two.txt", "three.txt"):
        (home / "texts" / name).parent.mkdir(exist_ok=True)
        (home / "texts" / name).write_text(TEXT)
    async with opened(home / "texts" / "one.txt", home / "texts" / "two.txt") as scope:
        await scope.until_tokenizer()
        await scope.press("f2")
        here = scope.row("home (here)")
        assert "2 ✓" in scope.tree.render_label(here, *2 * [scope.tree.rich_style]).plain, "though never opened"
        here.expand()
        await scope.until(lambda: here.children, "it is listed")
        folder = here.children[0]
        assert "2 ✓" in scope.tree.render_label(folder, *2 * [scope.tree.rich_style]).plain
        folder.expand()
        await scope.until(lambda: len(folder.children) == 3, "it is listed")
        labels = [scope.tree.render_label(child, *2 * [scope.tree.rich_style]).plain for child in folder.children]
        assert [label[0] for label in labels] == ["✓", " ", "✓"], "one text has one mark, wherever it is listed"
        scope.tree.move_cursor(folder.children[0])
        await scope.press("space")
        assert scope.screen.corpus.paths == (str(home / "texts" / "two.txt"),)
        assert "✓" not in scope.tree.render_label(scope.row("one.txt"), *2 * [scope.tree.rich_style]).plain


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
