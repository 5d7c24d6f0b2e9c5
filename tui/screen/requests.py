"""What keys, buttons and panes ask of the main screen, a line each: the session does it, the state shows what came."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from textual import on, work
from textual.reactive import var
from textual.screen import Screen

from bpe_core.cli.wire import ONE_STEP, Command
from bpe_core.errors import LONGEST
from bpe_core.visible import shortened, visible
from tui import messages
from tui.commands import applies
from tui.screen.selective_styling import RestylingScreen
from tui.state import (
    Audit,
    Comparison,
    Corpus,
    KnownTokenizer,
    Run,
    ShownLane,
    StepExplained,
    TokenLines,
    Totals,
    TrainingOptions,
    WhatIf,
)

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from bpe_core.tokenizer import Tokenizer
    from tui.disk.config import Configuration
    from tui.screen.session import Session

Answer = TypeVar("Answer")


class Memory(Protocol):
    """What the screen needs of the app: something that remembers."""

    configuration: Configuration
    """What comes back at the next start, as it is now."""

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it."""

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it."""


class RequestScreen(RestylingScreen):
    """The state that panes are bound to, and whatever can be asked for; `MainScreen` is what one sees of it."""

    # What the panes are bound to; `tui.screen.session` tells who replaces it.

    corpus: var[Corpus] = var(Corpus())
    """The texts chosen."""
    options: var[TrainingOptions] = var(TrainingOptions())
    """What the next training is asked for; by their pattern texts are previewed and counted."""
    totals: var[Totals | None] = var(None)
    """What the chosen texts amount to; None while that is not known."""
    run: var[Run] = var(Run())
    """How far the training is, or how the last one ended."""
    pace: var[int] = var(0)
    """Merges a second that a training makes at most; 0 for as many as it can."""
    notice: var[str] = var("")
    """What is being fetched, loaded or recovered, in a few words; empty while nothing is."""
    tokenizer: var[Tokenizer | None] = var(None)
    """The tokenizer on the screen with all of its merges; while a training runs, those it has learned so far."""
    path: var[str] = var("")
    """Where that tokenizer is kept; empty while it is being trained."""
    playing: var[int] = var(0)
    """Merges a second that are played in the editor; 0 while they are not."""
    step: var[int] = var(0)
    """How many of its merges are in force."""
    in_force: var[Tokenizer | None] = var(None)
    """The tokenizer after that many merges: what the editor shows."""
    explained: var[StepExplained] = var(StepExplained())
    """Why the merge of a step was chosen, and the pairs after it, as far as somebody has asked."""
    audit: var[Audit] = var(Audit())
    """How far the audit of this tokenizer is, and what it found."""
    lanes: var[tuple[ShownLane, ...]] = var(())
    """The lanes of the editor after the first."""
    comparison: var[Comparison] = var(Comparison())
    """How far a comparison of tokenizers is, and what it found."""
    what_if: var[WhatIf] = var(WhatIf())
    """The tokens that another split pattern would kill."""
    token_lines: var[TokenLines] = var(TokenLines())
    """The lines of the chosen texts in which a token occurs that somebody wants to know of."""
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    """The tokenizers that can be put in force."""

    session: Session
    """Holds the owners; there once the panes are."""

    # What the owners need

    def say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """Tell the user, whatever characters are in it, however many; what still stands there is not said twice."""
        shown = visible(shortened(sentence, LONGEST))
        if not any(said.message == shown for said in self.app._notifications):
            self.notify(shown, severity=severity, markup=False)

    async def ask(self, question: Screen[Answer]) -> Answer:
        """Show a question and wait for the answer; to be called in a worker."""
        return await self.app.push_screen_wait(question)

    @property
    def remembered(self) -> Configuration:
        """What comes back at the next start, as it is now."""
        return cast("Memory", self.app).configuration

    def remember(self, **changes: object) -> None:
        """Change what comes back at the next start."""
        cast("Memory", self.app).remember(**changes)

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it; nothing, if it is empty."""
        if sentence:
            cast("Memory", self.app).tell_at_the_end(sentence)

    # What the keys do

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
        if self.run.busy:
            self.session.training.tell(ONE_STEP)
        else:
            self.session.train(ONE_STEP)

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
    async def offer_to_go_on(self) -> None:
        """Ask whether to go on with a training that did not end."""
        await self.session.going_on.offer()

    @work
    async def action_train_until(self) -> None:
        """Ask for what should be so, and learn until it is."""
        await self.session.moments.ask_goal()

    def action_travel(self, by: int) -> None:
        """A step back or on."""
        self.session.replay.stop()
        self.session.shown.go_to(self.step + by)

    def action_play(self) -> None:
        """Play the editor's text from bytes to the last merge, or pause."""
        self.session.replay.toggle()

    def action_change_play(self, by: int) -> None:
        """Play faster (1) or slower (-1)."""
        self.session.replay.change_pace(by)

    @work
    async def action_record(self, form: str) -> None:
        """Save what would be played as an asciinema cast, or as an SVG animation."""
        await self.session.replay.record(form, self.session.files.save)

    def action_audit(self) -> None:
        """Audit the tokenizer on the screen, or stop doing so."""
        self.session.audits.audit()

    def action_compare(self) -> None:
        """Compare the tokenizers that are marked for it, or stop doing so."""
        self.session.comparisons.compare()

    def action_measure_text(self) -> None:
        """Measure the tokenizer in force on the editor's text."""
        self.session.comparisons.measure_text()

    def action_count_formats(self) -> None:
        """Count the tokens of the editor's data in several formats."""
        self.session.comparisons.count_formats()

    def action_glitch_example(self) -> None:
        """Make a glitch token, and find it."""
        self.session.glitch_example()

    @work
    async def action_what_if(self) -> None:
        """Which tokens another split pattern would kill; again: no longer."""
        await self.session.audits.ask_what_if()

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

    # What the panes tell

    @on(messages.CorpusChosen)
    def choose_corpus(self, event: messages.CorpusChosen) -> None:
        """Other texts."""
        self.session.choices.choose_corpus(event.corpus)

    @on(messages.PatternChosen)
    def choose_pattern(self, event: messages.PatternChosen) -> None:
        """Another pattern."""
        self.session.choices.choose_pattern(event.pattern)

    @on(messages.PatternWanted)
    @work
    async def ask_pattern(self) -> None:
        """A pattern that is not in the list."""
        await self.session.choices.ask_pattern()

    @on(messages.TextWanted)
    def open_source(self, event: messages.TextWanted) -> None:
        """A text of the corpus pane."""
        self.session.files.open(event.source)

    @on(messages.ExplanationWanted)
    def explain(self, event: messages.ExplanationWanted) -> None:
        """Why a merge."""
        self.session.explain(event.step)

    @on(messages.PresetChosen)
    def run_preset(self, event: messages.PresetChosen) -> None:
        """A founding example."""
        self.session.run_preset(event.name, stepping=event.stepping)

    @on(messages.TokenizerChosen)
    def use_kept(self, event: messages.TokenizerChosen) -> None:
        """A tokenizer of the list."""
        self.session.tokenizers.use(event.path)

    @on(messages.TokenizerDiscarded)
    @work
    async def discard(self, event: messages.TokenizerDiscarded) -> None:
        """A tokenizer that is no longer wanted."""
        await self.session.discard(event.path)

    @on(messages.RenameWanted)
    @work
    async def rename(self, event: messages.RenameWanted) -> None:
        """A tokenizer that should have another name."""
        await self.session.tokenizers.rename(event.path)

    @on(messages.PatternOfTokenizerWanted)
    @work
    async def change_pattern_of(self, event: messages.PatternOfTokenizerWanted) -> None:
        """A tokenizer of the list that should split in another way."""
        await self.session.tokenizers.change_pattern(event.path)

    @on(messages.TokenizersWatched)
    def watch_tokenizers(self) -> None:
        """Somebody looks at the list."""
        self.session.tokenizers.look_anew()

    @on(messages.StepRequested)
    def travel_to(self, event: messages.StepRequested) -> None:
        """Another step; whoever chooses one has seen enough of a replay."""
        self.session.replay.stop()
        self.session.shown.go_to(event.step)

    @on(messages.PictureMade)
    def save_picture(self, event: messages.PictureMade) -> None:
        """A picture of the editor's text."""
        self.session.files.save(event.picture, event.what, event.name)

    @on(messages.PlaceOpened)
    def open_place(self, event: messages.PlaceOpened) -> None:
        """A place in a text."""
        self.session.comparisons.open_place(event)

    @on(messages.FormatOpened)
    @work
    async def open_format(self, event: messages.FormatOpened) -> None:
        """The editor's data in another format."""
        await self.session.comparisons.open_format(event.name)

    @on(messages.TokenOpened)
    def open_token(self, event: messages.TokenOpened) -> None:
        """A token of the audit's list."""
        self.session.audits.open_token(event.token, event.verdict)

    @on(messages.RowsWanted)
    def export_rows(self, event: messages.RowsWanted) -> None:
        """Rows of the audit, as a file."""
        self.session.audits.export(event.rows, event.order)

    @on(messages.LinesWanted)
    def find_lines(self, event: messages.LinesWanted) -> None:
        """Lines of a token."""
        self.session.audits.find_lines(event.token)

    @on(messages.TextTried)
    def try_text(self, event: messages.TextTried) -> None:
        """A text that shows something."""
        self.session.audits.try_text(event.text, event.token)
