"""The command palette finds things by the words that people type; lists open from it."""

from pathlib import Path

import pytest
from scope import Opened, Scope
from textual.command import CommandPalette

from tui.dialogs.command_palette import Lessons, Presets, ScopeCommands
from tui.dialogs.palette_search import PaletteEntry
from tui.disk.lessons import own_lessons
from tui.widgets.token_table import TokenTable

FIRST_HITS = {
    "gpt2": "Fetch a tokenizer by name…",
    "gpt-2": "Fetch a tokenizer by name…",
    "regex": "Split pattern of this tokenizer…",
    "pattern": "Split pattern of this tokenizer…",
    "color": "Theme",
    "theme": "Theme",
    "dark": "Theme",
    "quit": "Quit",
    "emoji": "Sample: Emoji and accents",
    "glitch": f"How BPE learns 8: {own_lessons()[7].title}",
    "undertrained": "Audit the current tokenizer",
    "select all": "Select all",
    "clear": "Clear the text",
    "restart": "Train",
    "tutorial": "Lessons…",
    "tour": "Take the tour",
    "lesson": "Lessons…",
    "lessons": "Lessons…",
    "learn": "Lessons…",
    "course": "Lessons…",
    "tutoral": "Lessons…",
    "help": "Keys and help",
    "karpathy": "Preset: aaabdaaabac (Wikipedia)",
    "minbpe": "Preset: aaabdaaabac (Wikipedia)",
    "wikipedia": "Preset: aaabdaaabac (Wikipedia)",
    "sennrich": "Preset: low lower newest widest (Sennrich 2016)",
    "save": "Save the editor's text…",
    "export": "Export this tokenizer…",
    "vocab size": "Set the vocabulary size",
    "special tokens": "Read special tokens as tokens or as text",
    "compare": "Compare tokenizers",
    "diff": "Compare tokenizers",
    "count tokens": "Measure the editor's text",
}


async def found(scope: Scope, query: str) -> list[str | None]:
    """The names that a query finds, the best first."""
    hits = [hit async for hit in ScopeCommands(scope.app.screen).search(query)]
    hits.sort(key=lambda hit: hit.score, reverse=True)
    return [hit.text for hit in hits]


async def test_each_word_finds_first_what_one_wants(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        hits = {query: await found(scope, query) for query in FIRST_HITS}
        assert {query: names[:1] for query, names in hits.items()} == {
            query: [name] for query, name in FIRST_HITS.items()
        }
        assert hits["help"][1] == "Lessons…"
        assert hits["restart"] == ["Train", "Play the merges"]
        for query in ("sennrich", "clear", "regex", "color"):
            assert len(hits[query]) == 1, "letters strewn over a long name are no match"
        assert await found(scope, "xyzzy") == await found(scope, "?") == []


async def test_what_the_focused_pane_can_do_comes_after_two_lists(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        tokens = scope.screen.query_one(TokenTable)
        for pane, names in (
            ("f2", ["Open", "Choose"]),
            ("f4", ["Train on this text"]),
            ("f5", ["Show merge", "Mark", "Without the marked tokens…"]),
        ):
            await scope.press(pane)
            if pane == "f5":
                await scope.until(lambda: tokens.rows.verdicts, "tokens are judged")
                await scope.until(lambda: not tokens.is_working, "they are listed")
            await scope.press("home")
            hits = [hit.text async for hit in ScopeCommands(scope.screen).discover()]
            assert hits[:2] == ["Lessons…", "Presets…"]
            assert hits[2 : 2 + len(names)] == names
            assert len(set(hits)) == len(hits), "nothing is offered twice"


async def test_lists_open_from_the_palette(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        for query, provider, n_listed in (
            ("lessons", Lessons, 8),
            ("presets", Presets, 8),
        ):
            await scope.command(query)
            await scope.until(
                lambda: isinstance(scope.app.screen, CommandPalette),
                "the list opens",
            )
            assert len(list(provider(scope.screen).listed())) == n_listed
            await scope.press("escape")
        await scope.command("tutorial")
        await scope.press(*"bytes")
        await scope.until(
            lambda: len(scope.app.screen.query("CommandList")), "it lists"
        )
        await scope.press("enter")
        await scope.until(
            lambda: own_lessons()[0].title in scope.screen.caption,
            "the lesson begins",
        )


async def test_a_sample_is_shown_in_the_corpus_and_a_lesson_says_where_one_was(
    opened: Opened, kept: Path
) -> None:
    async with opened() as scope:
        await scope.press("f2", "home", "down")
        await scope.command("emoji")
        await scope.until(
            lambda: scope.tree.entry.title == "Emoji and accents", "it is shown"
        )
        assert scope.tree.has_focus
        scope.screen.remember(lessons={"2-first-merge": "3", "1-bytes": "0"})
        first, second, *_ = Lessons(scope.screen).listed()
        assert "resume" not in first.description
        assert second.description.endswith("steps; resume after step 3")


async def test_the_text_is_selected_and_cleared(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        await scope.press("f4")
        await scope.command("select all")
        await scope.until(
            lambda: scope.area.selected_text == scope.area.text != "", "all is selected"
        )
        await scope.command("clear")
        await scope.until(lambda: not scope.area.text, "it is empty")
        await scope.command("vocab size")
        await scope.until(
            lambda: scope.training.fields.first.has_focus, "the field is there"
        )


@pytest.mark.parametrize(
    ("query", "score"),
    [
        (["export", "merges"], 5.0),
        (["export", "the", "merges"], 4.0),
        (["merges"], 4.0),
        (["tsv"], 3.5),
        (["merge"], 3.0),
        (["ts"], 2.5),
        (["columns"], 1.0),
        (["port"], 1.0),
        (["merges", "gone"], 0.0),
        ([], 0.0),
    ],
)
def test_a_word_counts_by_where_it_is(query: list[str], score: float) -> None:
    entry = PaletteEntry(
        "Export merges…", print, "one per line, in columns", words="tsv"
    )
    assert entry.score(query) == score
