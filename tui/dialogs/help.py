"""What can be done, and what words mean: the help, and what the command palette offers."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any, ClassVar, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider
from textual.widget import Widget
from textual.widgets import Static

from bpe_core.auditing.findings import KINDS
from tui.commands.command import features_of, in_background, main_screen
from tui.commands.key_names import long_name
from tui.commands.keys import PartBindings, action_of, help_lines
from tui.commands.panes import PANE_BY_ID, PANES
from tui.commands.table import COMMANDS
from tui.disk.lessons import own_lessons
from tui.glossary import WORDS
from tui.terminal.guards import Dialog
from tui.widgets import merge_columns, token_table
from tui.widgets.pane import Pane

_MINUTE: Final = "a lesson on this screen; it is taken up where you left it"


class Help(Dialog[None]):
    """About what has the focus; the key that opened it shows all else below, and then closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close"),
        Binding("f1", "more"),
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        panes = [
            node.id
            for node in (screen.focused or screen).ancestors_with_self
            if isinstance(node, Pane)
        ]
        self._title = PANE_BY_ID[panes[0] if panes and panes[0] else "training"].title
        self._here, self._rest = sections(
            self._title, dict.fromkeys([*dict(parts_at(screen)), self._title])
        )

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", id="help") as box:
            box.border_title, box.border_subtitle = (
                f"Help  {self._title}",
                "F1 all the rest · Esc closes",
            )
            yield Static(self._here)

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    async def action_more(self) -> None:
        box = self.query_one("#help")
        if len(box.children) > 1:
            self.dismiss(None)
        else:
            box.border_title, box.border_subtitle = "Help", "Esc closes"
            await box.mount(rest := Static(self._rest))
            rest.scroll_visible(top=True, animate=False)


def parts_at(screen: Screen[Any]) -> Iterator[tuple[str, Widget]]:
    """The parts of the table of commands whose keys work where the focus is, the nearest first, and whose they are."""
    for node in screen.focused.ancestors_with_self if screen.focused else ():
        if isinstance(node, Widget) and node is not screen:
            for base in type(node).__mro__:
                keys = vars(base).get("BINDINGS")
                if isinstance(keys, PartBindings):
                    yield keys.part, node


def sections(title: str, parts: Collection[str]) -> tuple[Group, Group]:
    """The words of a pane, then the keys of `parts`; and all the rest."""
    columns = {"Training": merge_columns.COLUMNS, "Audit": token_table.COLUMNS}

    def words(pane: str) -> Group:
        hints = {
            column.heading: column.hint
            for column in columns.get(pane, ())
            if column.hint
        }
        meanings = WORDS.get(pane, {})
        # Each once, a word as such.
        return _section(f"{pane}: words", {**meanings, **hints, **meanings}.items())

    keys = {
        part: _section(f"{part}: keys", help_lines(some))
        for part, some in COMMANDS.items()
    }
    others = [words(pane.title) for pane in PANES if pane.title != title]
    rest = [section for part, section in keys.items() if part not in parts]
    found = _section(
        "What an audit finds", ((name, kind.meaning) for name, kind in KINDS.items())
    )
    here = [keys[part] for part in parts if part in keys]
    return Group(words(title), *here), Group(*rest, *others, found)


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Group:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=14)
    table.add_column()
    for name, meaning in rows:
        table.add_row(Text(name.strip() or "▲ ● ○"), Text(meaning, "dim"))
    if not table.row_count:
        return Group()
    return Group(Text(title, "bold"), table, "")


class ScopeCommands(SystemCommandsProvider):
    """The commands that do something now, the editor's examples, then Textual's.

    Over a dialog there are Textual's alone: ours would act below it.
    """

    def _commands(self) -> Iterator[tuple[str, Content, Callable[[], object], str]]:
        from bpe_core.content.samples import EXAMPLES

        if self.screen.is_modal:
            return
        for lesson in own_lessons()[1:]:
            name = f"How BPE learns {lesson.name.partition('-')[0]}: {lesson.title}"
            yield (
                name,
                Content(),
                partial(self._open_lesson, lesson.name),
                _MINUTE,
            )
        for part, owner in (
            *((part, self.screen) for part in COMMANDS),
            *parts_at(self.screen),
        ):
            run = self._in_editor if part == "Editor" else owner.run_action
            for command in COMMANDS[part]:
                name = (
                    command.name
                    if owner is self.screen
                    else command.label * (not command.name)
                )
                if name and command.applies(owner):
                    key = command.keys.partition(",")[0]
                    shown = Content.styled(
                        f"  {long_name(key)}" if key else "", "$text-muted"
                    )
                    yield name, shown, partial(run, action_of(command)), command.does
        for number, one in enumerate(EXAMPLES):
            yield (
                f"Example: {one.title}",
                Content(),
                partial(self._show_example, number),
                one.see,
            )

    def _open_lesson(self, name: str) -> None:
        in_background(self.screen, features_of(self.screen).tour.open(name))

    def _show_example(self, number: int) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        screen.editor.action_show_example(number)

    async def _in_editor(self, action: str) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        await screen.editor.run_action(action)

    async def discover(self) -> Hits:
        for name, key, run, does in self._commands():
            yield DiscoveryHit(Content(name) + key, run, name, does)
        async for hit in super().discover():
            yield hit

    async def search(self, query: str) -> Hits:
        matcher, sought = self.matcher(query), query.casefold()
        for name, key, run, does in self._commands():
            # Behind names that hold it, before those that hold its letters here and there.
            told = 2.0 * len(query) if sought in does.casefold() else 0.0
            if (score := max(matcher.match(name), told)) > 0:
                yield Hit(score, matcher.highlight(name) + key, run, name, does)
        async for hit in super().search(query):
            yield hit
