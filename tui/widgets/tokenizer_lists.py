"""The tokenizers on this computer: a list to choose one from, and a table to choose some to compare.

Tokenizers with the same file name get distinct names, and each is described in a few sentences.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.reactive import var
from textual.widgets.option_list import Option

from bpe_core.patterns import PATTERNS
from bpe_core.visible import counted, quoted, visible
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.charts import LETTERS
from tui.drawing.lines import cut, fit
from tui.state import KnownTokenizer
from tui.table.columns import Cell, Column
from tui.table.table import Table
from tui.terminal.guards import PagedOptionList

NONE: Final = "none yet: F6 trains one"
_DEEPEST: Final = 6
"""How many folders above a file may be used to tell it from another of its name."""
_LONGEST_PATTERN: Final = 60


def distinct_names(tokenizers: Iterable[KnownTokenizer]) -> dict[str, str]:
    """Return a name for each path. Add to equal names a folder, a kind of file, a size or a date."""
    by_name: defaultdict[str, list[KnownTokenizer]] = defaultdict(list)
    for tokenizer in tokenizers:
        by_name[tokenizer.name].append(tokenizer)
    names: dict[str, str] = {}
    for name, namesakes in by_name.items():
        if len(namesakes) == 1:
            names[namesakes[0].path] = name
            continue
        for tokenizer, mark in zip(namesakes, _marks(namesakes), strict=True):
            names[tokenizer.path] = f"{name} · {mark}"
    return names


def _marks(tokenizers: Sequence[KnownTokenizer]) -> list[str]:
    """Return the first property that differs for all tokenizers, or else their paths."""
    properties: list[Callable[[KnownTokenizer], str]] = [
        partial(_folder, depth) for depth in range(_DEEPEST)
    ]
    properties += [_suffix, _size, _pattern, _day_and_time]
    for mark_of in properties:
        marks = [mark_of(tokenizer) for tokenizer in tokenizers]
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [tokenizer.path for tokenizer in tokenizers]


def _folder(depth: int, tokenizer: KnownTokenizer) -> str:
    """Return the name of the folder `depth` levels above the one that holds the file."""
    if tokenizer.origin == "trained":
        return "trained here"
    folders = PurePath(tokenizer.path).parts[:-1]
    return folders[-1 - depth] if depth < len(folders) else ""


def _suffix(tokenizer: KnownTokenizer) -> str:
    return PurePath(tokenizer.path).suffix


def _size(tokenizer: KnownTokenizer) -> str:
    return f"{tokenizer.n_vocab:,} tokens" if tokenizer.n_vocab else ""


def _pattern(tokenizer: KnownTokenizer) -> str:
    return tokenizer.pattern


def _day_and_time(tokenizer: KnownTokenizer) -> str:
    return _date(tokenizer, "%d %b, %H:%M")


def _date(tokenizer: KnownTokenizer, form: str = "%d %b %Y, %H:%M") -> str:
    if not tokenizer.modified:
        return ""
    return datetime.fromtimestamp(tokenizer.modified / 1e9).strftime(form)


def sentences(tokenizer: KnownTokenizer) -> list[str]:
    """Describe a tokenizer, the most important first: what is wrong with its file, if anything."""
    lines = []
    if tokenizer.trouble == "gone":
        lines.append(
            "Its file is missing: put it back, or remove it from the list with Delete."
        )
    elif tokenizer.trouble == "changed":
        lines.append("Its file has changed since it was opened: Enter reads it again.")
    if tokenizer.n_vocab:
        tokens = counted(tokenizer.n_vocab, "token")
        lines.append(f"{tokens}; text is {_split(tokenizer.pattern)}.")
    date = _date(tokenizer)
    if tokenizer.origin == "trained":
        lines.append(f"Trained here on {date}." if date else "Trained here.")
    elif tokenizer.origin == "found":
        program = visible(tokenizer.found_as)
        lines.append(f"Kept by another program as {program}.")
    elif date:
        lines.append(f"Opened from a file of {date}.")
    else:
        lines.append("Opened from a file.")
    lines.append(visible(tokenizer.path))
    return lines


def _split(pattern: str) -> str:
    """Describe how a pattern splits text."""
    if pattern in ("", "none"):
        return "not split"
    if pattern in PATTERNS:
        return f"split as {pattern}"
    return f"split by {quoted(pattern, _LONGEST_PATTERN)}"


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
        name = fit(cut(visible(self.name), room, "ends"), room)
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
        features_of(self).tokenizers.check_files()

    def watch_highlighted(self, highlighted: int | None) -> None:
        super().watch_highlighted(highlighted)
        if self.pointed is not None:
            self.hint = " ".join(sentences(self.pointed))
            self.refresh_bindings()

    def show(self, kept: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List tokenizers, and mark the one in use by its path. If another is used, move the cursor to it."""
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
            in_background(self, features_of(self).tokenizers.rename(self.pointed))

    def action_delete(self) -> None:
        if self.pointed is not None:
            in_background(self, features_of(self).tokenizers.discard(self.pointed))


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
        """List tokenizers; `in_force` is the path of the one in use."""
        self.known = known
        self.in_force = in_force
        self.n_rows = len(known)
        self.names = distinct_names(known)
        self.rearrange()

    @property
    def chosen(self) -> list[KnownTokenizer]:
        """The marked tokenizers. Before the first mark, the one in use and another."""
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
        return f"Space adds or removes {name}; Enter compares those with a letter."

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
        self.refresh()
        self.post_message(self.Changed())

    def row_selected(self, row: int) -> None:
        features_of(self).comparison.compare()
