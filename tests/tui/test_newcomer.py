"""What a newcomer at the keyboard finds at each size: options, tabs, presets step by step, patterns to be mended."""

from pathlib import Path

from scope import Opened

from tui.state.training import Corpus


async def test_chosen_texts_are_counted_from_the_first_moment(opened: Opened, kept: Path, book: Path) -> None:
    async with opened(book) as scope:
        scope.screen.features.corpus.cancel()  # as while it is still at work
        scope.screen.totals = None
        scope.corpus.corpus = Corpus()
        assert "Space chooses" in scope.shown("#totals")
        scope.corpus.corpus = Corpus((str(book),), (), "book.txt")
        assert "counting" in scope.shown("#totals")


async def test_the_palette_has_one_name_for_each_thing(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        names = [command.title for command in scope.app.get_system_commands(scope.screen)]
        assert sorted(names) == ["Quit", "Screenshot", "Theme"]  # help and zoom are commands of the main screen
