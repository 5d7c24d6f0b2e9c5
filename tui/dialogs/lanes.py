"""AskLanes: which tokenizers share the editor's text as lanes; each choice is seen behind the dialog at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Label, OptionList
from textual.widgets.option_list import Option

from tui.state import LaneChoice
from tui.terminal.guards import Dialog, PagedOptionList


@dataclass(frozen=True, slots=True)
class LaneOffer:
    """A lane that can be added or dropped."""

    choice: LaneChoice
    name: str
    """Safe to show."""
    note: str
    """What it is, in a few words."""


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
        offers: Sequence[LaneOffer],
        chosen: Callable[[], Sequence[LaneChoice]],
        toggle: Callable[[LaneChoice], None],
    ) -> None:
        """`first` says what the first lane is; `chosen` and `toggle` ask for the lanes of now, and change them."""
        super().__init__()
        self._first = first
        self._offers = offers
        self._chosen = chosen
        self._toggle = toggle

    def compose(self) -> ComposeResult:
        """What the first lane is, and a row for each other that there could be."""
        with Vertical(classes="dialog"):
            yield Label("Lanes: the same text under other tokenizers", classes="dialog--question", markup=False)
            yield Label(f"Lane 1 is {self._first}.", markup=False)
            yield PagedOptionList(*(Option(self._row(offer)) for offer in self._offers))
            yield Label(self.HINT, classes="dialog--hint", markup=False)

    def _row(self, offer: LaneOffer) -> Text:
        chosen = list(self._chosen())
        is_chosen = offer.choice in chosen
        mark = f"lane {chosen.index(offer.choice) + 2}" if is_chosen else ""
        row = Text(no_wrap=True).append(f"{'●' if is_chosen else '○'} {offer.name}", "bold" if is_chosen else "")
        width = max(cell_len(other.name) for other in self._offers)
        return row.append(" " * (width - cell_len(offer.name)) + f"  {mark:<6}  ").append(offer.note, "dim")

    def action_add_or_drop(self) -> None:
        """Add the lane under the cursor, or drop it."""
        self.query_one(OptionList).action_select()

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """Add it or drop it, and show that."""
        self._toggle(self._offers[event.option_index].choice)
        for index, offer in enumerate(self._offers):
            event.option_list.replace_option_prompt_at_index(index, self._row(offer))
