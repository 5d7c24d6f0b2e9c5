"""ShownTokenizer: the tokenizer on the screen, and how many of its merges are in force."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tui.disk.tokenizer_files import KeptMerges
from tui.state.tokenizers import steps_known

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer
    from bpe_core.trainer import Merge
    from bpe_core.worker.messages import Started
    from tui.screen.main import MainScreen
    from tui.state.tokenizers import Loaded

_PATIENCE: Final = 0.1
"""Seconds that a step waits for the text before it is drawn without it."""


def same(shown: Loaded, loaded: Loaded) -> bool:
    """Whether a file holds the tokenizer that is on the screen, so that what is known of it can stay."""
    if shown.path != loaded.path or shown.tokenizer.pattern != loaded.tokenizer.pattern:
        return False
    old, new = shown.tokenizer.vocabulary, loaded.tokenizer.vocabulary
    if shown.digest or not (old.knows_merges and new.knows_merges):
        return shown.digest == loaded.digest != ""
    return old.merges == new.merges and old.special_tokens == new.special_tokens


class ShownTokenizer:
    """Replaces the screen's `tokenizer`, `path`, `step` and `in_force`, which nobody else does, and fills the log."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.loaded: Loaded | None = None
        """The tokenizer, unless it is being trained."""
        self._before: Loaded | None = None
        """The one that was shown before the training that is under way."""
        self.is_drawn = True
        """Whether the step that was gone to last has been drawn."""
        self._next: int | None = None
        """The step to go to once it has."""

    def show(self, loaded: Loaded) -> None:
        """Show another tokenizer, all of its merges in force, as far as they are known."""
        tokenizer, pane = loaded.tokenizer, self._screen.training
        self.loaded, self._before = loaded, None
        record = tokenizer.record
        pane.begin(record.n_tokens_start if record else 0, record.n_bytes if record else 0)
        if tokenizer.vocabulary.knows_merges:
            pane.show(KeptMerges(tokenizer))
        self._put(tokenizer, str(loaded.path), steps_known(tokenizer))

    def recovered(self) -> None:
        """Show the merges of the tokenizer on the screen, which were recovered from its ranks."""
        if self.loaded is not None:
            tokenizer = self.loaded.tokenizer
            self._screen.training.show(KeptMerges(tokenizer))
            self._put(tokenizer, str(self.loaded.path), tokenizer.step)
            self._screen.session.lanes.recovered()
            self._screen.editor.inspect()

    def begin(self, tokenizer: Tokenizer, started: Started) -> None:
        """Show a tokenizer that is being trained and has no merges yet."""
        self._before, self.loaded = self.loaded or self._before, None
        self._screen.training.begin(started.tokens, started.n_bytes)
        self._put(tokenizer, "", 0)

    def grow(self, tokenizer: Tokenizer, merges: list[Merge]) -> None:
        """Show the trained tokenizer with these merges more; the step in force follows if it was the newest."""
        screen = self._screen
        following = screen.tokenizer is not None and screen.step == screen.tokenizer.step
        screen.training.learned(merges)
        screen.tokenizer = tokenizer
        if following:  # else what is in force stays as it is: the editor need not split its text anew
            self.go_to(tokenizer.step)

    def keep(self, learned: Loaded) -> None:
        """Show the tokenizer that was trained, whole, and from now on the one in its file."""
        self.loaded, self._before = learned, None
        self._put(learned.tokenizer, str(learned.path), self._screen.step)

    def take_back(self) -> Loaded | None:
        """The tokenizer shown before a training that learned nothing; None if the training was never shown."""
        before, self._before = self._before, None
        return before if self.loaded is None else None

    def _put(self, tokenizer: Tokenizer, path: str, step: int) -> None:
        self._screen.path = path
        self._screen.tokenizer = tokenizer
        self.go_to(step)

    async def go_to_soon(self, step: int) -> None:
        """Go to a step once the one before has been drawn: of those that are asked for meanwhile, only the last counts.

        A mouse tells of more places in a second than can be drawn.
        """
        if not self.is_drawn:
            self._next = self._nearest(step)
            return
        self.go_to(step)
        self.is_drawn = False
        # Textual draws what first says that it has changed, and all else in another frame; the screen waits here until
        # the text knows which of its rows have, so that all of a step is in one.
        painted = asyncio.Event()
        if self._screen.editor.area.call_later(painted.set):
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    await painted.wait()
        self._screen.call_after_refresh(self._drawn)

    async def _drawn(self) -> None:
        self.is_drawn = True
        if self._next is not None:
            await self.go_to_soon(self._next)

    @property
    def asked_for(self) -> int:
        """The step that was asked for last; it is in force, or will be soon."""
        return self._screen.step if self._next is None else self._next

    def _nearest(self, step: int) -> int:
        """A step number, clamped to the merges that the tokenizer has."""
        tokenizer = self._screen.tokenizer
        return max(0, min(step, steps_known(tokenizer))) if tokenizer else 0

    def go_to(self, step: int) -> None:
        """Put another step of the tokenizer in force: the nearest that there is."""
        self._next = None
        screen, tokenizer = self._screen, self._screen.tokenizer
        if tokenizer is None:
            return
        screen.step = step = self._nearest(step)
        screen.in_force = tokenizer if step == steps_known(tokenizer) else tokenizer.at(step)
