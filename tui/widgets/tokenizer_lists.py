"""The tokenizers on this computer: a list to choose one from, and a table to choose some to compare."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets.option_list import Option

from bpe_core.visible import visible
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import cut, fit
from tui.state import LETTERS, KnownTokenizer
from tui.table.columns import Cell, Column
from tui.table.table import Table
from tui.terminal.guards import PagedOptionList
from tui.widgets.tokenizer_names import distinct_names, sentences

NONE: Final = "none yet: F6 trains one"


class _Row(NamedTuple):
    """A tokenizer, drawn as wide as the list is."""

    tokenizer: KnownTokenizer
    name: str
    is_used: bool

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        note: str = self.tokenizer.trouble
        style = Style(bold=True, italic=True)
        if not note:
            n_vocab = self.tokenizer.n_vocab
            note = f"{n_vocab:,}" if n_vocab else ""
            style = Style()
        room = max(16, options.max_width) - len(note) - 3
        name = fit(cut(visible(self.name), room, keep="ends"), room)
        mark = "●" if self.is_used else " "
        yield Text(f"{mark} {name} ", no_wrap=True).append(note, style)


class TokenizerList(HasCommands, PagedOptionList):
    """Enter uses a tokenizer; other keys rename it, change its pattern, or remove it from the list."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokenizers")

    hint: var[str] = var(
        "Tokenizers trained here, opened, or found on this computer; none yet."
    )

    _kept: Sequence[KnownTokenizer] = ()
    _used = ""
    """The path of the tokenizer in use."""

    @property
    def pointed(self) -> KnownTokenizer | None:
        """The tokenizer under the cursor."""
        place = self.highlighted
        if place is None or place >= len(self._kept):
            return None
        return self._kept[place]

    @property
    def on_trained(self) -> bool:
        """Whether the cursor is on a tokenizer that was trained here."""
        return self.pointed is not None and self.pointed.origin == "trained"

    @property
    def on_other(self) -> bool:
        return self.pointed is not None and self.pointed.origin != "trained"

    def on_focus(self) -> None:
        features_of(self).listed.check_files()

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        if self.pointed is not None:
            self.hint = " ".join(sentences(self.pointed))
            self.refresh_bindings()

    def show(self, kept: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List tokenizers. Mark the one with the path `in_force`; move the cursor to it if it is new."""
        if self._kept == kept and self._used == in_force:
            return  # replacing the rows lays out the whole screen again
        place = self.highlighted or 0
        path = in_force
        if self.pointed and in_force == self._used:
            path = self.pointed.path
        self._kept = kept
        self._used = in_force
        self.clear_options()
        if not kept:
            self.add_options([Option(NONE, disabled=True)])
            return
        names = distinct_names(kept)
        paths = [tokenizer.path for tokenizer in kept]
        rows = [
            _Row(tokenizer, names[tokenizer.path], tokenizer.path == in_force)
            for tokenizer in kept
        ]
        self.add_options(Option(row, id=row.tokenizer.path) for row in rows)
        if path in paths:
            self.highlighted = paths.index(path)
        else:
            self.highlighted = min(place, len(kept) - 1)

    def action_change_pattern(self) -> None:
        if self.pointed is not None:
            tokenizers = features_of(self).tokenizers
            in_background(self, tokenizers.change_pattern(self.pointed.path))

    def action_rename(self) -> None:
        if self.pointed is not None:
            in_background(self, features_of(self).listed.rename(self.pointed))

    def action_delete(self) -> None:
        if self.pointed is not None:
            in_background(self, features_of(self).listed.discard(self.pointed))


def _mark(picker: "TokenizerPicker", row: int) -> Cell:
    paths = [tokenizer.path for tokenizer in picker.chosen]
    path = picker.known[row].path
    if path not in paths:
        return Cell("[ ]", "muted")
    return Cell(f"[{LETTERS[paths.index(path)]}]", "accent")


def _name(picker: "TokenizerPicker", row: int) -> str:
    path = picker.known[row].path
    name = visible(picker.names[path])
    return f"● {name}" if path == picker.in_force else name


def _n_tokens(picker: "TokenizerPicker", row: int) -> str:
    n_vocab = picker.known[row].n_vocab
    return f"{n_vocab:,}" if n_vocab else ""


def _path(picker: "TokenizerPicker", row: int) -> str:
    return picker.known[row].path


class TokenizerPicker(Table):
    """Up to four tokenizers to compare: Space marks one, Enter compares the marked ones in their order."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokenizers to compare")
    empty = "No tokenizer yet: F6 trains one, Ctrl+P opens or fetches one."
    FOOTER = False
    COLUMNS = (
        Column(
            "mark",
            3,
            _mark,
            "The others are compared with A.",
            title=" ",
        ),
        Column(
            "tokenizer",
            16,
            _name,
            "Space chooses a tokenizer, in the order A, B, C, D.",
            most=40,
        ),
        Column(
            "tokens",
            9,
            _n_tokens,
            "Tokens in the vocabulary, if known.",
            right=True,
            rank=1,
            ink="muted",
        ),
        Column(
            "file",
            16,
            _path,
            "The tokenizer's file.",
            most=100,
            rank=2,
            ink="muted",
        ),
    )

    known: tuple[KnownTokenizer, ...] = ()
    names: Mapping[str, str] = MappingProxyType({})
    """Path -> name."""
    in_force = ""
    """The path of the tokenizer in use."""
    _marked: list[str] | None = None
    """The paths that the user marked, in order; None before the first mark."""

    def show(self, known: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List tokenizers; the one with the path `in_force` is in use."""
        self.known = known
        self.in_force = in_force
        self.n_rows = len(known)
        self.names = distinct_names(known)
        self.rearrange()

    @property
    def chosen(self) -> list[KnownTokenizer]:
        """The marked tokenizers. Before the first mark: the tokenizer in use, and another."""
        if self._marked is not None:
            by_path = {tokenizer.path: tokenizer for tokenizer in self.known}
            return [by_path[path] for path in self._marked if path in by_path]
        used = []
        others = []
        for tokenizer in self.known:
            if tokenizer.path == self.in_force:
                used.append(tokenizer)
            else:
                others.append(tokenizer)
        usable = [one for one in used + others if not one.trouble]
        return usable[:2]

    def row_hint(self, row: int) -> str:
        name = visible(self.names[self.known[row].path])
        return f"Space marks or unmarks {name}; Enter compares the marked tokenizers."

    def action_mark(self) -> None:
        row = self.current
        if row is None:
            return
        marked = [tokenizer.path for tokenizer in self.chosen]
        path = self.known[row].path
        if path in marked:
            marked.remove(path)
        elif len(marked) < len(LETTERS):
            marked.append(path)
        else:
            self.notify(
                "At most four tokenizers can be compared; remove one first, with Space."
            )
        self._marked = marked
        self.note_target()
        self.refresh()
        self.post_message(self.Changed())

    @property
    def target(self) -> str:
        return "comparison" if self.chosen else ""

    def row_selected(self, row: int) -> None:
        features_of(self).comparison.compare()
