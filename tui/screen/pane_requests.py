"""What panes ask of the main screen, by their messages, a line each: the session does it, the state shows what came."""

from __future__ import annotations

from textual import on, work

from tui import messages
from tui.screen.state_screen import StateScreen


class PaneRequestScreen(StateScreen):
    """Answers the messages of the panes."""

    @on(messages.CorpusChosen)
    def choose_corpus(self, event: messages.CorpusChosen) -> None:
        """Other texts."""
        self.session.choices.choose_corpus(event.corpus)

    @on(messages.WeightWanted)
    @work
    async def weigh(self, event: messages.WeightWanted) -> None:
        """How much a text counts."""
        await self.session.choices.ask_weight(event.path, event.title)

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
    async def travel_to(self, event: messages.StepRequested) -> None:
        """Another step; whoever chooses one has seen enough of a replay."""
        self.session.replay.stop()
        await self.session.shown.go_to_soon(event.step)

    @on(messages.PictureMade)
    def save_picture(self, event: messages.PictureMade) -> None:
        """A picture of the editor's text."""
        self.session.files.save(event.picture, event.what, event.name)

    @on(messages.PlaceOpened)
    def open_place(self, event: messages.PlaceOpened) -> None:
        """A place in a text."""
        self.session.comparisons.open_place(event)

    @on(messages.TokenOpened)
    def open_token(self, event: messages.TokenOpened) -> None:
        """Show where a token of the audit's list comes from."""
        self.session.audits.open_token(event.token, event.verdict)

    @on(messages.RowsWanted)
    def export_rows(self, event: messages.RowsWanted) -> None:
        """Write the rows that the audit shows to a file."""
        self.session.audits.export(event.rows, event.order)

    @on(messages.LinesWanted)
    def find_lines(self, event: messages.LinesWanted) -> None:
        """Search for the lines that hold a token."""
        self.session.audits.find_lines(event.token)

    @on(messages.TextTried)
    def try_text(self, event: messages.TextTried) -> None:
        """A text that shows something."""
        self.session.audits.try_text(event.text, event.token)
