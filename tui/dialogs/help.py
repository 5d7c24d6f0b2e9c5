"""Help: the words and keys of the focused pane, then of all others."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.auditing.findings import KINDS
from tui.commands.keys import PartBindings, help_lines
from tui.commands.panes import PANE_BY_ID, PANES
from tui.commands.table import COMMANDS
from tui.glossary import WORDS
from tui.table.columns import Column
from tui.terminal.guards import Dialog
from tui.widgets import merge_columns, token_columns
from tui.widgets.pane import Pane

_COLUMNS: dict[str, Iterable[Column]] = {
    "Training": merge_columns.COLUMNS,
    "Audit": token_columns.COLUMNS,
}
"""Title of a pane -> the columns of its table, whose hints explain further words."""


class Help(Dialog[None]):
    """The help on the focused pane. F1 shows the help on all others below it; F1 again closes the help."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close"),
        Binding("f1", "more"),
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        self._title = PANE_BY_ID["training"].title
        for node in (screen.focused or screen).ancestors_with_self:
            if isinstance(node, Pane) and node.id:
                self._title = PANE_BY_ID[node.id].title
                break
        parts = [active.part for active in active_parts(screen)]
        self._sections = sections(self._title, dict.fromkeys([*parts, self._title]))

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", id="help") as box:
            box.border_title = f"Help  {self._title}"
            box.border_subtitle = "F1 help on everything else · Esc closes"
            yield Static(self._sections.first)

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    async def action_more(self) -> None:
        box = self.query_one("#help")
        if len(box.children) > 1:
            self.dismiss(None)
            return
        box.border_title = "Help"
        box.border_subtitle = "Esc closes"
        others = Static(self._sections.others)
        await box.mount(others)
        others.scroll_visible(top=True, animate=False)


class ActivePart(NamedTuple):
    """A part of the table of commands whose keys work at present."""

    part: str
    owner: Widget
    """The widget that has the keys."""


def active_parts(screen: Screen[Any]) -> Iterator[ActivePart]:
    """Yield the parts with keys for the focused widget, the nearest first."""
    if screen.focused is None:
        return
    for node in screen.focused.ancestors_with_self:
        if not isinstance(node, Widget) or node is screen:
            continue
        for base in type(node).__mro__:
            bindings = vars(base).get("BINDINGS")
            if isinstance(bindings, PartBindings):
                yield ActivePart(bindings.part, node)


class Sections(NamedTuple):
    """The two halves of the help."""

    first: Group
    others: Group


def sections(title: str, parts: Collection[str]) -> Sections:
    """Return the words of the pane called `title` and the keys of `parts`; then the words and keys of all others."""
    other_words = [_words(pane.title) for pane in PANES if pane.title != title]
    other_keys = [_keys(part) for part in COMMANDS if part not in parts]
    findings = {name: kind.meaning for name, kind in KINDS.items()}
    return Sections(
        Group(_words(title), *(_keys(part) for part in parts if part in COMMANDS)),
        Group(
            *other_keys, *other_words, _section("Kinds of findings", findings.items())
        ),
    )


def _words(pane: str) -> Group:
    meanings = dict(WORDS.get(pane, {}))
    for column in _COLUMNS.get(pane, ()):
        if column.hint:
            meanings.setdefault(column.heading, column.hint)
    return _section(f"{pane}: words", meanings.items())


def _keys(part: str) -> Group:
    return _section(f"{part}: keys", help_lines(COMMANDS[part]))


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Group:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=14)
    table.add_column()
    for name, meaning in rows:
        # The column of the marks has no heading.
        table.add_row(Text(name.strip() or "▲ ● ○"), Text(meaning, "dim"))
    if not table.row_count:
        return Group()
    return Group(Text(title, "bold"), table, "")
