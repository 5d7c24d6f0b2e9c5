"""Listed tokenizers: those trained here, opened from elsewhere, or found in the caches of other programs."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import counted, visible
from tui.dialogs.answers import title
from tui.dialogs.ask import Ask
from tui.dialogs.confirm import Confirm
from tui.disk import config, tokenizer_files
from tui.features.feature import Feature, StateScreen, sentence_of
from tui.state import KnownTokenizer, Trouble
from tui.terminal.background import in_thread

MOST_OPENED: Final = 20
"""How many tokenizers from other places the list remembers."""


class ListedTokenizers(Feature):
    """Replaces the screen's `kept`, the list of tokenizers."""

    def __init__(self, screen: StateScreen) -> None:
        super().__init__(screen)
        self._own: tuple[KnownTokenizer, ...] = ()
        """The tokenizers trained here."""
        self._found: tuple[KnownTokenizer, ...] = ()
        """The tokenizers of other programs on this computer."""
        self._troubles: dict[str, Trouble] = {}
        """Path -> what happened to the file since it was opened."""

    async def refresh(self) -> None:
        """Look again which tokenizers trained here are on the disk."""
        try:
            folder = await in_thread(config.tokenizers_folder)
            self._own = await in_thread(tokenizer_files.kept_tokenizers, folder)
        except OSError as error:
            self.screen.say(
                f"The tokenizers trained here cannot be listed. {sentence_of(error)}",
                "error",
            )
        else:
            self._list()

    def _list(self, **changes: object) -> None:
        """Update the list after these changes of the remembered values."""
        self.screen.remember(**changes)
        known = self.screen.remembered
        self.screen.kept = tokenizer_files.listed(
            self._own,
            self._found,
            known.opened,
            known.names,
            known.patterns,
            self._troubles,
        )

    async def add(self, path: Path, tokenizer: Tokenizer) -> None:
        """Add an opened tokenizer to the list, unless it was trained here. Keep the last `MOST_OPENED`."""
        await self.refresh()
        place = str(path)
        if any(known.path == place for known in self._own):
            return
        found_as = ""
        for known in self.screen.kept:
            if known.path == place:
                found_as = known.found_as
        newest = await in_thread(tokenizer_files.seen, path, tokenizer, found_as)
        # Read only now, because a search may have changed it meanwhile.
        remembered = self.screen.remembered
        opened = [known for known in remembered.opened if known.path != place]
        opened.append(newest)
        forgotten = [path for path in remembered.forgotten if path != place]
        self._troubles.pop(place, None)
        self._list(opened=tuple(opened[-MOST_OPENED:]), forgotten=tuple(forgotten))

    async def rename(self, known: KnownTokenizer) -> None:
        name = await self.screen.ask(
            Ask("What should this tokenizer be called in the list?", title, known.name)
        )
        if name is not None:
            self._list(names={**self.screen.remembered.names, known.path: name})

    async def discard(self, known: KnownTokenizer) -> None:
        """Delete the file of a tokenizer trained here, after a question. Remove any other from the list only."""
        screen = self.screen
        if known.origin == "trained":
            question = f"Delete the tokenizer {visible(known.name)}?"
            await self._delete([known], question)
            return
        if known.origin == "found":
            forgotten = screen.remembered.forgotten
            screen.remember(forgotten=(*forgotten, known.path))
            others = [found for found in self._found if found.path != known.path]
            self._found = tuple(others)
        sentence = f"{known.name} is removed from the list."
        if known.trouble != "gone":
            sentence += f" Its file {known.path} remains; open it to list it again."
        screen.say(sentence)
        self._forget(known)

    def _forget(self, known: KnownTokenizer) -> None:
        remembered = self.screen.remembered
        names = dict(remembered.names)
        names.pop(known.path, None)
        others = [opened for opened in remembered.opened if opened.path != known.path]
        self._list(opened=tuple(others), names=names)

    async def _delete(self, unwanted: Sequence[KnownTokenizer], question: str) -> None:
        if await self.screen.ask(Confirm(question, "Delete")):
            for known in unwanted:
                await in_thread(os.unlink, known.path)
                self._forget(known)
            await self.refresh()

    @property
    def of_stopped(self) -> list[KnownTokenizer]:
        """The tokenizers from stopped trainings that the user has not named and that are not on the screen."""
        used = {self.screen.path}
        used.update(self.screen.remembered.names)
        used.update(lane.choice.path for lane in self.screen.lanes)
        return [
            known for known in self._own if known.stopped and known.path not in used
        ]

    async def delete_stopped(self) -> None:
        unnamed = self.of_stopped
        if not unnamed:
            self.screen.say(
                "All tokenizers from stopped trainings have a name or are in use."
            )
            return
        names = visible(", ".join(known.name for known in unnamed))
        n = counted(len(unnamed), "unnamed tokenizer")
        await self._delete(unnamed, f"Delete {n} from stopped trainings: {names}?")

    def check_files(self, *, everywhere: bool = False) -> None:
        """Check the listed files in the background; `everywhere`: first search the caches of other programs."""
        task = "check"
        if everywhere:
            task = "search"
        self.begin(partial(self._check, everywhere), task)

    async def _check(self, everywhere: bool) -> None:
        if everywhere:
            await self._search()
        screen = self.screen
        for opened in screen.remembered.opened:
            trouble = await in_thread(tokenizer_files.trouble_of, opened)
            newest = opened
            if not trouble:
                pattern = screen.pattern_for(Path(opened.path))
                newest = await in_thread(tokenizer_files.described, opened, pattern)
            latest = list(screen.remembered.opened)
            for index, entry in enumerate(latest):
                # None is, if it was opened again or removed meanwhile.
                if entry is opened:
                    latest[index] = newest
                    self._troubles[opened.path] = trouble
                    screen.remember(opened=tuple(latest))
        self._list()

    async def _search(self) -> None:
        """Find the tokenizers of other programs."""
        remembered = self.screen.remembered
        self._found = await in_thread(tokenizer_files.found, remembered.forgotten)
        names = {known.path: known.found_as for known in self._found}
        opened = [
            replace(entry, found_as=names.get(entry.path, entry.found_as))
            for entry in self.screen.remembered.opened
        ]
        self._list(opened=tuple(opened))
