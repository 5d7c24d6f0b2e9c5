"""AskField: choose the field of a file that holds its documents."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Label, OptionList

from bpe_core.visible import shortened, visible
from tui.terminal.guards import Dialog, PagedOptionList

_WIDTH: Final = 60
"""Characters of a name or a document."""
_N_DOCUMENTS: Final = 5


class AskField(Dialog[str | None]):
    """Lists the fields of a file, each with its first documents, and returns the chosen one."""

    def __init__(self, name: str, fields: Mapping[str, Sequence[str]]) -> None:
        """`fields` has the first documents of each field."""
        super().__init__()
        self._name = name
        self._fields = fields

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(
                f"Which field of {self._name} holds the documents?",
                classes="dialog--question",
                markup=False,
            )
            yield Label(
                "Enter trains on the texts in this field; Escape changes nothing.",
                classes="dialog--hint",
            )
            yield PagedOptionList(*map(self._row, self._fields))

    def _row(self, field: str) -> Text:
        row = Text(no_wrap=True, overflow="ellipsis")
        row.append(visible(shortened(field, _WIDTH)))
        for document in self._fields[field][:_N_DOCUMENTS]:
            row.append(f"\n  {visible(shortened(document, _WIDTH))}", "dim")
        return row

    @on(OptionList.OptionSelected)
    def take(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(list(self._fields)[event.option_index])
