"""ScopeCommands: the commands, lessons and examples that the command palette offers."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

from textual.command import DiscoveryHit, Hit, Hits
from textual.content import Content
from textual.system_commands import SystemCommandsProvider
from textual.widget import Widget

from tui.commands.command import Command, features_of, in_background, main_screen
from tui.commands.key_names import long_name
from tui.commands.keys import action_of
from tui.commands.table import COMMANDS
from tui.dialogs.help import active_parts
from tui.disk.lessons import own_lessons

_ABOUT_LESSONS: Final = "a lesson on this screen; you can leave it and resume it later"
_SCORE_OF_DESCRIPTION: Final = 2.0
"""Per letter of a query that is in a description: more than letters scattered in a name, less than a name with it."""


class PaletteEntry(NamedTuple):
    """A row of the palette."""

    name: str
    run: Callable[[], object]
    description: str
    keys: str = ""

    @property
    def shown_keys(self) -> Content:
        if not self.keys:
            return Content()
        first_key = self.keys.partition(",")[0]
        return Content.styled(f"  {long_name(first_key)}", "$text-muted")


class ScopeCommands(SystemCommandsProvider):
    """The lessons, the commands that can run now, the editor's examples, then Textual's commands.

    Over a dialog there are only Textual's, because ours would change the screen below it.
    """

    def _entries(self) -> Iterator[PaletteEntry]:
        if self.screen.is_modal:
            return
        yield from self._lessons()
        for part in COMMANDS:
            for command in COMMANDS[part]:
                if command.name:
                    yield from self._entry(command, command.name, part, self.screen)
        # Commands without a name belong to the focused widget, and are called like their keys.
        for active in active_parts(self.screen):
            for command in COMMANDS[active.part]:
                if command.label and not command.name:
                    yield from self._entry(
                        command, command.label, active.part, active.owner
                    )
        yield from self._examples()

    def _entry(
        self, command: Command, name: str, part: str, owner: Widget
    ) -> Iterator[PaletteEntry]:
        if command.applies(owner):
            run = self._run_in_editor if part == "Editor" else owner.run_action
            action = partial(run, action_of(command))
            yield PaletteEntry(name, action, command.does, command.keys)

    def _lessons(self) -> Iterator[PaletteEntry]:
        # The first lesson is the welcome.
        for lesson in own_lessons()[1:]:
            number = lesson.name.partition("-")[0]
            name = f"How BPE learns {number}: {lesson.title}"
            yield PaletteEntry(
                name, partial(self._open_lesson, lesson.name), _ABOUT_LESSONS
            )

    def _examples(self) -> Iterator[PaletteEntry]:
        from bpe_core.content.samples import EXAMPLES

        for number, example in enumerate(EXAMPLES):
            yield PaletteEntry(
                f"Example: {example.title}",
                partial(self._show_example, number),
                example.see,
            )

    def _open_lesson(self, name: str) -> None:
        in_background(self.screen, features_of(self.screen).tour.open(name))

    def _show_example(self, number: int) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        screen.editor.action_show_example(number)

    async def _run_in_editor(self, action: str) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        await screen.editor.run_action(action)

    async def discover(self) -> Hits:
        for entry in self._entries():
            yield DiscoveryHit(
                Content(entry.name) + entry.shown_keys,
                entry.run,
                entry.name,
                entry.description,
            )
        async for hit in super().discover():
            yield hit

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        sought = query.casefold()
        for entry in self._entries():
            score = matcher.match(entry.name)
            if sought in entry.description.casefold():
                score = max(score, _SCORE_OF_DESCRIPTION * len(query))
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(entry.name) + entry.shown_keys,
                    entry.run,
                    entry.name,
                    entry.description,
                )
        async for hit in super().search(query):
            yield hit
