"""TokenizerPicker: which of the tokenizers on this computer are compared, in which order; four at most."""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.message import Message

from bpe_core.visible import visible
from tui.commands import bindings
from tui.drawing.columns import Column, PlacedColumn, fit, line, place_columns
from tui.drawing.small_plots import LETTERS
from tui.drawing.tokenizer_texts import names_told_apart
from tui.state.tokenizers import KnownTokenizer
from tui.widgets.row_list import RowList

_COLUMNS: Final = (
    Column("mark", 3, title=" ", hint="A is the one that the others are compared with."),
    Column("name", 16, 40, title="tokenizer", hint="Space chooses it, in the order A, B, C, D."),
    Column("tokens", 9, right=True, rank=1, hint="Tokens in the vocabulary, as far as that is known."),
    Column("path", 16, 100, rank=2, title="file", hint="Where it lies."),
)


class TokenizerPicker(RowList):
    """The tokenizers that can be put in force; Space marks one, Enter compares those that are marked."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Tokenizers to compare")

    class Decided(Message):
        """Those that are marked should be compared."""

    class Marked(Message):
        """Others are marked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._known: tuple[KnownTokenizer, ...] = ()
        self._names: Mapping[str, str] = {}
        self._in_force = ""
        self._marked: list[str] | None = None
        """The paths that the user marked, in order; None as long as nobody did."""

    def show(self, known: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List these tokenizers; the path of the one in force is `in_force`."""
        self._known, self._in_force = known, in_force
        self._names = names_told_apart(known)
        self.show_rows(range(len(known)))
        self.refresh()
        self.post_message(self.Marked())

    @property
    def chosen(self) -> list[KnownTokenizer]:
        """Those that are compared: the marked ones, and as long as none is, the one in force and another."""
        by_path = {known.path: known for known in self._known}
        if self._marked is not None:
            return [by_path[path] for path in self._marked if path in by_path]
        first = [one for one in self._known if one.path == self._in_force]
        return [*first, *(one for one in self._known if one.path != self._in_force)][:2]

    def row_hint(self, row: int) -> str:
        """What can be done with it."""
        if row >= len(self._known):
            return ""
        name = visible(self._names[self._known[row].path])
        return f"Space chooses {name}, or no longer; Enter compares those with a letter."

    def action_mark(self) -> None:
        """Choose the tokenizer under the cursor, or no longer."""
        if (row := self.current) is None:
            return
        marked, path = [one.path for one in self.chosen], self._known[row].path
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
        """Compare."""
        self.post_message(self.Decided())

    # Drawing

    def header_places(self, width: int) -> Sequence[PlacedColumn]:
        """The columns that fit."""
        return place_columns(_COLUMNS, width)

    def render_row(self, row: int, width: int, base: Style) -> Iterable[Segment]:
        """One tokenizer, with the letter that it has in the tables."""
        one = self._known[row]
        paths = [chosen.path for chosen in self.chosen]
        letter = LETTERS[paths.index(one.path)] if one.path in paths else " "
        ink, muted, accent = (self.style_of(name, base) for name in ("row", "muted", "accent"))
        size = f"{one.n_vocab:,}" if one.n_vocab else ""
        in_force = "● " if one.path == self._in_force else ""
        texts = {
            "mark": (f"[{letter}]", accent if letter != " " else muted),
            "name": (in_force + visible(self._names[one.path]), ink),
            "tokens": (size, muted),
            "path": (visible(one.path), muted),
        }
        return line([(place, *texts[place.column.key]) for place in self.header_places(width)], base)

    def render_empty(self, width: int) -> Iterable[Segment]:
        """Where tokenizers come from."""
        text = " No tokenizer is here yet: train one (F6), or open or fetch one (Ctrl+P)."
        yield Segment(fit(text, width), self.style_of("muted"))
