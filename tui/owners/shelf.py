"""Shelf: the tokenizers that can be put in force: kept here, left by other programs, opened from elsewhere."""

import asyncio
from collections.abc import Callable

from tui import config
from tui.found import found_tokenizers
from tui.owners.owner import Host, Owner
from tui.shelf import kept_tokenizers
from tui.state import Kept


class Shelf(Owner[tuple[Kept, ...]]):
    """The list of them, those that were trained here first, the newest of them in front."""

    def __init__(self, host: Host, publish: Callable[[tuple[Kept, ...]], None]) -> None:
        super().__init__(host, (), publish)
        self._found: tuple[Kept, ...] = ()
        self._opened: dict[str, Kept] = {}

    def refresh(self) -> None:
        """List them anew. Raises OSError if this computer gives no folder for those that are kept."""
        listed = (*kept_tokenizers(config.tokenizers_folder()), *self._found)
        paths = {kept.path for kept in listed}
        self._replace((*listed, *(kept for path, kept in self._opened.items() if path not in paths)))

    def add(self, opened: Kept) -> None:
        """One that lies anywhere was opened: it stays in the list."""
        self._opened[opened.path] = opened
        self.refresh()

    def look_elsewhere(self) -> None:
        """Look beside the screen for what other programs keep."""
        self._begin(self._look)

    async def _look(self) -> None:
        self._found = tuple(await asyncio.to_thread(found_tokenizers))
        self.refresh()
