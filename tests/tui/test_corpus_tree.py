"""The tree of texts: it lists beside the screen, tells what each row is for, and shows what is chosen where."""

import threading
from pathlib import Path

import pytest
from scope import Opened, alone, drawn
from textual.pilot import Pilot
from textual.widgets import Label, OptionList

from tui.dialogs.ask_field import AskField
from tui.disk import sources
from tui.disk.sources import title_of
from tui.state import Corpus
from tui.widgets.corpus_tree import CorpusTree


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


async def test_a_folder_is_listed_when_it_is_opened_with_what_else_there_is_to_say(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LARGEST_FOLDER", 3)
    gone = home / "gone"
    for folder in (home / "b", home / "empty", gone):
        folder.mkdir()
    for name in ("a.txt", "c.txt", ".hidden"):
        (home / name).write_text("some text")
    tree = CorpusTree()

    async def rows_below(title: str, pilot: Pilot[None]) -> list[tuple[str, str]]:
        (node,) = [one for one in tree.all_nodes() if str(one.label).startswith(title)]
        node.expand()
        while not node.children:
            await pilot.pause(0.01)
        return [(one.data.title, one.data.path) for one in node.children if one.data]

    async with alone(tree, size=(60, 40)) as (pilot, _):
        assert await rows_below("home (here)", pilot) == [
            ("b", str(home / "b")),
            ("empty", str(home / "empty")),
            ("gone", str(gone)),
            ("and 2 more", ""),
        ]
        assert await rows_below("empty", pilot) == [("no visible files", "")]
        gone.rmdir()
        ((remark, path),) = await rows_below("gone", pilot)
        assert remark.startswith("cannot be listed: ") and not path


async def test_marks_are_given_and_taken_and_counted_at_folders_and_headings(
    home: Path,
) -> None:
    (home / "more").mkdir()
    paths = [home / "a.txt", home / "more", home / "more" / "b.txt"]
    for path in (paths[0], paths[2]):
        path.write_text("some text")
    a, more, b = map(str, paths)
    tree = CorpusTree()
    async with alone(tree, size=(60, 40)) as (pilot, asked):
        tree.corpus = Corpus((a, more), (b,), "")
        await pilot.pause()
        while not any("9 B" in row for row in drawn(tree)):
            await pilot.pause(0.01)
        rows = [" ".join(row.split()) for row in drawn(tree)[:4]]
        assert rows == ["▾ Files 3 ✓", "≠ b.txt 9 B", "✓ a.txt 9 B", "✓ more 1 ✓ ▸"]
        width = tree.scrollable_content_region.width
        assert {len(row) for row in drawn(tree)[:4]} == {width}, "aligned at the right"
        tree.weights = {a: "3", b: "2"}
        await pilot.pause()
        rows = [" ".join(row.split()) for row in drawn(tree)[1:3]]
        assert rows == ["≠ b.txt 9 B", "✓ a.txt ×3 9 B"], (
            "only what is learned from weighs"
        )
        tree.focus()
        for row, keys, chosen, reference in (
            (1, "space", (a, more, b), ()),
            (1, "r", (a, more), ()),
            (2, "space", (more,), (b,)),
            (2, "r", (more,), (b, a)),
            (2, "o", (a,), (b,)),
        ):
            await pilot.press("home", *["down"] * row, keys)
            assert asked[-1] == Corpus(chosen, reference, title_of(chosen)), keys
        n_asked = len(asked)
        tree.corpus = Corpus((a,), (), "")
        await pilot.press("home", "down", "down", "o", "down", "number_sign")
        assert len(asked) == n_asked, "it is the only one; the next is not chosen"


async def test_the_keys_of_lists_work_in_the_tree(home: Path) -> None:
    (home / "folder").mkdir()
    (home / "folder" / "a.txt").write_text("some text")
    tree = CorpusTree()
    async with alone(tree, size=(60, 40)) as (pilot, _):

        async def row_after(*keys: str) -> str:
            await pilot.press(*keys)
            await pilot.pause()
            return tree.entry.title

        tree.focus()
        assert await row_after("home") == "Files"
        assert await row_after("j") == "home (here)"
        assert await row_after("k") == "Files"
        for go_in, go_out in (("right", "left"), ("l", "h")):
            assert await row_after(go_in) == "home (here)", "the group is open already"
            await row_after(go_in)
            assert tree.cursor_node is not None
            while not tree.cursor_node.children:
                await pilot.pause(0.01)
            assert await row_after(go_in) == "folder"
            assert await row_after(go_out) == "home (here)"
            assert await row_after(go_out) == "home (here)"
            assert not tree.cursor_node.is_expanded
            assert await row_after(go_out, go_out, go_out) == "Files", (
                "closed, and last"
            )
            assert not tree.cursor_node.is_expanded
            assert await row_after(go_in) == "Files"
        assert await row_after("end", "right") == "Hello world! (by heart)"
