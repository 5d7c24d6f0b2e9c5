"""What can be done, and what words mean: the help, and what the command palette offers."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar

from rich.console import Group
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from bpe_core.auditing.findings import KINDS
from tui.commands import COMMANDS, help_lines, long_name
from tui.glossary import WORDS
from tui.terminal.guards import Dialog
from tui.widgets import merge_log, token_table


class Help(Dialog[None]):
    """Tables below each other; any of the keys that opened it closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f1,q", "dismiss(None)", "Close")]

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", id="help") as box:
            box.border_title, box.border_subtitle = "Help", "Esc closes"
            yield Static(tables())

    def on_mount(self) -> None:
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


class ScopeCommands(Provider):
    """The commands that do something now, and the editor's examples. Over a dialog none: they would act below it."""

    def _commands(self) -> Iterator[tuple[str, Content, Callable[[], object], str]]:
        from bpe_core.content.samples import examples

        if self.screen.is_modal:
            return
        for part, commands in COMMANDS.items():
            run = self._in_editor if part == "Editor" else self.screen.run_action
            for command in commands:
                if command.name and command.applies(self.screen):
                    key = command.keys.partition(",")[0]
                    shown = Content.styled(f"  {long_name(key)}" if key else "", "$text-muted")
                    yield command.name, shown, partial(run, command.run), command.does
        for number, one in enumerate(examples()):
            yield f"Example: {one.title}", Content(), partial(self._in_editor, f"show_example({number})"), one.see

    async def _in_editor(self, action: str) -> None:
        await self.screen.run_action("show('editor')")
        await self.screen.query_one("#editor").run_action(action)

    async def discover(self) -> Hits:
        for name, key, run, does in self._commands():
            yield DiscoveryHit(Content(name) + key, run, name, does)

    async def search(self, query: str) -> Hits:
        matcher, sought = self.matcher(query), query.casefold()
        for name, key, run, does in self._commands():
            # Behind names that hold it, before those that hold its letters here and there.
            told = 2.0 * len(query) if sought in does.casefold() else 0.0
            if (score := max(matcher.match(name), told)) > 0:
                yield Hit(score, matcher.highlight(name) + key, run, name, does)
