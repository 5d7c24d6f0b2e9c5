"""Lists to choose from: the tokenizers that may share the editor's text as lanes, and the trainings that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Label, OptionList, Static

from bpe_core.runs import RunDifference, run_options
from bpe_core.visible import shortened, visible
from tui.state import LaneChoice
from tui.terminal.background import in_thread
from tui.terminal.guards import Dialog, PagedOptionList

if TYPE_CHECKING:
    from bpe_core.runs import TrainingRun


class AskLanes(Dialog[bool]):
    """Space adds a lane or drops it, as an Enter before any Space does; gives whether the lanes are to stay so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(False)", "Leave"),
        Binding("space", "add_or_drop", "Add or drop"),
        Binding("enter", "take", priority=True),
        Binding("alt+l", "dismiss(True)"),
    ]
    _has_toggled = False

    def __init__(
        self,
        first: str,
        offers: Mapping[LaneChoice, tuple[str, str]],
        chosen: Callable[[], Sequence[LaneChoice]],
        toggle: Callable[[LaneChoice], None],
    ) -> None:
        """`first` says what the first lane is, `offers` a name and a note of each that there could be; `chosen` and
        `toggle` ask for the lanes of now, and change them."""
        super().__init__()
        self._first, self._offers = first, offers
        self._chosen, self._toggle = chosen, toggle

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                "Lanes: the same text under other tokenizers",
                classes="dialog--question",
                markup=False,
            )
            yield Label(f"Lane 1 is {self._first}.", markup=False)
            yield PagedOptionList(*map(self._row, self._offers))
            also = "A tokenizer that you fetch or open (Ctrl+P) joins this list."
            keys = (
                "Space adds or drops a lane; Enter keeps the change, Escape undoes it."
            )
            yield Label(f"{keys} {also}", classes="dialog--hint")

    def _row(self, choice: LaneChoice) -> Text:
        chosen, (name, note) = list(self._chosen()), self._offers[choice]
        is_chosen = choice in chosen
        mark = f"lane {chosen.index(choice) + 2}" if is_chosen else ""
        row = Text(no_wrap=True).append(
            f"{'●' if is_chosen else '○'} {name}", "bold" if is_chosen else ""
        )
        width = max(cell_len(other) for other, _ in self._offers.values())
        return row.append(" " * (width - cell_len(name)) + f"  {mark:<6}  ").append(
            note, "dim"
        )

    def action_add_or_drop(self) -> None:
        self.query_one(OptionList).action_select()

    def action_take(self) -> None:
        if (
            not self._has_toggled
            and (index := self.query_one(OptionList).highlighted) is not None
        ):
            self._toggle(list(self._offers)[index])
        self.dismiss(True)

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        self._has_toggled = True
        self._toggle(list(self._offers)[event.option_index])
        for index, offer in enumerate(self._offers):
            event.option_list.replace_option_prompt_at_index(index, self._row(offer))


class AskField(Dialog[str | None]):
    """A row a field of a file, with its first documents. Enter gives it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel")
    ]

    def __init__(self, name: str, fields: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._name, self._fields = name, fields

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                f"Which field of {self._name} holds the documents?",
                classes="dialog--question",
                markup=False,
            )
            yield Label(
                "Enter chooses the file with this field; Escape changes nothing.",
                classes="dialog--hint",
            )
            yield PagedOptionList(
                *(_with_documents(*one) for one in self._fields.items())
            )

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(list(self._fields)[event.option_index])


def _with_documents(field: str, documents: Sequence[str]) -> Text:
    rows = "".join(f"\n  {visible(shortened(text, 60))}" for text in documents[:5])
    return Text(
        visible(shortened(field, 60)), no_wrap=True, overflow="ellipsis"
    ).append(rows, "dim")


class Runs(Dialog["tuple[TrainingRun, bool] | None"]):
    """A row a run. Space marks one, and the run under the cursor is compared with it.

    Gives a run whose tokenizer is to be put in force or, with True, whose curve is to be laid under that on the screen,
    or taken away again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("space", "mark", "Mark"),
        Binding("u", "lay_under", "Under"),
    ]

    def __init__(self, runs: Sequence[TrainingRun], under: str = "") -> None:
        """`under` is the file of the run whose curve lies under that on the screen."""
        super().__init__()
        self._runs, self._under, self._marked = runs, under, 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog runs"):
            yield Label(
                "Trainings that are kept, the newest first", classes="dialog--question"
            )
            head = f"   {'':26}  {'tokens':>8}  {'ties':9}  {'b/token':>7}"
            yield Label(head, classes="dialog--hint", markup=False)
            yield PagedOptionList(*map(self._row, range(len(self._runs))), compact=True)
            yield Static(id="difference", markup=False)
            hint = "Space: compare others with this (●). u: its curve under that on the screen (○). Enter: use it."
            yield Label(hint, classes="dialog--hint")

    def _row(self, number: int) -> Content:
        run = self._runs[number]
        described = run.described()
        name, ratio = (
            shortened(visible(run.path.stem), 26),
            f"{described['bytes_per_token']:.3f}",
        )
        signs = ("●" if number == self._marked else " ") + (
            "○" if str(run.path) == self._under else " "
        )
        ties = described["options"]["ties"]
        return Content(
            f"{signs} {name:26}  {described['vocab_size']:>8,}  {ties:9}  {ratio:>7}"
        )

    def action_mark(self) -> None:
        options = self.query_one(OptionList)
        before, self._marked = self._marked, options.highlighted or 0
        for number in {before, self._marked}:
            options.replace_option_prompt_at_index(number, self._row(number))
        self._compare(self._marked)

    @on(OptionList.OptionHighlighted)
    def compare(self, event: OptionList.OptionHighlighted) -> None:
        self._compare(event.option_index)

    @work(exclusive=True)
    async def _compare(self, number: int) -> None:
        lines = await in_thread(
            _difference, self._runs[self._marked], self._runs[number]
        )
        for shown in self.query("#difference").results(
            Static
        ):  # none if it has been answered meanwhile
            shown.update(Content("\n".join(map(visible, lines))))

    @on(OptionList.OptionSelected)
    def use(self, event: OptionList.OptionSelected) -> None:
        self.dismiss((self._runs[event.option_index], False))

    def action_lay_under(self) -> None:
        self.dismiss((self._runs[self.query_one(OptionList).highlighted or 0], True))


def _difference(first: TrainingRun, second: TrainingRun) -> list[str]:
    """Where two runs part, and what followed, in sentences; of one with itself, what it was asked for and became."""
    if first is not second:
        return list(
            RunDifference.of(first.tokenizer, second.tokenizer).sentences(
                "●", "this one"
            )
        )
    described, texts = second.described(), run_options(second.tokenizer)["texts"]
    ended = f"Ended {described['created'][:16].replace('T', ' ')} UTC: {described['ended']}."
    return [
        second.path.stem,
        f"Asked for: {second.options}.",
        f"Learned from {texts}.",
        ended,
    ]
