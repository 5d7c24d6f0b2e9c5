"""The questions that are answered by a button: one of several answers, or whether something may really be done."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Label
from textual.widgets.button import ButtonVariant

from tui.terminal.guards import Dialog


class Choose(Dialog[int | None]):
    """Asks for one of several answers and gives its number; Escape gives None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Cancel"),
        Binding("left", "app.focus_previous", "Back"),
        Binding("right", "app.focus_next", "On"),
    ]

    def __init__(self, question: str, answers: Sequence[str]) -> None:
        super().__init__()
        self._question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        """A question, and a button for each answer, the first of them in front."""
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            with Horizontal(classes="dialog--buttons"):
                for number, answer in enumerate(self._answers):
                    yield Button(answer, compact=True, action=f"screen.dismiss({number})")
            yield Label(
                "Enter takes the one that is marked, Tab goes to the other, Escape leaves", classes="dialog--hint"
            )


class Confirm(Dialog[bool]):
    """Asks whether to do what cannot be undone."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,n", "dismiss(False)", "No"), Binding("y", "dismiss(True)")]

    def __init__(self, question: str, yes: str, no: str = "Keep it", *, harmless: bool = False) -> None:
        """`harmless`: nothing is lost by a yes."""
        super().__init__()
        self._harmless = harmless
        self._question = question
        self._yes = yes
        self._no = no

    def compose(self) -> ComposeResult:
        """A question and two buttons, the one that changes nothing in front."""
        variant: ButtonVariant = "primary" if self._harmless else "error"
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(f"{self._no} (n)", compact=True, action="screen.dismiss(False)")
                yield Button(f"{self._yes} (y)", compact=True, variant=variant, action="screen.dismiss(True)")
