"""Confirm: a question with two buttons."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Label
from textual.widgets.button import ButtonVariant

from tui.terminal.guards import Dialog


class Confirm(Dialog[int | None]):
    """Asks whether to do something. Returns 1 for the second button (yes), 0 for the first (no), None for Escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "dismiss(0)", "No"),
        Binding("y", "dismiss(1)"),
        Binding("left", "app.focus_previous", "Back"),
        Binding("right", "app.focus_next", "On"),
    ]

    def __init__(
        self, question: str, yes: str, no: str = "Keep it", *, harmless: bool = False
    ) -> None:
        """`yes` and `no` are the labels of the buttons; `harmless` means that nothing is lost by a yes."""
        super().__init__()
        self._question = question
        self._yes = yes
        self._no = no
        self._variant: ButtonVariant = "primary" if harmless else "error"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button(
                    f"{self._no} (n)", compact=True, action="screen.dismiss(0)"
                )
                yield Button(
                    f"{self._yes} (y)",
                    self._variant,
                    compact=True,
                    action="screen.dismiss(1)",
                )
            yield Label(
                "Enter presses the highlighted button, Tab goes to the other, Escape cancels",
                classes="dialog--hint",
            )
