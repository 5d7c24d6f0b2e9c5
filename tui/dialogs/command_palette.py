"""ScopeCommands: the commands, lessons, presets, examples and samples that the command palette offers."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from textual.command import Provider
from textual.widget import Widget

from bpe_core.content.presets import PRESETS
from bpe_core.content.samples import EXAMPLES, SAMPLES
from tui.commands.command import Command, features_of, in_background, main_screen
from tui.commands.keys import action_of
from tui.commands.table import COMMANDS
from tui.dialogs.help import active_parts
from tui.dialogs.palette_search import EntryProvider, PaletteEntry
from tui.disk.lessons import own_lessons
from tui.terminal.guards import GuardedPalette

_TEXTUALS_WORDS: Final = {
    "Theme": "color colour dark light night contrast appearance",
    "Quit": "exit close leave",
    "Screenshot": "image svg export",
}
"""Textual command -> other words for it."""


class Lessons(EntryProvider):
    """The lessons of the tour."""

    PREFIX: ClassVar[str] = "How BPE learns "

    def listed(self) -> Iterator[PaletteEntry]:
        remembered = main_screen(self.screen).remembered.lessons
        for lesson in own_lessons():
            number = lesson.name.partition("-")[0]
            name = f"{number}: {lesson.title}"
            run = partial(self._open, lesson.name)
            description = f"{len(lesson.steps)} steps"
            left_at = remembered.get(lesson.name, "0")
            if left_at != "0":
                description += f"; resume after step {left_at}"
            yield PaletteEntry(name, run, description)

    def _open(self, name: str) -> None:
        in_background(self.screen, features_of(self.screen).tour.open(name))


class Presets(EntryProvider):
    """The classic examples, which run with their own text and options."""

    PREFIX: ClassVar[str] = "Preset: "

    def listed(self) -> Iterator[PaletteEntry]:
        training = features_of(self.screen).training
        for name, preset in PRESETS.items():
            run = partial(training.run_preset, name)
            yield PaletteEntry(preset.title, run, preset.reason, words=preset.words)


class Examples(EntryProvider):
    """The short texts for the editor."""

    PREFIX: ClassVar[str] = "Example: "

    def listed(self) -> Iterator[PaletteEntry]:
        for number, example in enumerate(EXAMPLES):
            run = partial(self._show, number)
            yield PaletteEntry(example.title, run, example.see)

    def _show(self, number: int) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        screen.editor.action_show_example(number)


class Samples(EntryProvider):
    """The sample texts, in the corpus pane."""

    PREFIX: ClassVar[str] = "Sample: "

    def listed(self) -> Iterator[PaletteEntry]:
        for sample in SAMPLES:
            run = partial(self._show, str(sample.path))
            yield PaletteEntry(sample.title, run, sample.reason)

    def _show(self, path: str) -> None:
        screen = main_screen(self.screen)
        screen.active = "corpus"
        screen.set_focus(screen.corpus_pane.texts)
        screen.corpus_pane.texts.show_sample(path)


class ScopeCommands(EntryProvider):
    """The lists of lessons and presets, the commands that can run now, two more lists, then Textual's commands.

    Over a dialog there are only Textual's, because ours would change the screen below it.
    """

    def listed(self) -> Iterator[PaletteEntry]:
        if not self.screen.is_modal:
            yield from self._own_commands()
        yield from self._textuals()

    def searched(self) -> Iterator[PaletteEntry]:
        if not self.screen.is_modal:
            yield from self._own_commands()
            for provider in (Lessons, Presets, Examples, Samples):
                for entry in provider(self.screen).listed():
                    yield entry._replace(name=provider.PREFIX + entry.name)
        yield from self._textuals()

    def _own_commands(self) -> Iterator[PaletteEntry]:
        yield self._list(
            Lessons,
            "Lessons…",
            "How BPE learns, in lessons of a minute each on this screen",
            "tutorial tour lesson learn help course teach start introduction",
        )
        yield self._list(
            Presets,
            "Presets…",
            "classic examples, such as aaabdaaabac, with their known results",
            "classic example published",
        )
        named = set()
        # The commands of the focused widget come first. Those without a name use the label of their key.
        for active in active_parts(self.screen):
            for command in COMMANDS[active.part]:
                named.add(command)
                name = command.name or command.label
                if name and command.applies(active.owner):
                    yield self._entry(command, name, active.part, active.owner)
        for part in COMMANDS:
            for command in COMMANDS[part]:
                is_new = command.name and command not in named
                if is_new and command.applies(self.screen):
                    yield self._entry(command, command.name, part, self.screen)
        yield self._list(
            Examples,
            "Examples…",
            "short texts for the editor that show how tokens behave",
        )
        yield self._list(Samples, "Samples…", "texts to train on, in the corpus pane")

    def _entry(
        self, command: Command, name: str, part: str, owner: Widget
    ) -> PaletteEntry:
        run: Callable[[str], object] = owner.run_action
        if part == "Editor":
            run = self._run_in_editor
        return PaletteEntry(
            name,
            partial(run, action_of(command)),
            command.does,
            command.keys,
            command.words,
        )

    def _list(
        self, provider: type[Provider], name: str, description: str, words: str = ""
    ) -> PaletteEntry:
        """Return an entry that opens a list to choose from."""
        kind = name.removesuffix("…").lower()
        run = partial(self._open_list, provider, f"Search for {kind}…")
        return PaletteEntry(name, run, description, words=words)

    def _open_list(self, provider: type[Provider], placeholder: str) -> None:
        palette = GuardedPalette(providers=[provider], placeholder=placeholder)
        self.app.push_screen(palette)

    async def _run_in_editor(self, action: str) -> None:
        screen = main_screen(self.screen)
        screen.action_show("editor")
        await screen.editor.run_action(action)

    def _textuals(self) -> Iterator[PaletteEntry]:
        commands = sorted(self.app.get_system_commands(self.screen))
        for title, description, run, _ in commands:
            words = _TEXTUALS_WORDS.get(title, "")
            yield PaletteEntry(title, run, description, words=words)
