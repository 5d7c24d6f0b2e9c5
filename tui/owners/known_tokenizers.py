"""KnownTokenizers: what can be put in force: kept here, left by other programs, opened from elsewhere."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from bpe_core.visible import visible
from tui.dialogs.questions import Confirm
from tui.disk import config
from tui.disk.other_programs import found_tokenizers
from tui.disk.tokenizer_files import kept_tokenizers
from tui.owners.owner import Host, Owner, in_thread, sentence_of
from tui.state import KnownTokenizer, name_of

MOST_OPENED: Final = 20
"""Tokenizers from elsewhere that are remembered."""


class KnownTokenizers(Owner[tuple[KnownTokenizer, ...]]):
    """The list of them, those that were trained here first, the newest of them in front."""

    def __init__(self, host: Host, publish: Callable[[tuple[KnownTokenizer, ...]], None]) -> None:
        super().__init__(host, (), publish)
        self._found: tuple[KnownTokenizer, ...] = ()
        self._opened: dict[str, KnownTokenizer] = {}

    @property
    def opened(self) -> tuple[str, ...]:
        """The paths of those that were opened from elsewhere, in the order in which that was done."""
        return tuple(self._opened)

    def bring_back(self, paths: Iterable[str]) -> None:
        """Those that were opened earlier, as far as they are still there."""
        for path in filter(os.path.exists, paths):
            self._opened[path] = KnownTokenizer(path, name_of(Path(path)), 0, is_own=False)

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
            self._opened[str(path)] = KnownTokenizer(str(path), name_of(path), n_vocab, is_own=False)
            for oldest in list(self._opened)[:-MOST_OPENED]:
                del self._opened[oldest]
            self.refresh()

    def list_anew(self) -> None:
        """List them anew, or say why they cannot be."""
        try:
            self.refresh()
        except OSError as error:
            self._host.say(f"KnownTokenizer tokenizers cannot be listed. {sentence_of(error)}", "error")

    async def discard(self, path: Path) -> None:
        """Delete a kept tokenizer, if that is really meant; one from elsewhere only leaves the list."""
        is_own = path.parent == config.data_folder() / "tokenizers"
        if not is_own and self._opened.pop(str(path), None) is not None:
            self._host.say(f"{path} is no longer in the list; the file is where it was.")
        elif not is_own:
            sentence = "That file is kept by another program; only tokenizers trained here can be deleted."
            self._host.say(sentence, "warning")
        elif await self._host.ask(Confirm(f"Delete the tokenizer {visible(path.stem)}?", "Delete")):
            try:
                await in_thread(path.unlink)
            except OSError as error:
                self._host.say(f"{path} could not be deleted: {error.strerror}.", "error")
        self.list_anew()

    def search_elsewhere(self) -> None:
        """Look beside the screen for what other programs keep."""
        self._begin(self._search)

    async def _search(self) -> None:
        self._found = tuple(await in_thread(found_tokenizers))
        self.refresh()
