"""The help: what the keys do, and what the words on the screen mean."""

from collections.abc import Iterable
from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from bpe_core.auditing.findings import KINDS
from tui.commands import COMMANDS, help_lines
from tui.glossary import WORDS
from tui.terminal.guards import Dialog
from tui.widgets import merge_log, token_table


class Help(Dialog[None]):
    """Tables below each other; any of the keys that opened it closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss(None)", "Close")]

    def compose(self) -> ComposeResult:
        """Keys above, words below."""
        with VerticalScroll(classes="dialog", id="help"):
            yield Static(tables())

    def on_mount(self) -> None:
        """Scroll with the keys at once."""
        self.query_one("#help").border_title = "Help"
        self.query_one("#help").border_subtitle = "Esc closes"
        self.query_one("#help").focus()


def tables() -> Group:
    """Keys, words, columns and findings, each with what it means."""
    log, found = (
        [(column.heading, column.hint) for column in columns if column.hint]
        for columns in (merge_log.COLUMNS, token_table.COLUMNS)
    )
    return Group(
        *(_section(title, help_lines(commands)) for title, commands in COMMANDS.items()),
        _section("Words", WORDS.items()),
        _section("Columns of the merge log", log),
        _section("Columns of an audit", found),
        _section("What an audit finds", KINDS.items()),
    )


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Group:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=14)
    table.add_column()
    for name, meaning in rows:
        table.add_row(Text(name.strip() or "▲ ● ○"), Text(meaning, "dim"))
    return Group(Text(title, "bold"), table, "")
