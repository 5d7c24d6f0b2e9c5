"""MergeSearch: the field below the merge log in which a token is sought, as it is typed."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.reactive import var
from textual.widgets import Input

from tui.terminal.guards import Field
from tui.widgets.merge_log import MergeLog


class MergeSearch(Field):
    """Seeks in a log; hidden until it is asked for. Enter stays at what was found, Escape goes back."""

    DEFAULT_CSS = """
    MergeSearch { display: none; height: 1; background: $panel; padding: 0 1; }
    MergeSearch.-wrong { color: $text-error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]
    HINT: ClassVar[str] = "A text, bytes as 0x2074, or an id. Enter stays there, n goes to the next, Escape back."
    hint: var[str] = var(HINT)
    """What can be typed, or that it was not found."""

    def __init__(self, log: MergeLog, *, id: str) -> None:
        super().__init__(placeholder="search: text, 0x bytes, or an id", id=id, compact=True)
        self._log = log
        self._origin = 0

    def begin(self) -> None:
        """Take the focus, with what was sought last."""
        self._origin = self._log.cursor
        self.display = True
        self.value = self._log.sought
        self.screen.set_focus(self)
        self.select_all()

    def _end(self) -> None:
        self.display = False
        self.screen.set_focus(self._log)

    @on(Input.Changed)
    def seek(self, event: Input.Changed) -> None:
        """Look for the first behind where the search began."""
        event.stop()
        if self.display and self.value != self._log.sought:
            self._log.sought = self.value
            self._log.seek(1, start=self._origin, then=self._found)

    def _found(self, found: bool) -> None:
        wrong = bool(self.value) and not found
        self.set_class(wrong, "-wrong")
        self.hint = self._log.not_found if wrong else self.HINT

    @on(Input.Submitted)
    def stay(self, event: Input.Submitted) -> None:
        """Go on in the log."""
        event.stop()
        self._end()

    def action_leave(self) -> None:
        """Back to where the search began."""
        self._log.move_to(self._origin, tell=True)
        self._end()
