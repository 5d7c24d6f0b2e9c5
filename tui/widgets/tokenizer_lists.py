"""The tokenizers on this computer: a list of which one is put in force, and a table of which some are compared.

Their names are such that none is taken for another, and of each some sentences tell what there is to know.
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
from bpe_core.visible import quoted, visible
from tui.commands.command import features_of, in_background
from tui.commands.keys import HasCommands, PartBindings
from tui.drawing.lines import LETTERS, cut, fit
from tui.state import KnownTokenizer
from tui.table.columns import Cell, Column
from tui.table.table import Table
from tui.terminal.guards import PagedOptionList

NONE: Final = "none yet: F6 trains one"
_DEEPEST: Final = (
    6  # folders above a file, of which one may tell it apart from another of its name
)
_LONGEST_PATTERN: Final = 60


def distinct_names(known: Iterable[KnownTokenizer]) -> dict[str, str]:
    """Path -> name; where several have one name, with what tells them apart: folder, kind of file, size or date."""
    of_name: defaultdict[str, list[KnownTokenizer]] = defaultdict(list)
    for one in known:
        of_name[one.name].append(one)
    names: dict[str, str] = {}
    for name, some in of_name.items():
        marks = _marks(some) if len(some) > 1 else [""]
        names |= {
            one.path: f"{name} · {mark}" if mark else name
            for one, mark in zip(some, marks, strict=True)
        }
    return names


def _marks(some: Sequence[KnownTokenizer]) -> list[str]:
    """The first of their properties that is another one for each of them; the whole path if none is."""
    properties: list[Callable[[KnownTokenizer], str]] = [
        *(partial(_folder, depth) for depth in range(_DEEPEST)),
        lambda one: PurePath(one.path).suffix,
        lambda one: f"{one.n_vocab:,} tokens" if one.n_vocab else "",
        lambda one: one.pattern,
        lambda one: _date(one, "%d %b, %H:%M"),
    ]
    for mark in properties:
        marks = list(map(mark, some))
        if all(marks) and len(set(marks)) == len(marks):
            return marks
    return [one.path for one in some]


def _folder(depth: int, one: KnownTokenizer) -> str:
    if one.origin == "trained":
        return "trained here"
    above = PurePath(one.path).parts[:-1]
    return above[-1 - depth] if depth < len(above) else ""


def _date(one: KnownTokenizer, form: str = "%d %b %Y, %H:%M") -> str:
    return (
        datetime.fromtimestamp(one.modified / 1e9).strftime(form)
        if one.modified
        else ""
    )


def sentences(one: KnownTokenizer) -> list[str]:
    """What there is to know of a tokenizer, the most important first: what is wrong with it, if anything is."""
    lines = []
    if one.trouble == "gone":
        lines.append(
            "Its file is not there any more: put it back, or take it off the list with Delete."
        )
    elif one.trouble == "changed":
        lines.append("Its file has changed since it was opened: Enter reads it anew.")
    if one.n_vocab:
        pattern = (
            one.pattern
            if one.pattern in PATTERNS
            else quoted(one.pattern, _LONGEST_PATTERN)
        )
        split = f"split {'as' if one.pattern in PATTERNS else 'by'} {pattern}"
        lines.append(
            f"{one.n_vocab:,} tokens; a text is {'not split' if one.pattern in ('', 'none') else split}."
        )
    date = _date(one)
    if one.origin == "trained":
        lines.append(f"Trained here{date and f' on {date}'}.")
    elif one.origin == "found":
        lines.append(f"Kept by another program as {visible(one.found_as)}.")
    else:
        lines.append(f"Opened from a file{date and f' of {date}'}.")
    return [*lines, visible(one.path)]


class _Row(NamedTuple):
    """A tokenizer in as many cells as the list has when it is drawn."""

    one: KnownTokenizer
    name: str
    in_force: bool

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        note = self.one.trouble or (f"{self.one.n_vocab:,}" if self.one.n_vocab else "")
        room = max(16, options.max_width) - len(note) - 3
        name = fit(cut(visible(self.name), room, "ends"), room)
        row = Text(f"{'●' if self.in_force else ' '} {name} ", no_wrap=True)
        yield row.append(
            note, Style(bold=True, italic=True) if self.one.trouble else ""
        )


class TokenizerList(HasCommands, PagedOptionList):
    """Enter puts one in force; it can be renamed, split in another way, taken off the list."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokenizers")

    hint: var[str] = var(
        "Tokenizers trained here, opened, or found on this computer; none yet."
    )

    _shown: tuple[tuple[KnownTokenizer, ...], str] = (
        (),
        "",
    )  # what is listed, the one in force

    @property
    def pointed(self) -> KnownTokenizer | None:
        place, kept = self.highlighted, self._shown[0]
        return kept[place] if place is not None and place < len(kept) else None

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
        """List `kept`, the one in force marked; the cursor on it when it is new, or else where it was."""
        if self._shown == (kept, in_force):
            return  # else the whole screen would be laid out anew
        stays = (
            self.pointed and in_force == self._shown[1]
        )  # else it goes where that is seen, however long the list is
        place, on = (
            self.highlighted,
            self.pointed.path if self.pointed and stays else in_force,
        )
        self._shown = kept, in_force
        self.clear_options()
        names = distinct_names(kept)
        rows = [
            Option(_Row(one, names[one.path], one.path == in_force), id=one.path)
            for one in kept
        ]
        self.add_options(rows or [Option(NONE, disabled=True)])
        if kept:
            paths = [tokenizer.path for tokenizer in kept]
            self.highlighted = (
                paths.index(on) if on in paths else min(place or 0, len(kept) - 1)
            )

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
    paths = [chosen.path for chosen in picker.chosen]
    path = picker.known[row].path
    return (
        Cell(f"[{LETTERS[paths.index(path)]}]", "accent")
        if path in paths
        else Cell("[ ]", "muted")
    )


def _name(picker: "TokenizerPicker", row: int) -> str:
    path = picker.known[row].path
    return ("● " if path == picker.in_force else "") + visible(picker.names[path])


def _size(picker: "TokenizerPicker", row: int) -> str:
    return f"{n_vocab:,}" if (n_vocab := picker.known[row].n_vocab) else ""


class TokenizerPicker(Table):
    """Those to compare, four at most; Space marks one, Enter compares those that are marked, in their order."""

    BINDINGS: ClassVar[list[BindingType]] = PartBindings("Tokenizers to compare")
    empty = "No tokenizer yet: F6 trains one, Ctrl+P opens or fetches one."
    FOOTER = False
    COLUMNS = (
        Column(
            "mark",
            3,
            _mark,
            "A is the one that the others are compared with.",
            title=" ",
        ),
        Column(
            "tokenizer",
            16,
            _name,
            "Space chooses it, in the order A, B, C, D.",
            most=40,
        ),
        Column(
            "tokens",
            9,
            _size,
            "Tokens in the vocabulary, if known.",
            right=True,
            rank=1,
            ink="muted",
        ),
        Column(
            "file",
            16,
            lambda table, row: table.known[row].path,
            "Where it lies.",
            most=100,
            rank=2,
            ink="muted",
        ),
    )

    known: tuple[KnownTokenizer, ...] = ()
    names: Mapping[str, str] = MappingProxyType({})  # path -> name
    in_force = ""  # path of the tokenizer in force
    _marked: list[str] | None = (
        None  # the paths that the user marked, in order; None as long as nobody did
    )

    def show(self, known: tuple[KnownTokenizer, ...], in_force: str) -> None:
        """List these tokenizers; the path of the one in force is `in_force`."""
        self.known, self.in_force, self.n_rows = known, in_force, len(known)
        self.names = distinct_names(known)
        self.rearrange()

    @property
    def chosen(self) -> list[KnownTokenizer]:
        """Those that are compared: the marked ones, and as long as none is, the one in force and another."""
        by_path = {known.path: known for known in self.known}
        if self._marked is not None:
            return [by_path[path] for path in self._marked if path in by_path]
        return sorted(
            (one for one in self.known if not one.trouble),
            key=lambda one: one.path != self.in_force,
        )[:2]

    def row_hint(self, row: int) -> str:
        name = visible(self.names[self.known[row].path])
        return f"Space chooses {name}, or leaves it out; Enter compares those with a letter."

    def action_mark(self) -> None:
        if (row := self.current) is None:
            return
        marked, path = [one.path for one in self.chosen], self.known[row].path
        if path in marked:
            marked.remove(path)
        elif len(marked) < len(LETTERS):
            marked.append(path)
        else:
            self.notify(
                "Four tokenizers can be compared at once: take one away first, with the space bar on it."
            )
        self._marked = marked
        self.refresh()
        self.post_message(self.Changed())

    def row_selected(self, row: int) -> None:
        features_of(self).comparison.compare()
