"""What a path may become that someone is typing; folders are read beside the screen."""

import os
from collections.abc import Callable, Sequence
from heapq import nsmallest
from typing import Final

from textual.suggester import Suggester

from tui.disk.sources import is_folder
from tui.terminal.background import in_thread

MOST: Final = 50
"""Completions that are looked at."""


class PathSuggester(Suggester):
    """Suggests the first completion of a path, and tells all of them, with what they complete, to `tell`."""

    def __init__(self, tell: Callable[[str, Sequence[str]], None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # files come and go
        self._tell = tell

    async def get_suggestion(self, value: str) -> str | None:
        """The first in the order of names."""
        found = await in_thread(completions, value)
        self._tell(value, found)
        return found[0] if found else None


def completions(typed: str, most: int = MOST) -> list[str]:
    """Paths that begin with `typed` and lie in its folder, a folder with a slash at its end; none it cannot be read.

    Hidden ones only where their dot is typed, and none whose name would act on a terminal.
    """
    if typed == "~":
        return ["~/"]
    folder, name = os.path.split(typed)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:
            fitting = (entry for entry in entries if entry.name.startswith(name) and entry.name.isprintable())
            seen = (entry for entry in fitting if name or not entry.name.startswith("."))
            first = nsmallest(most, seen, key=lambda entry: (entry.name.casefold(), entry.name))
            found = [os.path.join(folder, entry.name + "/" * is_folder(entry)) for entry in first]
    except (OSError, ValueError):
        return []
    return [path for path in found if path != typed]
