"""What the main screen does about tokenizers: put a kept one in force, travel through its steps, discard it."""

import asyncio
from pathlib import Path

from textual import on, work

from bpe_core import load
from bpe_core.errors import BpeError
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible
from tui import config, messages
from tui.dialogs import AskPath, Confirm
from tui.screen.state import StateScreen
from tui.shelf import kept_tokenizers, merges_of
from tui.state import Audit, Run
from tui.widgets.step_line import StepLine


class TokenizersScreen(StateScreen):
    """The part that minds tokenizers."""

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
        path = await self.app.push_screen_wait(AskPath("Which tokenizer file should be opened?"))
        if path is not None:
            self._take_from(path)

    @work(exclusive=True, group="take")
    async def _take_from(self, path: Path) -> None:
        await self._take_kept(path)

    async def _take_kept(self, path: Path, *, keep_rows: bool = False) -> None:
        """Load a tokenizer and put it in force; `keep_rows` when the log already shows its merges."""
        try:
            tokenizer = await asyncio.to_thread(load, path)
        except BpeError as error:
            self._say(str(error), "error")
            return
        following = not keep_rows or self.tokenizer is None or self.step == self.tokenizer.step
        if not keep_rows:
            self.findings, self.audit = (), Audit()
            self.audit_pane.begin()
            self.run = Run(detail=f"{tokenizer.step:,} merges of {path.stem}")
            record = tokenizer.record
            self.training.begin(record.n_tokens_start if record else 0, record.n_bytes if record else 0)
            self.training.learned(merges_of(tokenizer))
        self.tokenizer = tokenizer
        self.path = str(path)
        if following and self.step != tokenizer.step:
            self.step = tokenizer.step
        else:
            self._enforce()
        self.kept = kept_tokenizers(config.tokenizers_folder())
        self._remember(tokenizer=str(path))

    @on(messages.TokenizerDiscarded)
    @work
    async def discard(self, event: messages.TokenizerDiscarded) -> None:
        """Delete a kept tokenizer, if that is really meant."""
        if await self.app.push_screen_wait(Confirm(f"Delete the tokenizer {visible(event.path.stem)}?", "Delete")):
            try:
                event.path.unlink()
            except OSError as error:
                self._say(f"{event.path} could not be deleted: {error.strerror}.", "error")
            self.kept = kept_tokenizers(config.tokenizers_folder())

    @on(messages.StepRequested)
    @on(StepLine.StepChosen)
    def travel_to(self, event: messages.StepRequested | StepLine.StepChosen) -> None:
        """Put another step in force."""
        self.step = event.step

    def action_travel(self, by: int) -> None:
        """A step back or on."""
        if self.tokenizer is not None:
            self.step = max(0, min(self.step + by, self.tokenizer.step))

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Another tokenizer, or the same one grown; whoever replaces it sets the step too."""
        self.query_one(StepLine).n_steps = tokenizer.step if tokenizer else 0

    def watch_step(self) -> None:
        """Another step of it."""
        self._enforce()

    def _enforce(self) -> None:
        """Put the present step of the present tokenizer in force."""
        tokenizer = self.tokenizer
        if tokenizer is None:
            self.in_force = None
            return
        step = min(self.step, tokenizer.step)
        line = self.query_one(StepLine)
        line.step = step
        line.token = tokenizer.token_bytes(tokenizer.vocabulary.merges[step - 1][2]) if step else None
        self.in_force = tokenizer if step == tokenizer.step else tokenizer.at(step)
