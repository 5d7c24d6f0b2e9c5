"""The app is drawn in a theme while one moves through the list; Escape brings back the old one."""

import pytest
from rich.style import Style
from scope import Opened, Scope
from textual.widgets import OptionList

from tui.dialogs.theme_picker import ThemePicker
from tui.drawing.lines import Lines

pytestmark = pytest.mark.usefixtures("kept")


async def picker(scope: Scope) -> OptionList:
    scope.app.search_themes()
    return (await scope.asked(ThemePicker)).query_one(OptionList)


def backgrounds(scope: Scope) -> list[Style | None]:
    """The styles of the bytes of the token under the cursor."""
    lines = scope.editor.side.query_one("#token", Lines)
    return [segment.style for segment in lines.render_line(1) if segment.text.strip()]


async def test_a_theme_is_seen_while_one_moves_and_kept_by_enter(
    opened: Opened,
) -> None:
    async with opened(size=(80, 24)) as scope:
        app = scope.app
        before = app.theme
        scope.area.load_text("the theme")
        await scope.settle()
        drawn = backgrounds(scope)
        themes = await picker(scope)
        names = sorted(app.available_themes)
        assert themes.highlighted == names.index(before)
        await scope.press("down")
        following = names[names.index(before) + 1]
        await scope.until(lambda: app.theme == following, "the next theme is seen")
        await scope.until(
            lambda: backgrounds(scope) != drawn, "the token has its colors"
        )
        assert scope.screen.remembered.theme == before, "it is not chosen yet"
        await scope.press("escape")
        await scope.back()
        await scope.until(lambda: backgrounds(scope) == drawn, "all is as before")
        assert app.theme == before == scope.screen.remembered.theme

        await picker(scope)
        await scope.press(*"nord")
        await scope.until(lambda: app.theme == "nord", "the first match is seen")
        await scope.press("enter")
        await scope.back()
        assert app.theme == "nord" == scope.screen.remembered.theme


async def test_a_theme_can_be_clicked_and_without_a_match_nothing_is_chosen(
    opened: Opened,
) -> None:
    async with opened(size=(120, 40)) as scope:
        before = scope.app.theme
        themes = await picker(scope)
        await scope.press(*"qqq")
        assert not themes.option_count
        await scope.press("enter", "pagedown", "down")
        assert isinstance(scope.app.screen, ThemePicker)
        assert scope.app.theme == before
        await scope.press(*["backspace"] * 3)
        await scope.pilot.click(OptionList, offset=(2, 3))
        await scope.back()
        assert scope.app.theme == sorted(scope.app.available_themes)[3]
