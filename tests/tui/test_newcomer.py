"""What a newcomer at the keyboard finds at each size: options, tabs, presets step by step, patterns to be mended."""

from pathlib import Path

from scope import Opened


async def test_the_palette_has_one_name_for_each_thing(opened: Opened, kept: Path) -> None:
    async with opened() as scope:
        names = [command.title for command in scope.app.get_system_commands(scope.screen)]
        assert sorted(names) == ["Quit", "Screenshot", "Theme"]  # help and zoom are commands of the main screen
