"""Tokenizers: one is asked for by its file, its name or its row in the list, and put on the screen once it is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bpe_core.errors import BpeError
from bpe_core.formats import why_no_tokenizer
from bpe_core.formats.file import tokenizer_at
from bpe_core.visible import quoted, visible
from tui.dialogs.ask_pattern import AskPattern
from tui.dialogs.button_questions import Choose
from tui.dialogs.questions import AskName, AskPath
from tui.disk.tokenizer_files import told_pattern
from tui.owners.fetch import Fetch
from tui.owners.known_tokenizers import KnownTokenizers
from tui.owners.loading import Loading, Recovery
from tui.screen.shown_tokenizer import ShownTokenizer, same
from tui.terminal.background import in_thread

if TYPE_CHECKING:
    from tui.disk.config import Configuration
    from tui.screen.main import MainScreen
    from tui.state.tokenizers import KnownTokenizer, Loaded

BUSY: Final = "A training is running: stop it first (F8), what it learned is kept."
_LONGEST_PATTERN: Final = 120
"""Characters of a pattern that a question tells."""


class Tokenizers:
    """Fetches and loads, one at a time, and keeps the list of all that are known; `show` gets what was loaded anew."""

    def __init__(self, screen: MainScreen, shown: ShownTokenizer, show: Callable[[Loaded], None]) -> None:
        self._screen = screen
        self._shown = shown
        self._show = show
        self.fetching = Fetch(screen, self._publish_notice, self._fetched)
        self.loading = Loading(screen, self._publish_notice, self._loaded, self.pattern_for, self.remember_pattern)
        self.recovery = Recovery(screen, self._publish_notice, shown.recovered)
        self.known = KnownTokenizers(screen, self._publish_kept)

    def _publish_notice(self) -> None:
        self._screen.notice = self.fetching.value or self.loading.value or self.recovery.value

    def _publish_kept(self, kept: tuple[KnownTokenizer, ...]) -> None:
        screen, remembered = self._screen, self.known.remembered
        screen.kept = kept
        if any(getattr(screen.remembered, name) != value for name, value in remembered.items()):
            screen.remember(**remembered)

    def bring_back(self, configuration: Configuration) -> None:
        """List those that were known at the end of the last run, and look for others beside the screen."""
        self.known.bring_back(configuration)
        self.known.list_anew()
        self.known.look_anew(configuration.patterns, everywhere=True)

    def use(self, path: Path) -> None:
        """Put the tokenizer in this file in force, if it is not already."""
        if self._screen.run.busy:
            self._screen.say(BUSY, "warning")
        else:
            self.fetching.cancel()
            self.loading.load(path)

    def load_first(self) -> None:
        """Put the first of the list in force that is still there; nothing, if none is."""
        paths = (Path(one.path) for one in self._screen.kept if os.path.exists(one.path))
        if (path := next(paths, None)) is not None:
            self.loading.load(path)

    async def ask_file(self) -> None:
        """Ask for a tokenizer file and put it in force."""
        path = await self._screen.ask(AskPath("Which tokenizer file should be opened?"))
        if path is not None:
            self.use(tokenizer_at(path))

    async def ask_name(self) -> None:
        """Ask for a name and fetch the tokenizer."""
        if self._screen.run.busy:
            self._screen.say(BUSY, "warning")
            return
        name = await self._screen.ask(AskName("Which tokenizer should be fetched?"))
        if name is not None:
            self.loading.cancel()
            self.fetching.fetch(name)

    async def change_pattern(self, path: Path | None) -> None:
        """Show how a tokenizer splits a text, and ask for another way; the one that its file tells brings that back."""
        screen = self._screen
        if screen.run.busy or path is None:
            screen.say(BUSY if screen.run.busy else "There is no tokenizer on the screen yet.", "warning")
            return
        try:
            told = await in_thread(told_pattern, path)
        except BpeError as error:
            screen.say(str(error), "error")
            return
        given, name = self.pattern_for(path), visible(path.name)
        question = f"{name} holds ranks only. How does it split a text?"
        if told is not None:
            told_so = f"split as {quoted(told, _LONGEST_PATTERN)}" if told else "not split"
            question = f"{name} says that a text is {told_so}. How should it be split?"
        pattern = await screen.ask(AskPattern(question, (told if given is None else given) or ""))
        if pattern is not None and pattern != (told if given is None else given):
            self.remember_pattern(path, None if pattern == told else pattern)
            self.use(path)

    async def as_text(self, path: Path, as_text: str) -> Path | None:
        """The path, if it is to be taken for a text; None if it is none, and nothing is left to do.

        The answer `as_text` says so where it is a tokenizer; without one, that is opened as such.
        """
        if await in_thread(why_no_tokenizer, path) is not None:
            return path
        answer: int | None = 0
        if as_text:
            question = f"{visible(path.name or str(path))} {'holds' if os.path.isdir(path) else 'is'} a tokenizer."
            answer = await self._screen.ask(Choose(question, ("Open the tokenizer", as_text)))
        if answer == 0:
            self.use(tokenizer_at(path))
        return path if answer == 1 else None

    def stop_waiting(self) -> None:
        """Do without the tokenizer that is being fetched or loaded; what was in force stays."""
        self.fetching.cancel()
        self.loading.cancel()

    def _fetched(self, path: Path) -> None:
        self.use(path)
        self.known.look_anew(self._screen.remembered.patterns, everywhere=True)

    def _loaded(self, loaded: Loaded) -> None:
        shown = self._shown.loaded
        if shown is None or not same(shown, loaded):
            self._show(loaded)
        self.known.add(loaded.path, loaded.tokenizer)
        self._screen.remember(tokenizer=str(loaded.path))

    async def rename(self, path: Path) -> None:
        """Ask what a tokenizer should be called in the list."""
        await self.known.rename(path)

    def look_anew(self) -> None:
        """See beside the screen what has become of the files of the tokenizers in the list."""
        self.known.look_anew(self._screen.remembered.patterns)

    def pattern_for(self, path: Path) -> str | None:
        """The pattern that was given for a file; None if the file's own is to be used."""
        return self._screen.remembered.patterns.get(str(path))

    def remember_pattern(self, path: Path, pattern: str | None) -> None:
        """Keep the pattern that was given for a file; None: the file's own is to be used."""
        patterns = {file: given for file, given in self._screen.remembered.patterns.items() if file != str(path)}
        self._screen.remember(patterns=patterns if pattern is None else {**patterns, str(path): pattern})
