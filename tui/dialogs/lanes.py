"""AskLanes: choose the tokenizers under which the editor's text is shown as lanes."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, OptionList

from tui.state import LaneChoice
from tui.terminal.guards import Dialog, PagedOptionList


class LaneOffer(NamedTuple):
    """The text of a row."""

    name: str
    note: str


class AskLanes(Dialog[bool]):
    """Space adds or drops a lane at once. Returns whether to keep the change; Enter keeps it.

    Enter before any Space also adds or drops the lane under the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(False)", "Leave"),
        Binding("space", "add_or_drop", "Add or drop"),
        Binding("enter", "take", priority=True),
        Binding("alt+l", "dismiss(True)"),
    ]

    def __init__(
        self,
        first: str,
        offers: Mapping[LaneChoice, LaneOffer],
        chosen: Callable[[], Sequence[LaneChoice]],
        toggle: Callable[[LaneChoice], None],
    ) -> None:
        """Prepare the list.

        Args:
            first: A description of the first lane, which is always shown.
            offers: The other lanes to choose from.
            chosen: Returns the lanes at present.
            toggle: Adds or drops a lane.
        """
        super().__init__()
        self._first = first
        self._offers = offers
        self._chosen = chosen
        self._toggle = toggle
        self._has_toggled = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                "Lanes: the same text under other tokenizers",
                classes="dialog--question",
                markup=False,
            )
            yield Label(f"Lane 1 is {self._first}.", markup=False)
            yield PagedOptionList(*map(self._row, self._offers))
            yield Label(
                "Space adds or drops a lane; Enter keeps the change, Escape undoes it. "
                "A tokenizer that you fetch or open (Ctrl+P) appears in this list.",
                classes="dialog--hint",
            )

    def _row(self, choice: LaneChoice) -> Text:
        chosen = list(self._chosen())
        offer = self._offers[choice]
        row = Text(no_wrap=True)
        lane = ""
        if choice in chosen:
            lane = f"lane {chosen.index(choice) + 2}"
            row.append(f"● {offer.name}", "bold")
        else:
            row.append(f"○ {offer.name}")
        name_width = max(cell_len(other.name) for other in self._offers.values())
        row.append(" " * (name_width - cell_len(offer.name)) + f"  {lane:<6}  ")
        return row.append(offer.note, "dim")

    def action_add_or_drop(self) -> None:
        self.query_one(OptionList).action_select()

    def action_take(self) -> None:
        index = self.query_one(OptionList).highlighted
        if not self._has_toggled and index is not None:
            self._toggle(list(self._offers)[index])
        self.dismiss(True)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self._has_toggled = True
        self._toggle(list(self._offers)[event.option_index])
        for index, choice in enumerate(self._offers):
            event.option_list.replace_option_prompt_at_index(index, self._row(choice))
