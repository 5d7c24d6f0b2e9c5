"""The tree of texts: it lists beside the screen, tells what each row is for, and shows what is chosen where."""

import threading
from pathlib import Path

import pytest
from scope import Opened
from textual.widgets import Label, OptionList

from tui.dialogs.lists import AskField
from tui.disk import sources


@pytest.mark.slow
async def test_a_text_that_is_named_twice_is_listed_once(
    opened: Opened, kept: Path, book: Path
) -> None:
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
        await scope.press("f2")
        monkeypatch.setattr("tui.panes.corpus.first_pieces", slow)
        try:
            for title in ("A chant", "Whitespace", "book.txt"):
                scope.tree.move_cursor(scope.row(title))
                await scope.press("up", "down")
            heading = scope.corpus.query_one("#preview-heading", Label)
            assert "book.txt" in str(heading.render())
            await scope.until(
                lambda: "splitting" in scope.shown("#preview"),
                "it says why it shows nothing",
            )
            assert len(calls) == 1, "one thread is busy, however many texts one passes"
        finally:
            held.set()
        await scope.until(
            lambda: scope.shown("#preview") == "slow", "the last one comes"
        )
        assert calls[-1] == "book.txt" and len(calls) <= 2, (
            "those that were passed are not split"
        )


async def test_a_preview_that_begins_when_its_pane_goes_has_nothing_to_show(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        pane = scope.corpus
        await pane.query_one("#preview-heading").remove()
        await pane.query_one("#preview").remove()
        pane.preview()
        await scope.settle()
        await scope.until(
            lambda: not any(one.node is pane for one in scope.app.workers), "it ends"
        )


@pytest.mark.slow
async def test_the_field_of_a_file_is_chosen_with_its_documents_in_view(
    opened: Opened, kept: Path, tmp_path: Path
) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text(
        "headline,review\n"
        + "".join(f"no. {n},a film that is longer\n" for n in range(9))
    )
    async with opened(path) as scope:
        await scope.press("f2")
        scope.tree.move_cursor(scope.row("reviews.csv"))
        await scope.until(
            lambda: "reviews.csv::review" in scope.shown("#preview-heading"),
            "what is guessed is said",
        )
        await scope.press("c")
        options = (await scope.asked(AskField)).query_one(OptionList).options
        assert "  no. 4" in str(options[1].prompt), "five of them"
        await scope.press("down", "enter")
        await scope.until(
            lambda: scope.screen.corpus.paths == (f"{path}::headline",),
            "it replaces what was chosen",
        )
        await scope.until(
            lambda: "45" in scope.shown("#totals"), "45 bytes in nine documents"
        )
