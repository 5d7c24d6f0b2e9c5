"""Owner: what all owners have in common: one task, the value that tells how far it is, and failures as sentences."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from textual.css.query import NoMatches

from bpe_core.errors import BpeError, OptionError
from bpe_core.tokenizer.training_record import named_as_on_screen

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel
    from textual.screen import Screen
    from textual.worker import Worker

Work = Callable[[], Coroutine[None, None, None]]
Value = TypeVar("Value")
Answer = TypeVar("Answer")


class Host(Protocol):
    """What an owner needs of the screen."""

    @property
    def is_leaving(self) -> bool:
        """Whether the app is ending, so that widgets may be gone."""

    def say(self, sentence: str, severity: SeverityLevel = "information") -> None:
        """Tell the user."""

    async def ask(self, question: Screen[Answer]) -> Answer:
        """Show a question and wait for the answer."""

    def run_worker(self, work: Work) -> Worker[None]:
        """Run a coroutine in the background; it is cancelled when the screen goes."""


class Owner(Generic[Value]):
    """One task at a time, and one frozen value, which `publish` is told whenever it has been replaced."""

    def __init__(self, host: Host, value: Value, publish: Callable[[Value], None]) -> None:
        self._host = host
        self._value = value
        self._publish = publish
        self._worker: Worker[None] | None = None

    @property
    def value(self) -> Value:
        """How far the task is, and what has come of it."""
        return self._value

    @property
    def is_working(self) -> bool:
        """Whether the task is under way."""
        return self._worker is not None and not (self._worker.is_finished or self._worker.is_cancelled)

    def cancel(self) -> None:
        """End the task; its value stays as it is."""
        if self._worker is not None:
            self._worker.cancel()

    def _replace(self, value: Value) -> None:
        if value is not self._value:
            self._value = value
            self._publish(value)

    def _begin(self, work: Work) -> None:
        """Begin a task; the task under way is cancelled."""
        Owner.cancel(self)
        self._worker = self._host.run_worker(partial(self._done, work))

    async def _done(self, work: Work) -> None:
        """Await work, and call `_failed` with a sentence for errors that are expected; others are bugs, and raised."""
        try:
            await work()
        except (BpeError, OSError) as error:
            self._failed(sentence_of(error))
        except NoMatches:  # the work of a screen is ended after its widgets, and was about to tell one of them
            if not self._host.is_leaving:
                raise

    def _failed(self, sentence: str) -> None:
        """Tell the user why the task could not be done."""
        self._host.say(sentence, "error")


class Awaited(Owner[str]):
    """An owner whose value says what is being waited for, in a few words; empty while that is nothing."""

    def __init__(self, host: Host, publish: Callable[[], None]) -> None:
        super().__init__(host, "", lambda _: publish())

    def cancel(self) -> None:
        """Give up what is waited for."""
        super().cancel()
        self._replace("")

    def _failed(self, sentence: str) -> None:
        self._replace("")
        super()._failed(sentence)


def sentence_of(error: BpeError | OSError) -> str:
    """What to tell of an expected failure: our own errors are sentences, the system's become one.

    >>> sentence_of(PermissionError(13, "Permission denied", "/data"))
    '/data cannot be used: Permission denied.'
    """
    if isinstance(error, OptionError):
        return named_as_on_screen(str(error))
    if isinstance(error, BpeError):
        return str(error)
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename} cannot be used: {reason}." if error.filename else f"The system refuses: {reason}."
