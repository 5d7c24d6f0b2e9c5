"""Ask: a question that is answered with a line of text."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.suggester import Suggester, SuggestFromList
from textual.widgets import Input, Label

from tui.terminal.background import in_thread
from tui.terminal.guards import SOON, Dialog, Field

Answer = TypeVar("Answer")


class Ask(Dialog[Answer | None]):
    """Asks for a line of text. Enter returns its value, Escape returns None.

    The proposed answer is selected, so typing replaces it. An error is shown until the text changes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete"),
    ]
    SELECTS_REFUSED: ClassVar[bool] = True
    """Whether a refused answer is selected, so that typing replaces it."""

    def __init__(
        self,
        question: str,
        parse: Callable[[str], Answer],
        start: str = "",
        *,
        hint: str = "Enter to continue, Escape to cancel",
        example: str = "",
        suggest: Sequence[str] = (),
    ) -> None:
        """Prepare the question.

        Args:
            question: The question.
            parse: Returns the value of an answer, or raises `ValueError` with a sentence for the user.
            start: The proposed answer.
            hint: A sentence below the field.
            example: Shown in the field while it is empty.
            suggest: Answers that Tab completes.
        """
        super().__init__()
        self._question = question
        self._start = start
        self._hint = hint
        self._example = example
        self.parse = parse
        self._suggester: Suggester | None = None
        if suggest:
            self._suggester = SuggestFromList(suggest, case_sensitive=False)
        self._refused: str | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            yield Field(
                self._start, placeholder=self._example, suggester=self._suggester
            )
            yield Label(self._hint, classes="dialog--hint", markup=False)

    async def action_complete(self) -> None:
        """Complete the text. An Enter that is pressed before the suggestion arrives waits for it."""
        field = self.query_one(Input)
        if field.suggester is None:
            return
        typed = field.value
        suggested = None
        with suppress(TimeoutError):
            async with asyncio.timeout(SOON):
                suggested = await field.suggester.get_suggestion(typed)
        if suggested and field.value == typed:
            field.value = suggested
            field.cursor_position = len(suggested)

    @on(Input.Changed)
    def clear_error(self, event: Input.Changed) -> None:
        if self._refused not in (None, event.value):
            self._refused = None
            self.tell(self._hint)

    @on(Input.Submitted)
    async def submit(self, event: Input.Submitted) -> None:
        # Not `event.value`: Tab may have completed the text since Enter was pressed.
        answer = event.input.value
        if answer.strip():
            await self.soon(self.take(answer))

    async def take(self, answer: str) -> None:
        """Close with the value of an answer, or show why it is invalid."""
        try:
            self.dismiss(await in_thread(self.parse, answer))
        except ValueError as error:
            self._refused = answer
            self.tell(str(error), wrong=True)
            if self.SELECTS_REFUSED:
                self.query_one(Input).select_all()
