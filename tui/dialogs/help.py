"""The help: what the keys do, and what the words on the screen mean."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from bpe_core.auditing.findings import KINDS
from tui.glossary import WORDS
from tui.terminal.guards import Dialog
from tui.widgets import finding_table, merge_log

KEYS: Final = (
    (
        "Everywhere",
        (
            ("F1", "this help"),
            ("F2 F3 F4 F5", "corpus, training, editor, audit; pressed again, the next part of it"),
            ("F6", "train; pause and go on while training"),
            ("F7", "learn one merge and wait"),
            ("F8", "stop; what was learned is kept"),
            ("F9", "let the pane fill the screen, and back"),
            ("Alt+← Alt+→", "one step back or on in the life of the vocabulary"),
            ("Ctrl+O Ctrl+S", "open a text in the editor, save the editor's"),
            ("Ctrl+P", "every command by name, themes too"),
            ("Esc", "do without the tokenizer that is being fetched or loaded"),
            ("Tab Shift+Tab", "to the next part of the screen, and back; the line above the keys tells of it"),
            ("Ctrl+Q", "leave; everything comes back next time"),
        ),
    ),
    (
        "Corpus",
        (
            ("Space", "choose a text, or all of a group"),
            ("e", "open it in the editor"),
            ("r", "mark it as the reference of the audit"),
            ("Enter", "open a folder; run a preset; use a tokenizer"),
            ("F7", "on a preset: learn its merges one by one"),
            ("p", "in the list of tokenizers: see how the one in force splits, or change that"),
            ("Delete", "discard a kept tokenizer"),
        ),
    ),
    ("Training", (("Enter", "in a field: train"), ("Space", "on pattern or ties: see what there is to choose"))),
    (
        "Merge log",
        (
            ("↑ ↓ Enter", "travel to that step: the editor follows"),
            ("Home", "to the first merge"),
            ("End f", "to the last, and follow the newest again"),
        ),
    ),
    (
        "Curve and steps",
        (
            ("← →", "one step back or on; on the curve to the next dot"),
            ("Home End", "before the first merge, after the last"),
            ("x", "on the curve: give the first merges more room, or no longer"),
            ("Shift+← Shift+→", "on the line of steps: ten back or on"),
            ("Ctrl+← Ctrl+→", "on the line of steps: a twentieth of the way"),
        ),
    ),
    (
        "Editor",
        (
            ("Ctrl+Z Ctrl+Y", "undo, redo"),
            ("Ctrl+C Ctrl+V", "copy, paste"),
            ("Alt+E", "the next of some small texts that show what tokens do"),
            ("Alt+C", "copy the ids of the selection, or of all, as a Python list"),
            ("Ctrl+T", "on the right: the token, why this split, what may come"),
            ("Ctrl+L", "the text, its tokens between borders, their ids, one a line"),
            ("Ctrl+G", "show spaces and tabs"),
            ("Ctrl+R", "special tokens as tokens, or as text"),
            ("Ctrl+N Alt+N", "to the next pitfall, the one before"),
            ("Ctrl+B", "pin the text and see what differs from it; unpin"),
            ("Alt+↑ Alt+↓", "what the edits before did"),
        ),
    ),
    (
        "Audit",
        (
            ("Enter", "show the merge, put an example into the editor"),
            ("s r", "sort by the next column, turn the order around"),
            ("← →", "one kind of findings only, then the next"),
            ("/", "search a token or an id"),
        ),
    ),
)


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
        for columns in (merge_log.COLUMNS, finding_table.COLUMNS)
    )
    return Group(
        *(_section(title, keys) for title, keys in KEYS),
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
