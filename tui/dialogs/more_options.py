"""MoreOptions: the options of a training that are rarely asked for, each with what it does."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalGroup, VerticalScroll
from textual.events import DescendantFocus
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label

from bpe_core.errors import BpeError
from bpe_core.tokenizer.training_record import OPTIONS, named_as_on_screen
from tui.state import TrainingOptions
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog, Field

MORE_OPTIONS: Final = ("max-token-length", "min-share", "extend", "sample", "seed")
"""Their arguments, in the order in which they are shown."""


class MoreOptions(Dialog[TrainingOptions | None]):
    """A field for each; empty ones are as usual. Enter takes them all, Escape leaves everything as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    HINT: ClassVar[str] = "Empty: the default. Tab: next field. Enter accepts all, Escape cancels."

    def __init__(
        self, options: TrainingOptions, check: Callable[[TrainingOptions], object], tokenizers: Iterable[str] = ()
    ) -> None:
        """`check` raises `BpeError` for options that make no sense; a training can begin with one of `tokenizers`."""
        super().__init__()
        self._options, self._check = options, check
        self._tokenizers = SuggestFromList(tokenizers, case_sensitive=False)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="more-options"):
            yield Label("More options of the next training", classes="dialog--question")
            with VerticalScroll(classes="dialog--options", can_focus=False):
                for argument in MORE_OPTIONS:
                    option, value = OPTIONS[argument], self._options.more.get(argument, "")
                    names = self._tokenizers if argument == "extend" else None
                    with VerticalGroup():
                        with Horizontal(classes="dialog--option"):
                            yield Label(option.name)
                            yield Field(value, option.example, id=argument, compact=True, suggester=names)
                        yield Label(option.does, classes="dialog--does", markup=False)
                with Horizontal(classes="dialog--option"):
                    yield Label(OPTIONS["weight"].name)
                    yield Label("w on a chosen text of the corpus (F2)", id="where-weights")
                yield Label(OPTIONS["weight"].does, classes="dialog--does", markup=False)
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button("Take them", compact=True, id="take", variant="primary")

    @on(DescendantFocus)
    def show_whole(self, event: DescendantFocus) -> None:
        # What a field does is seen with it, wherever the list is scrolled to.
        for group in event.widget.ancestors:
            if isinstance(group, VerticalGroup):
                group.scroll_visible(animate=False)

    @on(Input.Changed)
    def correct(self) -> None:
        self.tell(self.HINT)

    @on(Input.Submitted)
    @on(Button.Pressed, "#take")
    async def answer(self) -> None:
        await self.soon(self.take())

    async def take(self) -> None:
        typed = {name: self.query_one(f"#{name}", Input).value.strip() for name in MORE_OPTIONS}
        try:
            options = replace(self._options, more={name: value for name, value in typed.items() if value})
            await in_thread(self._check, options)
            self.dismiss(options)
        except (BpeError, ValueError) as error:
            self.tell(named_as_on_screen(str(error)), wrong=True)
