"""Loading: reads a tokenizer from a file. Recovery: finds the merges of a tokenizer whose file holds ranks only."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.errors import PatternNeededError
from bpe_core.visible import visible
from tui.dialogs.ask_pattern import AskPattern
from tui.disk.tokenizer_files import load_file, without_odd_record
from tui.owners.owner import Awaited, Host
from tui.state.tokenizers import Loaded
from tui.terminal.background import in_thread

RECOVERY_SLICE: Final = 0.01
"""Seconds of recovering merges at a time, short enough for a frame."""
RECOVERY_PAUSE: Final = 0.02
"""Seconds from one slice to the next, for keys and drawing."""


class Loading(Awaited):
    """Reads beside the screen, and then tells of the tokenizer.

    `pattern_for` is the split pattern that was given for a file earlier; `remember` keeps one for the next time.
    """

    def __init__(
        self,
        host: Host,
        publish: Callable[[], None],
        loaded: Callable[[Loaded], None],
        pattern_for: Callable[[Path], str | None],
        remember: Callable[[Path, str], None],
    ) -> None:
        super().__init__(host, publish)
        self._loaded = loaded
        self._pattern_for = pattern_for
        self._remember = remember

    def load(self, path: Path) -> None:
        """Load this file; a file that is still being loaded is given up."""
        self._begin(partial(self._load, path))

    async def _load(self, path: Path) -> None:
        self._replace(f"loading {visible(path.name)} …")
        loaded = await read(self._host, path, self._pattern_for, self._remember)
        self._replace("")
        if loaded is None:
            return
        tokenizer = await in_thread(without_odd_record, loaded.tokenizer)
        if tokenizer is not loaded.tokenizer:
            self._host.say(
                f"{path.name} tells counts that cannot be those of its merges; they are left out.", "warning"
            )
        self._loaded(replace(loaded, tokenizer=tokenizer))


async def read(
    host: Host, path: Path, pattern_for: Callable[[Path], str | None], remember: Callable[[Path, str], None]
) -> Loaded | None:
    """The tokenizer in a file; a split pattern that the file does not tell is asked for, once; None if none is given.

    For `pattern_for` and `remember` see `Loading`.
    """
    try:
        loaded = await in_thread(load_file, path, pattern_for(path))
    except PatternNeededError:
        question = f"{visible(path.name)} holds ranks only. How does it split a text?"
        pattern = await host.ask(AskPattern(question))
        if pattern is None:
            return None
        remember(path, pattern)
        loaded = await in_thread(load_file, path, pattern)
    return loaded


class Recovery(Awaited):
    """Recovers merges in slices between two frames; `publish` is told how far it is."""

    def __init__(self, host: Host, publish: Callable[[], None], found: Callable[[], None]) -> None:
        super().__init__(host, publish)
        self._found = found

    def recover(self, loaded: Loaded) -> None:
        """Recover the merges of this tokenizer; a recovery under way is given up."""
        self._begin(partial(self._recover, loaded))

    async def _recover(self, loaded: Loaded) -> None:
        vocabulary = loaded.tokenizer.vocabulary
        while not vocabulary.recover(RECOVERY_SLICE):
            self._replace(f"recovering the merges from the ranks … {vocabulary.recovered_share:.0%}")
            await asyncio.sleep(RECOVERY_PAUSE)
        await in_thread(len, vocabulary.merges)  # makes their tables, too
        self._replace("")
        self._found()
