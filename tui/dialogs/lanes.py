"""AskLanes: which tokenizers share the editor's text as lanes; each choice is seen behind the dialog at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, OptionList

from tui.state import LaneChoice
from tui.terminal.guards import Dialog, PagedOptionList


class AskLanes(Dialog[None]):
    """Enter or Space adds a lane or drops it, Escape closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,alt+l,q", "dismiss(None)", "Close"),
        Binding("space", "add_or_drop", "Add or drop"),
    ]
    DEFAULT_CSS = """
    AskLanes Label { width: 1fr; }
    AskLanes OptionList { height: auto; max-height: 12; padding: 0; margin-top: 1; }
    AskLanes OptionList, AskLanes OptionList:focus { border: none; }
    """
    HINT: ClassVar[str] = (
        "Enter adds a lane or drops it, Escape closes. What is fetched by name or opened from a file (Ctrl+P) is in "
        "this list from then on."
    )

    def __init__(
        self,
        first: str,
        offers: Mapping[LaneChoice, tuple[str, str]],
        chosen: Callable[[], Sequence[LaneChoice]],
        toggle: Callable[[LaneChoice], None],
    ) -> None:
        """`first` says what the first lane is, `offers` a name and a note of each lane that there could be.

        `chosen` and `toggle` ask for the lanes of now, and change them.
        """
        super().__init__()
        self._first, self._offers = first, offers
        self._chosen, self._toggle = chosen, toggle

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label("Lanes: the same text under other tokenizers", classes="dialog--question", markup=False)
            yield Label(f"Lane 1 is {self._first}.", markup=False)
            yield PagedOptionList(*map(self._row, self._offers))
            yield Label(self.HINT, classes="dialog--hint", markup=False)

    def _row(self, choice: LaneChoice) -> Text:
        chosen, (name, note) = list(self._chosen()), self._offers[choice]
        is_chosen = choice in chosen
        mark = f"lane {chosen.index(choice) + 2}" if is_chosen else ""
        row = Text(no_wrap=True).append(f"{'●' if is_chosen else '○'} {name}", "bold" if is_chosen else "")
        width = max(cell_len(other) for other, _ in self._offers.values())
        return row.append(" " * (width - cell_len(name)) + f"  {mark:<6}  ").append(note, "dim")

    def action_add_or_drop(self) -> None:
        self.query_one(OptionList).action_select()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self._toggle(list(self._offers)[event.option_index])
        for index, offer in enumerate(self._offers):
            event.option_list.replace_option_prompt_at_index(index, self._row(offer))
