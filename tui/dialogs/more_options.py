"""MoreOptions: the options of a training that are rarely asked for, each with what it does."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Button, Input, Label

from bpe_core.errors import BpeError
from bpe_core.visible import visible
from bpe_core.vocabulary import ID_LAYOUTS
from tui.state.training import TrainingOptions
from tui.terminal.guards import Dialog, Field


@dataclass(frozen=True, slots=True)
class MoreOption:
    """An option: an argument of `bpescope train`."""

    argument: str
    """Without its dashes."""
    name: str
    does: str
    example: str


MORE_OPTIONS: Final = (
    MoreOption("max-token-length", "longest token", "Bytes in a token at most; longer pairs are passed over.", "16"),
    MoreOption(
        "end-of-word", "end of word", "A marker behind every piece, a symbol of its own that merges too.", "</w>"
    ),
    MoreOption("id-layout", "id layout", f"Which ids come first: {' or '.join(ID_LAYOUTS)}.", ID_LAYOUTS[0]),
    MoreOption("sample", "sample", "Read only this share of the texts, in stretches of 64 KB.", "1/10"),
    MoreOption("seed", "seed", "Which stretches a sample takes: the same number takes the same.", "0"),
    MoreOption("weight", "weights", "Count some texts several times: PATH=N, spaces between.", "notes.md=3"),
    MoreOption("min-share", "least gain", "Stop once a merge shortens the text by less than this share.", "1/10000"),
)
"""In the order they are shown in."""


class MoreOptions(Dialog[TrainingOptions | None]):
    """A field for each; empty ones are as usual. Enter takes them all, Escape leaves everything as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]
    HINT: ClassVar[str] = "Empty: as usual. Tab goes on, Enter takes them all, Escape leaves all as it was."

    def __init__(self, options: TrainingOptions, check: Callable[[TrainingOptions], object]) -> None:
        """`check` raises `BpeError` for options that make no sense."""
        super().__init__()
        self._options = options
        self._check = check

    def compose(self) -> ComposeResult:
        """A line a name, its field, and below it what it does."""
        with Vertical(classes="dialog"):
            yield Label("More options of the next training", classes="dialog--question")
            with VerticalScroll(classes="dialog--options", can_focus=False):
                for option in MORE_OPTIONS:
                    with Horizontal(classes="dialog--option"):
                        yield Label(option.name)
                        value = self._options.more.get(option.argument, "")
                        yield Field(value, option.example, id=option.argument, compact=True)
                    yield Label(option.does, classes="dialog--does", markup=False)
            yield Label(self.HINT, classes="dialog--hint", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button("Take them", compact=True, id="take", variant="primary")

    @on(Input.Submitted)
    @on(Button.Pressed, "#take")
    def take(self) -> None:
        """Take what is typed, or say what is wrong with it."""
        typed = {option.argument: self.query_one(f"#{option.argument}", Input).value for option in MORE_OPTIONS}
        known = {option.argument for option in MORE_OPTIONS}
        others = {name: value for name, value in self._options.more.items() if name not in known}
        more = others | {name: value.strip() for name, value in typed.items() if value.strip()}
        options = replace(self._options, more=more)
        try:
            self._check(options)
            self.dismiss(options)
        except BpeError as error:
            hint = self.query_one(".dialog--hint", Label)
            told = str(error)
            for option in MORE_OPTIONS:
                told = told.replace(f"--{option.argument}", option.name)
            hint.update(visible(told))
            hint.add_class("-wrong")
