"""MoreOptions: the options of a training that are rarely asked for, each with what it does."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from bpe_core.tokenizer.training_record import OPTIONS, Option, named_as_on_screen
from bpe_core.visible import visible
from tui.state import TrainingOptions
from tui.terminal.guards import Dialog, Field

MORE_OPTIONS: Final = (
    *map(OPTIONS.__getitem__, ("max-token-length", "min-share", "extend")),
    *map(OPTIONS.__getitem__, ("sample", "seed")),
)
"""In the order they are shown in."""


class MoreOptions(Dialog[TrainingOptions | None]):
    """A field for each; empty ones are as usual. Enter takes them all, Escape leaves everything as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    HINT: ClassVar[str] = "Empty: as usual. Tab goes on, Enter takes them all, Escape leaves all as it was."

    def __init__(
        self, options: TrainingOptions, check: Callable[[TrainingOptions], object], tokenizers: Iterable[str] = ()
    ) -> None:
        """`check` raises `BpeError` for options that make no sense; a training can begin with one of `tokenizers`."""
        super().__init__()
        self._options = options
        self._check = check
        self._tokenizers = SuggestFromList(tokenizers, case_sensitive=False)

    def on_mount(self) -> None:
        """The names of tokenizers are completed."""
        self.query_one("#extend", Input).suggester = self._tokenizers

    @on(DescendantFocus)
    def show_whole(self, event: DescendantFocus) -> None:
        """What a field does is seen with it, wherever the list is scrolled to."""
        for group in event.widget.ancestors:
            if isinstance(group, VerticalGroup):
                group.scroll_visible(animate=False)

    def compose(self) -> ComposeResult:
        """A line a name, its field, and below it what it does."""
        more = self._options.more
        with Vertical(classes="dialog", id="more-options"):
            yield Label("More options of the next training", classes="dialog--question")
            with VerticalScroll(classes="dialog--options", can_focus=False):
                yield from _fields(MORE_OPTIONS, more)
                with Horizontal(classes="dialog--option"):
                    yield Label(OPTIONS["weight"].name)
                    yield Label("w on a chosen text of the corpus (F2)", id="where-weights")
                yield Label(OPTIONS["weight"].does, classes="dialog--does", markup=False)
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button("Take them", compact=True, id="take", variant="primary")

    @on(Input.Submitted)
    @on(Button.Pressed, "#take")
    def take(self) -> None:
        """Take what is typed, or say what is wrong with it."""
        try:
            options = replace(self._options, more=dict(self._typed()))
            self._check(options)
            self.dismiss(options)
        except (BpeError, ValueError) as error:
            hint = self.query_one(".dialog--hint", Label)
            hint.update(visible(named_as_on_screen(str(error))))
            hint.add_class("-wrong")

    def _typed(self) -> Iterator[tuple[str, str]]:
        """The name and value of each option that the next training is asked for."""
        for option in MORE_OPTIONS:
            if value := self.query_one(f"#{option.argument}", Input).value.strip():
                yield option.argument, value


def _fields(options: Iterable[Option], values: Mapping[str, str]) -> ComposeResult:
    for option in options:
        with VerticalGroup():
            with Horizontal(classes="dialog--option"):
                yield Label(option.name)
                yield Field(values.get(option.argument, ""), option.example, id=option.argument, compact=True)
            yield Label(option.does, classes="dialog--does", markup=False)
