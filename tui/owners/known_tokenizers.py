"""Shelf: the tokenizers that can be put in force: kept here, left by other programs, opened from elsewhere."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from tui.disk import config
from tui.disk.other_programs import found_tokenizers
from tui.disk.tokenizer_files import kept_tokenizers
from tui.owners.owner import Host, Owner, in_thread
from tui.state import Kept, name_of

MOST_OPENED: Final = 20
"""Tokenizers from elsewhere that are remembered."""


class Shelf(Owner[tuple[Kept, ...]]):
    """The list of them, those that were trained here first, the newest of them in front."""

    def __init__(self, host: Host, publish: Callable[[tuple[Kept, ...]], None]) -> None:
        super().__init__(host, (), publish)
        self._found: tuple[Kept, ...] = ()
        self._opened: dict[str, Kept] = {}

    @property
    def opened(self) -> tuple[str, ...]:
        """The paths of those that were opened from elsewhere, in the order in which that was done."""
        return tuple(self._opened)

    def bring_back(self, paths: Iterable[str]) -> None:
        """Those that were opened earlier, as far as they are still there."""
        for path in filter(os.path.exists, paths):
            self._opened[path] = Kept(path, name_of(Path(path)), 0, is_own=False)

    def refresh(self) -> None:
        """List them anew. Raises OSError if this computer gives no folder for those that are kept."""
        listed = (*kept_tokenizers(config.tokenizers_folder()), *self._found)
        paths = {kept.path for kept in listed}
        self._replace((*listed, *(kept for path, kept in self._opened.items() if path not in paths)))

    def add(self, path: Path, n_vocab: int) -> None:
        """One was opened: if it lies elsewhere it stays in the list, among the last `MOST_OPENED`."""
        self.refresh()
        if str(path) not in {kept.path for kept in self._value} - set(self._opened):
            self._opened.pop(str(path), None)
            self._opened[str(path)] = Kept(str(path), name_of(path), n_vocab, is_own=False)
            for oldest in list(self._opened)[:-MOST_OPENED]:
                del self._opened[oldest]
            self.refresh()

    def forget(self, path: Path) -> bool:
        """Take one that was opened from elsewhere off the list; whether it was such a one."""
        known = self._opened.pop(str(path), None) is not None
        self.refresh()
        return known

    def look_elsewhere(self) -> None:
        """Look beside the screen for what other programs keep."""
        self._begin(self._look)

    async def _look(self) -> None:
        self._found = tuple(await in_thread(found_tokenizers))
        self.refresh()
