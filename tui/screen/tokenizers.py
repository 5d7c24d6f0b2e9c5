"""What the main screen does about tokenizers: put a kept one in force, travel through its steps, discard it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on, work

from bpe_core.errors import BpeError, PatternNeededError
from bpe_core.visible import visible
from tui import config, messages
from tui.screen.state import StateScreen
from tui.state import Kept, Run
from tui.widgets.step_line import StepLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bpe_core.tokenizer import Tokenizer
    from tui.recovered import Loaded

RECOVERY_SLICE: Final = 0.01
"""Seconds of recovering merges at a time, short enough for a frame."""
RECOVERY_PAUSE: Final = 0.02
"""Seconds from one slice to the next, for keys and drawing."""


def steps_known(tokenizer: Tokenizer) -> int:
    """How many merges there are to travel through; 0 while those of a rank file are not recovered."""
    return tokenizer.step if tokenizer.vocabulary.knows_merges else 0


class TokenizersScreen(StateScreen):
    """The part that minds tokenizers."""

    _found: tuple[Kept, ...] = ()
    """Tokenizers that lie elsewhere on this computer."""
    _awaited = False
    """Whether a tokenizer is being fetched or loaded."""

    @on(messages.TokenizerChosen)
    def use_kept(self, event: messages.TokenizerChosen) -> None:
        """Put a kept tokenizer in force."""
        if self.run.busy:
            self._say("A training is running: stop it first (F8), what it learned is kept.", "warning")
        else:
            self._take_from(event.path)

    @work
    async def action_open_tokenizer(self) -> None:
        """Ask for a tokenizer file and put it in force."""
        from tui.dialogs import AskPath

        path = await self.app.push_screen_wait(AskPath("Which tokenizer file should be opened?"))
        if path is not None:
            self._take_from(path)

    @work(exclusive=True, group="take")
    async def _take_from(self, path: Path) -> None:
        await self._take_kept(path)

    @contextmanager
    def _waiting(self, what: str) -> Iterator[None]:
        """Say what is being waited for, as long as it takes."""
        before, self._awaited = self.run, True
        self.run = Run(detail=f"{what} …")
        try:
            yield
        finally:
            self._awaited = False
            if not self.run.busy:  # a training that was begun meanwhile tells of itself
                self.run = before

    def action_stop_waiting(self) -> None:
        """Do without the tokenizer that is being fetched or loaded; what was in force stays."""
        if self._awaited:
            self.workers.cancel_group(self, "take")

    async def _loaded(self, path: Path) -> Loaded | None:
        """The tokenizer in a file; a split pattern that the file does not tell is asked for, once."""
        from tui.dialogs import AskPattern
        from tui.recovered import load_again

        patterns, folder = self._remembered.patterns, config.recovered_folder()
        try:
            return await asyncio.to_thread(load_again, folder, path, patterns.get(str(path)))
        except PatternNeededError:
            question = f"{visible(path.name)} holds ranks only. How does it split a text?"
            pattern = await self.app.push_screen_wait(AskPattern(question))
            if pattern is None:
                return None
            self._remember(patterns={**patterns, str(path): pattern})
            return await asyncio.to_thread(load_again, folder, path, pattern)

    async def _take_kept(self, path: Path, *, keep_rows: bool = False) -> None:
        """Load a tokenizer and put it in force; `keep_rows` when the log already shows its merges."""
        self.workers.cancel_group(self, "recover")
        try:
            with nullcontext() if keep_rows else self._waiting(f"loading {visible(path.name)}"):
                loaded = await self._loaded(path)
        except BpeError as error:
            self._say(str(error), "error")
            return
        if loaded is None:
            return
        tokenizer = loaded.tokenizer
        following = not keep_rows or self.tokenizer is None or self.step == steps_known(self.tokenizer)
        if not keep_rows:
            self._forget_findings()
            record = tokenizer.record
            self.training.begin(record.n_tokens_start if record else 0, record.n_bytes if record else 0)
        self.tokenizer = tokenizer
        self.path = str(path)
        if not tokenizer.vocabulary.knows_merges:
            self.step = 0
            self._enforce()
            self._recover(loaded)
        else:
            self._show_steps(tokenizer, following=following, with_rows=not keep_rows)
        self.kept = self._shelf()
        self._remember(tokenizer=str(path))

    def _show_steps(self, tokenizer: Tokenizer, *, following: bool = True, with_rows: bool = True) -> None:
        """Show the merges of the tokenizer on the screen, now that they are known."""
        from tui.shelf import KeptMerges

        if with_rows:
            self.run = Run(detail=f"{tokenizer.step:,} merges of {Path(self.path).stem}")
            self.training.show(KeptMerges(tokenizer))
        self.query_one(StepLine).n_steps = tokenizer.step
        if following and self.step != tokenizer.step:
            self.step = tokenizer.step
        else:
            self._enforce()

    @work(exclusive=True, group="recover")
    async def _recover(self, loaded: Loaded) -> None:
        """Find the merges of a rank file in slices between two frames, and keep them for the next time."""
        from tui.recovered import remember

        tokenizer, vocabulary = loaded.tokenizer, loaded.tokenizer.vocabulary
        while not vocabulary.recover(RECOVERY_SLICE):
            self.run = Run(detail=f"recovering the merges from the ranks … {vocabulary.recovered_share:.0%}")
            await asyncio.sleep(RECOVERY_PAUSE)
        with suppress(OSError):  # a full disk costs the next start some seconds, nothing else
            await asyncio.to_thread(remember, config.recovered_folder(), loaded)
        if self.tokenizer is tokenizer:
            self._show_steps(tokenizer)
            self.editor.inspect()

    @work(exclusive=True, group="find")
    async def _find(self) -> None:
        """Look beside the screen for what other programs keep."""
        from tui.found import found_tokenizers

        self._found = tuple(await asyncio.to_thread(found_tokenizers))
        self.kept = self._shelf()

    def _shelf(self) -> tuple[Kept, ...]:
        """The tokenizers that are kept here, and those that lie elsewhere on this computer."""
        from tui.shelf import kept_tokenizers

        shelf = (*kept_tokenizers(config.tokenizers_folder()), *self._found)
        if self.tokenizer is not None and self.path and self.path not in {kept.path for kept in shelf}:
            return (*shelf, Kept(self.path, Path(self.path).stem, self.tokenizer.n_vocab, is_own=False))
        return shelf

    @on(messages.TokenizerDiscarded)
    @work
    async def discard(self, event: messages.TokenizerDiscarded) -> None:
        """Delete a kept tokenizer, if that is really meant."""
        from tui.dialogs import Confirm

        if event.path.parent != config.tokenizers_folder():
            self._say("That file is kept by another program; only tokenizers trained here can be deleted.", "warning")
            return
        if await self.app.push_screen_wait(Confirm(f"Delete the tokenizer {visible(event.path.stem)}?", "Delete")):
            try:
                event.path.unlink()
            except OSError as error:
                self._say(f"{event.path} could not be deleted: {error.strerror}.", "error")
            self.kept = self._shelf()

    @on(messages.StepRequested)
    @on(StepLine.StepChosen)
    def travel_to(self, event: messages.StepRequested | StepLine.StepChosen) -> None:
        """Put another step in force."""
        self.step = event.step

    def action_travel(self, by: int) -> None:
        """A step back or on."""
        if self.tokenizer is not None:
            self.step = max(0, min(self.step + by, steps_known(self.tokenizer)))

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Another tokenizer, or the same one grown; whoever replaces it sets the step too."""
        line = self.query_one(StepLine)
        line.n_steps = steps_known(tokenizer) if tokenizer else 0
        if tokenizer is not None:
            known = tokenizer.vocabulary.knows_merges
            line.empty = (
                "No merges yet: every token is one byte." if known else "Here one will travel through the merges."
            )

    def watch_step(self) -> None:
        """Another step of it."""
        self._enforce()

    def _enforce(self) -> None:
        """Put the present step of the present tokenizer in force."""
        tokenizer = self.tokenizer
        if tokenizer is None:
            self.in_force = None
            return
        steps = steps_known(tokenizer)
        step = min(self.step, steps)
        line = self.query_one(StepLine)
        line.step = step
        line.token = tokenizer.token_bytes(tokenizer.vocabulary.merges[step - 1][2]) if step else None
        self.in_force = tokenizer if step == steps else tokenizer.at(step)
