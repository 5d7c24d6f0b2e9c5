"""The two questions the app asks: for a path, and whether something may really be deleted."""

import os
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label

from bpe_core.visible import visible


class AskPath(ModalScreen[Path | None]):
    """Asks for a path; Enter gives it, Escape gives None. A leading ~ is the home folder."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel")]

    def __init__(self, question: str, hint: str = "", start: str = "", *, must_exist: bool = True) -> None:
        super().__init__()
        self._question = question
        self._hint = hint
        self._start = start
        self._must_exist = must_exist

    def compose(self) -> ComposeResult:
        """A question, a field, a line for what is wrong with the answer."""
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            yield Input(self._start, placeholder="path", select_on_focus=False)
            yield Label(self._hint or "Enter to go on, Escape to leave", classes="dialog--hint", markup=False)

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Take the path, or say why it cannot be taken."""
        text = event.value.strip()
        if not text:
            return
        # os.path and not pathlib, which raises for a name that is too long or that no user has.
        path = Path(os.path.expanduser(text)).absolute()
        if self._must_exist and not os.path.exists(path):
            self.query_one(".dialog--hint", Label).update(f"There is no {visible(str(path))}; correct the path.")
            self.query_one(".dialog--hint").add_class("-wrong")
            return
        self.dismiss(path)


class Confirm(ModalScreen[bool]):
    """Asks whether to do what cannot be undone."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,n", "dismiss(False)", "No"), Binding("y", "dismiss(True)")]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        """A question and two buttons, the harmless one in front."""
        with Vertical(classes="dialog"):
            yield Label(self._question, classes="dialog--question", markup=False)
            with Horizontal(classes="dialog--buttons"):
                yield Button("Keep it (n)", compact=True, action="screen.dismiss(False)")
                yield Button(f"{self._yes} (y)", compact=True, variant="error", action="screen.dismiss(True)")
