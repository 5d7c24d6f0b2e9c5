"""The help: what the keys do, and what the words on the screen mean."""

from typing import ClassVar, Final

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS: Final = (
    (
        "Everywhere",
        (
            ("F2 F3 F4 F5", "corpus, training, editor, audit"),
            ("F6", "train; pause and go on while training"),
            ("F7", "learn one merge and wait"),
            ("F8", "stop; what was learned is kept"),
            ("F9", "let the pane fill the screen, and back"),
            ("Alt+← Alt+→", "one step back or on in the life of the vocabulary"),
            ("Ctrl+P", "every command by name, themes too"),
            ("Tab", "to the next part of the screen"),
            ("Ctrl+Q", "leave; everything comes back next time"),
        ),
    ),
    (
        "Corpus",
        (
            ("Space", "choose a text, or all of a group"),
            ("e", "open it in the editor"),
            ("r", "mark it as the reference of the audit"),
            ("Enter", "open a folder; use a tokenizer"),
            ("Delete", "discard a kept tokenizer"),
        ),
    ),
    ("Merge log", (("↑ ↓", "travel to that step: the editor follows"), ("End", "follow the newest merge again"))),
    (
        "Editor",
        (
            ("Ctrl+Z Ctrl+Y", "undo, redo"),
            ("Ctrl+O Ctrl+S", "open a text, save the text"),
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
    ("Audit", (("Enter", "show the merge, put an example into the editor"), ("s /", "sort, search"))),
)

WORDS: Final = (
    ("byte-pair encoding", "Begin with single bytes; join the pair of neighbors that occurs most; repeat."),
    ("piece", "What the split pattern cuts a text into, about a word each. No merge crosses its border."),
    ("merge", "One learned step: two tokens that become a new one wherever they stand side by side."),
    ("token", "A run of bytes with an id. A model sees ids, never letters."),
    ("ties", "The rule that chooses when several pairs occur equally often."),
    ("min. count", "Pairs that occur less often are not merged."),
    ("specials", "Special tokens: a text such as <|endoftext|> with an id of its own; never made by merges."),
    ("bytes/token", "How much of a text one token covers: the higher, the shorter the sequence."),
    ("share", "How much shorter a merge made the whole sequence."),
    ("ripple", "How far from an edit the farthest token border moved."),
    ("not final", "Tokens at the end that what follows could still change; they are underlined."),
    ("pitfall", "What trips tokenizers: spaces at the end, unseen characters, look-alikes, uneven numbers."),
    ("scaffold", "A token that only helped to build a longer one and is hardly used itself."),
    ("reference", "A corpus like the one a model would learn from; tokens missing there may become glitch tokens."),
)


class Help(ModalScreen[None]):
    """Two tables; any of the keys that opened it closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss(None)", "Close")]

    def compose(self) -> ComposeResult:
        """Keys above, words below."""
        with VerticalScroll(classes="dialog", id="help"):
            yield Static(_tables())

    def on_mount(self) -> None:
        """Scroll with the keys at once."""
        self.query_one("#help").border_title = "Help"
        self.query_one("#help").border_subtitle = "Esc closes"
        self.query_one("#help").focus()


def _tables() -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for title, keys in KEYS:
        table.add_row(Text(title, "bold"), "")
        for key, meaning in keys:
            table.add_row(Text(key), Text(meaning, "dim"))
        table.add_row("", "")
    table.add_row(Text("Words", "bold"), "")
    for word, meaning in WORDS:
        table.add_row(Text(word), Text(meaning, "dim"))
    return table
