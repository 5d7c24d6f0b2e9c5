"""Feature: what all features have in common: the screen, one task at a time, and failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from textual.css.query import NoMatches
from textual.reactive import var
from textual.screen import Screen

from bpe_core.errors import LONGEST, BpeError, OptionError
from bpe_core.visible import shortened, visible
from tui.commands import BY_ID, PANES
from tui.state import (
    Audit,
    Comparison,
    Corpus,
    KnownTokenizer,
    Run,
    RunCurve,
    ShownLane,
    StepExplained,
    TokenLines,
    Totals,
    TrainingOptions,
)
from tui.terminal.selective import RestylingScreen
from tui.widgets.pane import Pane
from tui.widgets.title_line import ONE_PANE

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.worker import Worker

    from bpe_core.tokenizer import Tokenizer
    from tui.disk.config import Configuration
    from tui.panes.audit import AuditPane
    from tui.panes.compare import ComparePane
    from tui.panes.corpus import CorpusPane
    from tui.panes.editor import EditorPane
    from tui.panes.training import TrainingPane
    from tui.state import Requests


class Arrangement:
    """Shows and hides panes; how much room there is, the classes of the screen tell."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._in_front: dict[str, str] = {pane.place: pane.id for pane in reversed(PANES)}
        """Place -> the pane that is seen there, of those that take turns."""
        self._above = self._in_front["upper"]
        """The one above the editor where there is no room for more."""

    def turn_to(self, pane: str) -> None:
        """Let a pane be seen; those of one place take turns there."""
        place = BY_ID[pane].place
        self._in_front[place] = pane
        if place in ("upper", "side"):
            self._above = pane
        self.arrange()

    def arrange(self) -> None:
        """Show the panes that there is room for: one, or one above the editor, or one at each place.

        Where there is no side, a pane that belongs there takes the editor's room too, while it has the focus.
        """
        active = self._screen.active
        seen = {self._above, self._in_front["left"]}
        seen |= {self._in_front["lower"]} if BY_ID[active].place != "side" else set()
        seen = {active} if self._shows_one else set(self._in_front.values()) if self._shows_all else seen
        for pane in self._screen.query(Pane):
            pane.display = pane.id in seen
        for container in self._screen.query("#work"):
            container.display = any(BY_ID[pane].place != "left" for pane in seen)

    @property
    def _shows_all(self) -> bool:
        return self._screen.has_class("-huge", "-high") and not self._screen.has_class("-fill")

    @property
    def _shows_one(self) -> bool:
        return any(map(self._screen.has_class, ONE_PANE))

    def show_log(self, *, even_alone: bool = False) -> None:
        """Let the merge log be seen, the focus staying where it is; where only one pane is seen, with `even_alone`."""
        if BY_ID[self._screen.active].place == "side" or (self._shows_one and even_alone):
            self.go_to_log()
        elif not self._shows_one:
            self._above = "training"
            self.arrange()

    def go_to_log(self) -> bool:
        """Put the cursor into the merge log, unless that is seen beside the audit; whether it was put there."""
        screen = self._screen
        if not self._shows_all:
            screen.active = "training"
            screen.set_focus(screen.training.log_of_merges)
        return not self._shows_all


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


Work = Callable[[], Coroutine[None, None, None]]


class Feature:
    """Does what keys, buttons, the palette and panes ask for. Of the screen's values it replaces only its own."""

    def __init__(self, screen: StateScreen) -> None:
        self.screen = screen
        self._task: Worker[None] | None = None

    @property
    def is_working(self) -> bool:
        """Whether the task is under way."""
        return self._task is not None and not (self._task.is_finished or self._task.is_cancelled)

    def cancel(self) -> None:
        """End the task; the values stay as they are."""
        if self._task is not None:
            self._task.cancel()

    def begin(self, work: Work) -> None:
        """Begin the task; the one under way is cancelled."""
        Feature.cancel(self)
        self._task = self.beside(work)

    def beside(self, work: Work) -> Worker[None]:
        """Do something beside the screen and whatever else is under way."""
        return self.screen.run_worker(partial(self._guarded, work))

    async def _guarded(self, work: Work) -> None:
        """Expected errors become a sentence; others are bugs, and raised."""
        try:
            await work()
        except (BpeError, OSError) as error:
            self.failed(sentence_of(error))
        except NoMatches:  # the work of a screen is ended after its widgets, and was about to tell one of them
            if not self.screen.is_leaving:
                raise

    def failed(self, sentence: str) -> None:
        """The task could not be done, and why."""
        self.screen.say(sentence, "error")


def sentence_of(error: BpeError | OSError) -> str:
    """What to tell of an expected failure: our own errors are sentences, the system's become one.

    >>> sentence_of(PermissionError(13, "Permission denied", "/data"))
    '/data cannot be used: Permission denied.'
    """
    if isinstance(error, OptionError):
        # The engine is not loaded before the first frame.
        from bpe_core.tokenizer.training_record import named_as_on_screen

        return named_as_on_screen(str(error))
    if isinstance(error, BpeError):
        return str(error)
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename} cannot be used: {reason}." if error.filename else f"The system refuses: {reason}."
