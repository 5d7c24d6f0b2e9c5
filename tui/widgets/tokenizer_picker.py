"""TokenizerPicker: which of the tokenizers on this computer are compared, in which order; four at most."""

from collections.abc import Mapping
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from bpe_core.visible import visible
from tui.commands import bindings
from tui.drawing.plots import LETTERS
from tui.drawing.tokenizer_texts import distinct_names
from tui.state import KnownTokenizer
from tui.table.columns import Cell, Column
from tui.table.table import Table


def _mark(picker: "TokenizerPicker", row: int) -> Cell:
    paths = [chosen.path for chosen in picker.chosen]
    path = picker.known[row].path
    return Cell(f"[{LETTERS[paths.index(path)]}]", "accent") if path in paths else Cell("[ ]", "muted")


def _name(picker: "TokenizerPicker", row: int) -> str:
    path = picker.known[row].path
    return ("● " if path == picker.in_force else "") + visible(picker.names[path])


def _size(picker: "TokenizerPicker", row: int) -> str:
    n_vocab = picker.known[row].n_vocab
    return f"{n_vocab:,}" if n_vocab else ""


def _path(picker: "TokenizerPicker", row: int) -> str:
    return visible(picker.known[row].path)


class TokenizerPicker(Table):
    """The tokenizers that can be put in force; Space marks one, Enter compares those that are marked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Tokenizers to compare")
    FOOTER = False
    COLUMNS = (
        Column("mark", 3, _mark, "A is the one that the others are compared with.", title=" "),
        Column("tokenizer", 16, _name, "Space chooses it, in the order A, B, C, D.", most=40),
        Column("tokens", 9, _size, "Tokens in the vocabulary, if known.", right=True, rank=1, ink="muted"),
        Column("file", 16, _path, "Where it lies.", most=100, rank=2, ink="muted"),
    )

    class Decided(Message):
        """Those that are marked should be compared."""

    class Marked(Message):
        """Others are marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.known: tuple[KnownTokenizer, ...] = ()
        """The rows."""
        self.names: Mapping[str, str] = {}
        """Path -> name."""
        self.in_force = ""
        """Path of the tokenizer in force."""
        self._marked: list[str] | None = None
        """The paths that the user marked, in order; None as long as nobody did."""

    def show(self, known: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List these tokenizers; the path of the one in force is `in_force`."""
        self.known, self.in_force = known, in_force
        self.names = distinct_names(known)
        self.rearrange()
        self.post_message(self.Marked())

    @property
    def chosen(self) -> list[KnownTokenizer]:
        """Those that are compared: the marked ones, and as long as none is, the one in force and another."""
        by_path = {known.path: known for known in self.known}
        if self._marked is not None:
            return [by_path[path] for path in self._marked if path in by_path]
        first = [one for one in self.known if one.path == self.in_force]
        return [*first, *(one for one in self.known if one.path != self.in_force)][:2]

    def row_hint(self, row: int) -> str:
        name = visible(self.names[self.known[row].path])
        return f"Space chooses {name}, or no longer; Enter compares those with a letter."

    @property
    def n_rows(self) -> int:
        return len(self.known)

    @property
    def empty(self) -> str:
        """Where tokenizers come from."""
        return "No tokenizer is here yet: train one (F6), or open or fetch one (Ctrl+P)."

    def action_mark(self) -> None:
        """Choose the tokenizer under the cursor, or no longer."""
        if (row := self.current) is None:
            return
        marked, path = [one.path for one in self.chosen], self.known[row].path
        if path in marked:
            marked.remove(path)
        elif len(marked) < len(LETTERS):
            marked.append(path)
        else:
            self.notify("Four tokenizers can be compared at once: take one away first, with the space bar on it.")
        self._marked = marked
        self.refresh()
        self.post_message(self.Marked())

    def row_selected(self, row: int) -> None:
        self.post_message(self.Decided())
