"""KnownTokenizers: what can be put in force: kept here, left by other programs, opened from elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypedDict

from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui.dialogs.button_questions import Confirm
from tui.dialogs.questions import AskTitle
from tui.disk import config, opened_tokenizers
from tui.disk.config import Configuration
from tui.disk.tokenizer_files import kept_tokenizers
from tui.owners.owner import Host, Owner, sentence_of
from tui.state.tokenizers import KnownTokenizer, Opened, Trouble
from tui.terminal.background import in_thread

MOST_OPENED: Final = 20
"""Tokenizers from elsewhere that are remembered."""


class Remembered(TypedDict):
    """What of the list comes back at the next start, under the names of the configuration."""

    opened: tuple[Opened, ...]
    names: dict[str, str]
    forgotten: tuple[str, ...]


class KnownTokenizers(Owner[tuple[KnownTokenizer, ...]]):
    """The list of them, those that were trained here first, the newest of them in front."""

    def __init__(self, host: Host, publish: Callable[[tuple[KnownTokenizer, ...]], None]) -> None:
        super().__init__(host, (), publish)
        self._own: tuple[KnownTokenizer, ...] = ()
        self._found: tuple[KnownTokenizer, ...] = ()
        self._opened: dict[str, Opened] = {}
        self._names: dict[str, str] = {}
        self._forgotten: tuple[str, ...] = ()
        self._troubles: dict[str, Trouble] = {}
        self._to_search = False
        """Whether it is still to be found out what other programs keep."""

    @property
    def remembered(self) -> Remembered:
        """What is to come back at the next start."""
        return {"opened": tuple(self._opened.values()), "names": self._names, "forgotten": self._forgotten}

    def bring_back(self, configuration: Configuration) -> None:
        """Those that were opened earlier; whether they are still there is found out by `look_anew`."""
        self._opened = {one.path: one for one in configuration.opened}
        self._names, self._forgotten = configuration.names, configuration.forgotten

    def refresh(self) -> None:
        """List them anew. Raises OSError if this computer gives no folder for those that are kept."""
        self._own = kept_tokenizers(config.tokenizers_folder())
        self._list()

    def _list(self) -> None:
        self._replace(
            opened_tokenizers.listed(self._own, self._found, self._opened.values(), self._names, self._troubles)
        )

    def add(self, path: Path, tokenizer: Tokenizer) -> None:
        """One was opened: if it was not trained here it stays in the list, among the last `MOST_OPENED`."""
        self.refresh()
        place = str(path)
        if place not in {kept.path for kept in self._own}:
            found_as = next((one.found_as for one in self._value if one.path == place), "")
            self._opened.pop(place, None)
            self._opened[place] = opened_tokenizers.seen(path, tokenizer, found_as)
            for oldest in list(self._opened)[:-MOST_OPENED]:
                del self._opened[oldest]
            self._troubles.pop(place, None)
            self._forgotten = tuple(path for path in self._forgotten if path != place)
            self._list()

    def list_anew(self) -> None:
        """List them anew, or say why they cannot be."""
        try:
            self.refresh()
        except OSError as error:
            self._host.say(f"The kept tokenizers cannot be listed. {sentence_of(error)}", "error")

    async def rename(self, path: Path) -> None:
        """Ask for another name in the list; the file keeps its own."""
        known = next((one for one in self._value if one.path == str(path)), None)
        if known is None:
            return
        name = await self._host.ask(AskTitle("What should this tokenizer be called in the list?", known.name))
        if name is not None:
            self._names = {**self._names, known.path: name}
            self._list()

    async def discard(self, path: Path) -> None:
        """Delete a tokenizer that was trained here, if that is really meant; any other only leaves the list."""
        known = next((one for one in self._value if one.path == str(path)), None)
        if known is None:
            return
        if known.origin == "trained":
            await self._delete(path, known.name)
        else:
            self._forget(known)
        self.list_anew()

    async def _delete(self, path: Path, name: str) -> None:
        if await self._host.ask(Confirm(f"Delete the tokenizer {visible(name)}?", "Delete")):
            try:
                await in_thread(path.unlink)
                self._names = {file: name for file, name in self._names.items() if file != str(path)}
            except OSError as error:
                self._host.say(f"{path} could not be deleted: {error.strerror}.", "error")

    def _forget(self, known: KnownTokenizer) -> None:
        self._opened.pop(known.path, None)
        self._names = {file: name for file, name in self._names.items() if file != known.path}
        if known in self._found or known.origin == "found":
            self._forgotten = (*self._forgotten, known.path)
            self._found = tuple(one for one in self._found if one.path != known.path)
        where = "" if known.trouble == "gone" else f" The file is where it was, {known.path}: open it to list it again."
        self._host.say(f"{known.name} is no longer in the list.{where}")

    def look_anew(self, patterns: Mapping[str, str], *, everywhere: bool = False) -> None:
        """See beside the screen what has become of the files; `everywhere`: and what other programs keep.

        `patterns` are those that were given for files that do not tell theirs.
        """
        self._to_search = self._to_search or everywhere
        self._begin(partial(self._look, dict(patterns)))

    async def _look(self, patterns: dict[str, str]) -> None:
        if self._to_search:
            self._found = await in_thread(opened_tokenizers.found, self._forgotten)
            for one in self._found:
                if one.path in self._opened:
                    self._opened[one.path] = replace(self._opened[one.path], found_as=one.found_as)
            self._to_search = False
            self._list()
        for path, opened in list(self._opened.items()):
            trouble = await in_thread(opened_tokenizers.trouble_of, opened)
            now = await in_thread(opened_tokenizers.described, opened, patterns.get(path)) if not trouble else opened
            if self._opened.get(path) is opened:  # it was not opened again, or forgotten, meanwhile
                self._opened[path], self._troubles[path] = now, trouble
        self._list()
