"""The screen's values, each replaced by one feature, and what features share: one task, and failures as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from textual.css.query import NoMatches
from textual.reactive import var
from textual.screen import Screen

from bpe_core.errors import LONGEST, BpeError, OptionError
from bpe_core.visible import shortened, visible
from tui import state
from tui.disk.config import Configuration, save_configuration
from tui.terminal.background import in_thread
from tui.terminal.selective import RestylingScreen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.worker import Worker

    from bpe_core.tokenizer import Tokenizer
    from tui.panes.audit import AuditPane
    from tui.panes.compare import ComparePane
    from tui.panes.corpus import CorpusPane
    from tui.panes.editor import EditorPane
    from tui.panes.training import TrainingPane

BUSY: Final = "A training is running: stop it first (F8), what it learned is kept."
NO_TEXT: Final = (
    "No text is chosen: press F2, go to one, and mark it with the space bar."
)
NO_TOKENIZER: Final = "There is no tokenizer yet: train one (F6), or open one."
_OF_LESSONS: Final = (
    "tokenizer",
    "corpus",
    "reference",
    "options",
    "lanes",
)  # what a lesson replaces
ABOUT_TOKENIZER: Final = "about the tokenizer on the screen"  # a group of workers
Answer = TypeVar("Answer")
Work = Callable[[], Awaitable[None]]


class StateScreen(RestylingScreen):
    """The state of the app, a variable for each value; features say, ask and remember through it."""

    corpus: var[state.Corpus] = var(state.Corpus())
    totals: var[state.Totals | None] = var(
        None
    )  # what the chosen texts amount to; None while that is not known
    options: var[state.TrainingOptions] = var(
        state.TrainingOptions()
    )  # of the next training, of previews and counts
    run: var[state.Run] = var(
        state.Run()
    )  # how far the training is, or how the last one ended
    pace: var[int] = var(
        0
    )  # seconds in which all merges are shown; 0 for as soon as they are learned
    notice: var[str] = var(
        ""
    )  # what is being fetched, loaded or recovered, in a few words; empty while nothing is
    kept: var[tuple[state.KnownTokenizer, ...]] = var(
        ()
    )  # the tokenizers that can be put in force
    tokenizer: var[Tokenizer | None] = var(
        None, always_update=True
    )  # merges shown so far; equal ones may have records
    path: var[str] = var(
        ""
    )  # where that tokenizer is kept; empty while it is being trained
    step: var[int] = var(0)  # how many of its merges are in force
    in_force: var[Tokenizer | None] = var(
        None
    )  # the tokenizer after that many merges: what the editor shows
    playing: var[bool] = var(False)  # whether the step in force follows the time
    goal: var[str] = var(
        ""
    )  # until when it does, or what was reached; empty where it does to the end
    lanes: var[tuple[state.ShownLane, ...]] = var(
        ()
    )  # the lanes of the editor after the first
    curve_under: var[state.RunCurve | None] = var(
        None
    )  # of another training, drawn under that of this tokenizer
    explained: var[state.StepExplained] = var(state.StepExplained())
    audit: var[state.Audit] = var(state.Audit())
    token_lines: var[state.TokenLines] = var(state.TokenLines())
    comparison: var[state.ComparisonRun] = var(state.ComparisonRun())
    active: var[str] = var(
        "editor", init=False
    )  # the pane that has the focus, or had it last
    caption: var[str] = var(
        ""
    )  # how far a lesson is and, in another line, what it says; empty outside of lessons

    editor: EditorPane
    corpus_pane: CorpusPane  # this and those below: once they are mounted
    training: TrainingPane
    audit_pane: AuditPane
    compare_pane: ComparePane

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        self.remembered = (
            configuration  # what comes back at the next start, as it is now
        )
        self.set_reactive(
            StateScreen.pace,
            configuration.pace
            if configuration.pace in state.PACES
            else state.USUAL_PACE,
        )
        self.opening = ""  # the arguments that are still looked at; "" after the user has chosen other texts
        self.own_text: str | None = (
            None  # the user's, while a lesson has the editor and all else that shows something
        )
        self.last_words: list[
            str
        ] = []  # what is to be said in the terminal once the app has left it
        self._refused = ""
        self._written: Configuration | None = (
            None  # not what was there at the start, to which a command line may add
        )
        self._writing: asyncio.Task[None] | None = None

    # The panes, which the main screen lays out

    def action_show(self, pane: str) -> None:
        """Show a pane, and give it the focus."""
        raise NotImplementedError

    def show_log(self, *, even_alone: bool) -> None:
        """Show the merge log and leave the focus where it is; where one pane is seen, only with `even_alone`."""
        raise NotImplementedError

    def go_to_log(self) -> bool:
        """Put the cursor into the merge log, unless it is seen next to the audit; return whether it did."""
        raise NotImplementedError

    # What features need

    def say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """Tell the user, whatever characters are in it, however many; what still stands there is not said twice."""
        shown = visible(shortened(sentence, LONGEST))
        if not any(said.message == shown for said in self.app._notifications):
            self.notify(shown, severity=severity, markup=False)

    async def ask(self, question: Screen[Answer]) -> Answer:
        """Show a question and wait for the answer; to be called in a worker."""
        return await self.app.push_screen_wait(question)

    def remember(self, **changes: object) -> None:
        """Change what comes back at the next start, and write it beside the screen.

        What a lesson puts in the place of what is the user's does not come back.
        """
        if self.own_text is not None:
            changes = {
                name: value
                for name, value in changes.items()
                if name not in _OF_LESSONS
            }
        self.remembered = replace(self.remembered, **changes)  # type: ignore[arg-type]
        if self.remembered != self._written and (
            self._writing is None or self._writing.done()
        ):
            self._writing = asyncio.create_task(self._write())

    def pattern_for(self, path: Path) -> str | None:
        """The pattern that was given for a tokenizer file; None if the file's own is to be used."""
        return self.remembered.patterns.get(str(path))

    async def _write(self) -> None:
        """Write what is remembered, and again if it has changed meanwhile; that a disk refuses is said once."""
        while self._written != self.remembered:
            self._written, refused = self.remembered, ""
            try:
                await in_thread(save_configuration, self._written)
            except OSError as error:
                refused = f"What you choose cannot be remembered for the next start: {error.strerror}."
            if refused and refused != self._refused and self.is_attached:
                self.say(refused, "warning")
            self._refused = refused


class Feature:
    """Does what keys, buttons, the palette and panes ask for. Of the screen's values it replaces only its own."""

    def __init__(self, screen: StateScreen) -> None:
        self.screen = screen
        self._tasks: dict[str, Worker[None]] = {}

    @property
    def is_working(self) -> bool:
        return "" in self._tasks and not (
            self._tasks[""].is_finished or self._tasks[""].is_cancelled
        )

    def cancel(self, task: str = "") -> None:
        if task in self._tasks:
            self._tasks.pop(task).cancel()

    def begin(
        self, work: Work, task: str = "", *, about_tokenizer: bool = False
    ) -> None:
        """Begin a task; the one of this name that is under way is cancelled.

        One `about_tokenizer` is cancelled when there is another on the screen, too.
        """
        self.cancel(task)
        self._tasks[task] = self.beside(
            work, ABOUT_TOKENIZER if about_tokenizer else "default"
        )

    def beside(self, work: Work, group: str = "default") -> Worker[None]:
        return self.screen.run_worker(
            partial(guarded, self.screen, work, self.failed), group=group
        )

    def waits_for_training(self) -> bool:
        """Whether a training is under way, which is said then."""
        if self.screen.run.busy:
            self.screen.say(BUSY, "warning")
        return self.screen.run.busy

    def failed(self, sentence: str) -> None:
        self.screen.say(sentence, "error")


async def guarded(
    screen: StateScreen, work: Work, failed: Callable[[str], None]
) -> None:
    """Do `work`; an expected error becomes a sentence for `failed`, others are bugs, and raised."""
    try:
        await work()
    except (BpeError, OSError) as error:
        failed(sentence_of(error))
    except NoMatches:  # the work of a screen is ended after its widgets, and was about to tell one of them
        if screen.app.is_running and screen.is_attached:
            raise


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
    return (
        f"{error.filename} cannot be used: {reason}."
        if error.filename
        else f"The system refuses: {reason}."
    )
