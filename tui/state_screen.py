"""StateScreen: the values that panes are bound to, each replaced by one feature; what features need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from textual.reactive import var
from textual.screen import Screen

from bpe_core.errors import LONGEST
from bpe_core.visible import shortened, visible
from tui.state.audit import Audit, TokenLines
from tui.state.comparison import Comparison
from tui.state.tokenizers import KnownTokenizer, ShownLane
from tui.state.training import Corpus, Run, RunCurve, StepExplained, Totals, TrainingOptions
from tui.terminal.selective_styling import RestylingScreen
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

    from bpe_core.tokenizer import Tokenizer
    from tui.disk.config import Configuration
    from tui.panes.audit import AuditPane
    from tui.panes.compare import ComparePane
    from tui.panes.corpus import CorpusPane
    from tui.panes.editor import EditorPane
    from tui.panes.training import TrainingPane
    from tui.requests import Requests

Answer = TypeVar("Answer")


class Memory(Protocol):
    """What the screen needs of the app: something that remembers."""

    configuration: Configuration
    """What comes back at the next start, as it is now."""

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it."""

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it."""


class PaneArrangement(Protocol):
    """Which panes are seen."""

    def show_log(self, *, even_alone: bool = False) -> None:
        """Let the merge log be seen, the focus staying where it is; where only one pane is seen, with `even_alone`."""

    def go_to_log(self) -> bool:
        """Put the cursor into the merge log, unless that is seen beside the audit; whether it was put there."""


class StateScreen(RestylingScreen):
    """The state of the app, a variable for each value; features say, ask and remember through it."""

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
    curve_under: var[RunCurve | None] = var(None)
    """The curve of another training, drawn under that of this tokenizer; None if none is."""
    explained: var[StepExplained] = var(StepExplained())
    """Why the merge of a step was chosen, and the pairs after it, as far as somebody has asked."""
    audit: var[Audit] = var(Audit())
    """How far the audit of this tokenizer is, and what it found."""
    lanes: var[tuple[ShownLane, ...]] = var(())
    """The lanes of the editor after the first."""
    comparison: var[Comparison] = var(Comparison())
    """How far a comparison of tokenizers is, and what it found."""
    token_lines: var[TokenLines] = var(TokenLines())
    """The lines of the chosen texts in which a token occurs that somebody wants to know of."""
    kept: var[tuple[KnownTokenizer, ...]] = var(())
    """The tokenizers that can be put in force."""

    active: var[str] = var("editor", init=False)
    """The pane that has the focus, or had it last."""

    requests: Requests
    """What panes may ask for; there once they are."""
    arrangement: PaneArrangement

    # The panes

    @property
    def corpus_pane(self) -> CorpusPane:
        """The pane of texts."""
        return cast("CorpusPane", self.query_one("#corpus"))

    @property
    def training(self) -> TrainingPane:
        """The pane of merges."""
        return cast("TrainingPane", self.query_one("#training"))

    @property
    def editor(self) -> EditorPane:
        """The pane of text."""
        return cast("EditorPane", self.query_one("#editor"))

    @property
    def audit_pane(self) -> AuditPane:
        """The pane of findings."""
        return cast("AuditPane", self.query_one("#audit"))

    @property
    def compare_pane(self) -> ComparePane:
        """The pane of comparisons."""
        return cast("ComparePane", self.query_one("#compare"))

    def action_show(self, pane: str) -> None:
        """Bring a pane to the front and put the cursor into it."""
        self.active = pane
        self.query_one(f"#{pane}", Pane).focus_next_part()

    # What features need

    @property
    def is_leaving(self) -> bool:
        """Whether the app ends, and its widgets go one by one."""
        return not self.app.is_running or not self.is_attached

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
