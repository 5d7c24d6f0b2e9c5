"""Feature: what all features have in common: the screen, one task at a time, and failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING

from textual.css.query import NoMatches

from bpe_core.errors import BpeError, OptionError

if TYPE_CHECKING:
    from textual.worker import Worker

    from tui.state_screen import StateScreen

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
