"""The values of the screen, and the base class of features: tasks, and errors shown as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
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
    from tui.features.all import Features
    from tui.features.stage import Stage
    from tui.panes.audit import AuditPane
    from tui.panes.compare import ComparePane
    from tui.panes.corpus import CorpusPane
    from tui.panes.editor import EditorPane
    from tui.panes.training import TrainingPane

BUSY: Final = "A training is running. Stop it first (F8); its merges are kept."
NO_TEXT: Final = "No text is chosen. Press F2 and mark a text with the space bar."
NO_TOKENIZER: Final = "There is no tokenizer yet. Train one (F6), or open one."

ABOUT_TOKENIZER: Final = "about the tokenizer on the screen"
"""The group of workers that are cancelled when another tokenizer is shown."""

_REPLACED_BY_LESSONS: Final = (
    "tokenizer",
    "corpus",
    "reference",
    "options",
    "lanes",
)
"""Fields of `Configuration` that a lesson changes on the screen, but not in the file."""

Answer = TypeVar("Answer")
Work = Callable[[], Awaitable[None]]


class StateScreen(RestylingScreen):
    """The state of the app: one reactive variable for each value. Each value is replaced by one feature."""

    corpus: var[state.Corpus] = var(state.Corpus())
    totals: var[state.Totals | None] = var(None)
    """The size of the chosen texts; None until they are counted."""
    options: var[state.TrainingOptions] = var(state.TrainingOptions())
    """The options of the next training, also used by previews and counts."""
    run: var[state.Run] = var(state.Run())
    """The progress of the training, or how the last one ended."""
    pace: var[int] = var(0)
    """Seconds in which all merges are shown; 0 shows each without delay."""
    notice: var[str] = var("")
    """Which tokenizer is being fetched, loaded or recovered, in a few words; or ""."""
    kept: var[tuple[state.KnownTokenizer, ...]] = var(())
    """The list of tokenizers that can be used."""
    tokenizer: var[Tokenizer | None] = var(None, always_update=True)
    """The tokenizer with the merges shown so far. Equal tokenizers can differ in their records."""
    path: var[str] = var("")
    """The file of that tokenizer; "" while it is being trained."""
    step: var[int] = var(0)
    """How many of its merges the editor applies."""
    in_force: var[Tokenizer | None] = var(None)
    """The tokenizer after `step` merges, which the editor applies."""
    playing: var[bool] = var(False)
    """Whether `step` advances with time."""
    goal: var[str] = var("")
    """Until which condition it advances, or which one was reached; "" without a condition."""
    lanes: var[tuple[state.ShownLane, ...]] = var(())
    """The lanes of the editor after the first."""
    curve_under: var[state.RunCurve | None] = var(None)
    """The curve of another training, drawn under the curve of this tokenizer."""
    explained: var[state.StepExplained] = var(state.StepExplained())
    audit: var[state.Audit] = var(state.Audit())
    token_lines: var[state.TokenLines] = var(state.TokenLines())
    comparison: var[state.ComparisonRun] = var(state.ComparisonRun())
    on_stage: var[bool] = var(False)
    """Whether the editor's text and its merges are alone on the screen, without panes."""
    active: var[str] = var("editor", init=False)
    """The pane that has the focus, or had it last."""
    caption: var[str] = var("")
    """The progress of a lesson and, on a second line, its text; "" outside of lessons."""
    question: var[str] = var("")
    """What a lesson asks, until the answer is known."""

    features: Features
    """They exist once the panes are loaded."""
    stage: Stage
    editor: EditorPane
    # These four exist once they are mounted:
    corpus_pane: CorpusPane
    training: TrainingPane
    audit_pane: AuditPane
    compare_pane: ComparePane

    def __init__(self, configuration: Configuration) -> None:
        super().__init__()
        self.remembered = configuration
        """The values that the next start restores."""
        pace = configuration.pace
        if pace not in state.PACES:
            pace = state.USUAL_PACE
        self.set_reactive(StateScreen.pace, pace)
        self.opening = ""
        """The title of the arguments still being read; "" after the user has chosen other texts."""
        self.own_text: str | None = None
        """The user's text during a lesson, which has the editor; None outside of lessons."""
        self.own_place = state.EditorPlace()
        """The place in that text."""
        self.last_words: list[str] = []
        """Sentences to print in the terminal after the app has left it."""
        self.at_end = ExitStack()
        """Closed when the app ends, after all other work."""
        self._write_problem = ""
        # Not the values of the file at first: a command line may have changed them.
        self._written: Configuration | None = None
        self._writing: asyncio.Task[None] | None = None

    # Panes, laid out by the main screen

    def action_show(self, pane: str) -> None:
        """Show a pane, and give it the focus."""
        raise NotImplementedError

    def show_panes(self) -> None:
        """Show the panes that fit on the screen, and hide the others."""
        raise NotImplementedError

    @property
    def panes_in_front(self) -> dict[str, str]:
        """Place -> the pane that is shown there if there is room."""
        raise NotImplementedError

    def put_in_front(self, panes: dict[str, str]) -> None:
        """Show the panes that were in front at another time."""
        raise NotImplementedError

    def show_log(self, *, even_alone: bool) -> None:
        """Show the merge log without moving the focus.

        A screen with room for one pane shows it only if `even_alone` is true.
        """
        raise NotImplementedError

    def go_to_log(self) -> bool:
        """Focus the merge log, unless it is visible next to the audit. Return whether it was focused."""
        raise NotImplementedError

    # For features

    def say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """Show a sentence as a toast, unless a toast with the same sentence is visible."""
        shown = visible(shortened(sentence, LONGEST))
        visible_sentences = [toast.message for toast in self.app._notifications]
        if shown not in visible_sentences:
            self.notify(shown, severity=severity, markup=False)

    async def ask(self, question: Screen[Answer]) -> Answer:
        """Show a question and wait for the answer. Call it in a worker."""
        return await self.app.push_screen_wait(question)

    def remember(self, **changes: object) -> None:
        """Change values that the next start restores, and write them in the background.

        During a lesson, values that the lesson has replaced are not changed.
        """
        if self.own_text is not None:
            for name in _REPLACED_BY_LESSONS:
                changes.pop(name, None)
        self.remembered = replace(self.remembered, **changes)  # type: ignore[arg-type]
        is_writing = self._writing is not None and not self._writing.done()
        if self.remembered != self._written and not is_writing:
            self._writing = asyncio.create_task(self._write())

    def pattern_for(self, path: Path) -> str | None:
        """Return the pattern the user chose for a tokenizer file; None for the pattern of the file."""
        return self.remembered.patterns.get(str(path))

    async def _write(self) -> None:
        """Write `remembered` until the file has its newest value. Show each new problem once."""
        while self._written != self.remembered:
            self._written = self.remembered
            problem = ""
            try:
                await in_thread(save_configuration, self._written)
            except OSError as error:
                problem = f"Your choices cannot be saved for the next start: {error.strerror}."
            if problem and problem != self._write_problem and self.is_attached:
                self.say(problem, "warning")
            self._write_problem = problem


class Feature:
    """Does what keys, buttons, the palette and panes ask for. It replaces only its own values of the screen."""

    def __init__(self, screen: StateScreen) -> None:
        self.screen = screen
        self._tasks: dict[str, Worker[None]] = {}

    @property
    def is_working(self) -> bool:
        """Whether the task without a name is running."""
        task = self._tasks.get("")
        return task is not None and not (task.is_finished or task.is_cancelled)

    def cancel(self, task: str = "") -> None:
        if task in self._tasks:
            self._tasks.pop(task).cancel()

    def begin(
        self, work: Work, task: str = "", *, about_tokenizer: bool = False
    ) -> None:
        """Start a task, and cancel the running one of the same name.

        A task `about_tokenizer` is also cancelled when another tokenizer is shown.
        """
        self.cancel(task)
        group = "default"
        if about_tokenizer:
            group = ABOUT_TOKENIZER
        self._tasks[task] = self.start_worker(work, group)

    def start_worker(self, work: Work, group: str = "default") -> Worker[None]:
        """Do `work` in the background; report an expected error with `failed`."""
        return self.screen.run_worker(
            partial(guarded, self.screen, work, self.failed), group=group
        )

    def refuse_while_training(self) -> bool:
        """Return whether a training is running, and tell the user if so."""
        if self.screen.run.busy:
            self.screen.say(BUSY, "warning")
        return self.screen.run.busy

    def failed(self, sentence: str) -> None:
        """Show why a task failed."""
        self.screen.say(sentence, "error")


async def guarded(
    screen: StateScreen, work: Work, failed: Callable[[str], None]
) -> None:
    """Do `work`. Pass an expected error to `failed` as a sentence; raise others, which are bugs."""
    try:
        await work()
    except (BpeError, OSError) as error:
        failed(sentence_of(error))
    except NoMatches:
        # When a screen ends, its widgets are removed before its workers are cancelled.
        if screen.app.is_running and screen.is_attached:
            raise


def sentence_of(error: BpeError | OSError) -> str:
    """Return an expected error as a sentence. Our own errors are sentences already.

    >>> sentence_of(PermissionError(13, "Permission denied", "/data"))
    '/data cannot be used: Permission denied.'
    """
    if isinstance(error, OptionError):
        # Imported here, because the engine is not loaded before the first frame.
        from bpe_core.tokenizer.training_record import named_as_on_screen

        return named_as_on_screen(str(error))
    if isinstance(error, BpeError):
        return str(error)
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename:
        return f"{error.filename} cannot be used: {reason}."
    return f"The system reports an error: {reason}."
