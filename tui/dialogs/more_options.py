"""MoreOptions: a form with the training options that are rarely used."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalGroup, VerticalScroll
from textual.events import DescendantFocus
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label

from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import OPTIONS, READING, named_as_on_screen
from tui.state import TrainingOptions
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog, Field

MORE_OPTIONS: Final = (
    "max-token-length",
    "min-share",
    "extend",
    *(option.argument for option in READING),
)
"""The options with a field, as the command line names them."""


class MoreOptions(Dialog[TrainingOptions | None]):
    """A field for each option that is rarely used; an empty field means the default. Enter returns all of them."""

    HINT: ClassVar[str] = (
        "Empty: default. Tab: next field. Enter: apply. Escape: cancel."
    )

    def __init__(
        self,
        options: TrainingOptions,
        check: Callable[[TrainingOptions], object],
        tokenizers: Iterable[str] = (),
    ) -> None:
        """Prepare the form.

        Args:
            options: The options at present.
            check: Raises `BpeError` for options that cannot be used.
            tokenizers: Paths of tokenizers that a training can start from.
        """
        super().__init__()
        self._options = options
        self._check = check
        self._tokenizers = SuggestFromList(tokenizers, case_sensitive=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="more-options"):
            yield Label("More training options", classes="dialog--question")
            with VerticalScroll(classes="dialog--options", can_focus=False):
                for argument in MORE_OPTIONS:
                    yield from self._field(argument)
                with Horizontal(classes="dialog--option"):
                    yield Label(OPTIONS["weight"].name)
                    yield Label(
                        "press # on a chosen text in the Corpus pane (F2)",
                        id="where-weights",
                    )
                yield Label(
                    OPTIONS["weight"].does, classes="dialog--does", markup=False
                )
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(
                    "Use these options", compact=True, id="take", variant="primary"
                )

    def _field(self, argument: str) -> ComposeResult:
        option = OPTIONS[argument]
        suggester = self._tokenizers if argument == "extend" else None
        with VerticalGroup():
            with Horizontal(classes="dialog--option"):
                yield Label(option.name)
                yield Field(
                    self._options.more.get(argument, ""),
                    f"e.g. {option.example}",
                    id=argument,
                    compact=True,
                    suggester=suggester,
                )
            yield Label(option.does, classes="dialog--does", markup=False)

    @on(DescendantFocus)
    def show_description(self, event: DescendantFocus) -> None:
        """Scroll so that the focused field is visible with its description."""
        for group in event.widget.ancestors:
            if isinstance(group, VerticalGroup):
                group.scroll_visible(animate=False)

    @on(Input.Changed)
    def clear_error(self) -> None:
        self.tell(self.HINT)

    @on(Input.Submitted)
    @on(Button.Pressed, "#take")
    async def submit(self) -> None:
        await self.soon(self.take())

    async def take(self) -> None:
        """Close with the options, or show why they cannot be used."""
        more = {}
        for argument in MORE_OPTIONS:
            value = self.query_one(f"#{argument}", Input).value.strip()
            if value:
                more[argument] = value
        options = replace(self._options, more=more)
        try:
            await in_thread(self._check, options)
            self.dismiss(options)
        except (BpeError, ValueError) as error:
            self.tell(named_as_on_screen(str(error)), wrong=True)
