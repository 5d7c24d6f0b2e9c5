"""The field that searches a table."""

from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.table.table import Table
from tui.terminal.guards import Field

_SEARCH: Final = "A token's text, its id, or its bytes in hex (0xf09f). Enter goes to the list, Escape shows all rows."


class SearchField(Field):
    """A field whose text filters the rows of a table."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False)
    ]

    def __init__(self, table: Table, *, id: str) -> None:
        super().__init__(
            placeholder="/ text, id, 0x hex", id=id, compact=True, tooltip=_SEARCH
        )
        self._table = table

    def on_mount(self) -> None:
        self.watch(self._table, "search", self.follow, init=False)

    def follow(self, search: str) -> None:
        self.value = search
        if not self.has_focus:
            # Its pane hides an empty field that has lost the focus.
            self.post_message(self.Blurred(self, search))

    def begin(self) -> None:
        self.display = True
        self.screen.set_focus(self)

    @on(Input.Changed)
    def search(self, event: Input.Changed) -> None:
        event.stop()
        self._table.search = self.value

    @on(Input.Submitted)
    def stay(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.set_focus(self._table)
        self._table.move_to(self._table.cursor, tell=True)

    def action_leave(self) -> None:
        self.value = ""
        self.screen.set_focus(self._table)
