"""What keys, buttons and the palette ask of the main screen, a line each: the session does it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import work

from bpe_core.worker.messages import Command
from tui.commands import applies
from tui.screen.pane_requests import PaneRequestScreen
from tui.state.training import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.disk.unfinished import Note


class RequestScreen(PaneRequestScreen):
    """Whatever can be asked for, an action each; `MainScreen` is what one sees of it."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F6 is one key with three meanings; the footer shows the one it has now."""
        return applies("Everywhere", self, action)

    def watch_run(self, old: Run, new: Run) -> None:
        """Keys mean something else in another phase."""
        if old.phase != new.phase:
            self.refresh_bindings()

    async def action_train_or_pause(self) -> None:
        """What the first button does now."""
        action = "resume" if self.run.phase == "paused" else "pause" if self.run.busy else "train"
        await self.run_action(f"screen.{action}")

    def action_train(self) -> None:
        """Learn from the chosen texts with the chosen options."""
        self.session.train()

    def action_pause(self) -> None:
        """Let the worker wait."""
        self.session.training.tell(Command("pause"))

    def action_resume(self) -> None:
        """Let the worker go on."""
        self.session.training.tell(Command("run"))

    def action_step_once(self) -> None:
        """One merge and wait; without a training, begin one that waits."""
        self.session.step()

    def action_stop(self) -> None:
        """End the training; the worker saves what it learned."""
        self.session.training.tell(Command("stop"))

    def action_change_pace(self, by: int) -> None:
        """The next faster pace (1), or the next slower (-1)."""
        self.session.moments.change_pace(by)

    @work
    async def action_go_to(self) -> None:
        """Ask for a step, or for what should be so, and go there."""
        await self.session.moments.ask_step()

    @work
    async def action_more_options(self) -> None:
        """Ask for the options that are rarely needed."""
        await self.session.choices.ask_more_options()

    @work
    async def action_extend(self) -> None:
        """Learn more merges on top of those of the tokenizer on the screen."""
        if (options := self.session.choices.chosen_options()) is not None:
            await self.session.going_on.extend(options)

    @work
    async def action_fork(self) -> None:
        """Keep the merges in force, and learn others behind them."""
        if (options := self.session.choices.chosen_options()) is not None:
            await self.session.going_on.fork(options)

    @work
    async def action_export(self, what: str) -> None:
        """Save the merges, the curve or the record of the training."""
        await self.session.results.export(what)

    @work
    async def action_convert(self) -> None:
        """Save the tokenizer in force for another library."""
        await self.session.results.convert()

    @work
    async def action_show_runs(self) -> None:
        """The trainings that are kept, and where two of them part."""
        await self.session.results.show_runs()

    @work
    async def offer_to_go_on(self, notes: Sequence[Note]) -> None:
        """Ask whether to go on with trainings that did not end."""
        await self.session.going_on.offer(notes)

    @work
    async def action_train_until(self) -> None:
        """Ask for what should be so, and learn until it is."""
        await self.session.moments.ask_goal()

    async def action_travel(self, by: int) -> None:
        """A step back or on."""
        self.session.replay.stop()
        await self.session.shown.go_to_soon(self.session.shown.asked_for + by)

    async def action_play(self) -> None:
        """Play the editor's text from bytes to the last merge, or pause."""
        await self.session.replay.toggle()

    def action_change_play(self, by: int) -> None:
        """Play faster (1) or slower (-1)."""
        self.session.replay.change_pace(by)

    def action_audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        self.session.audits.audit()

    def action_compare(self) -> None:
        """Compare the tokenizers that are marked for it, or stop doing so."""
        self.session.comparisons.compare()

    def action_measure_text(self) -> None:
        """Measure the tokenizer in force on the editor's text."""
        self.session.comparisons.measure_text()

    def action_glitch_example(self) -> None:
        """Make a glitch token, and find it."""
        self.session.glitch_example()

    async def action_export_tokens(self) -> None:
        """Write the rows that the audit shows to a file."""
        await self.query_one("#audit").run_action("export")

    @work
    async def action_audit_model(self) -> None:
        """Audit with the rows of a model, or without them again."""
        await self.session.audits.with_model()

    def action_audit_texts(self) -> None:
        """Audit with the chosen texts, or without them."""
        self.session.audits.with_texts()

    @work
    async def action_change_pattern(self) -> None:
        """Show how the tokenizer on the screen splits a text, and ask for another way."""
        await self.session.tokenizers.change_pattern(Path(self.path) if self.path else None)

    def action_stop_waiting(self) -> None:
        """Do without the tokenizer that is being fetched or loaded."""
        self.session.tokenizers.stop_waiting()

    def action_choose_lanes(self) -> None:
        """Show which tokenizers are lanes of the editor, and which could be."""
        self.session.lanes.ask()

    @work
    async def action_open_tokenizer(self) -> None:
        """Ask for a tokenizer file and put it in force."""
        await self.session.tokenizers.ask_file()

    @work
    async def action_fetch_tokenizer(self) -> None:
        """Ask for a name and fetch the tokenizer."""
        await self.session.tokenizers.ask_name()

    @work
    async def action_add_path(self) -> None:
        """Ask for a path and choose it."""
        await self.session.choices.ask_path()

    @work
    async def action_ids_to_text(self) -> None:
        """Ask for ids, show their text, and put it into the editor if that is wanted."""
        await self.session.ids_to_text()

    def action_open_text(self) -> None:
        """Ask for a text and open it in the editor."""
        self.session.files.open()
