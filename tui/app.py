"""The app: themes, key events, signals and how it ends. It contains nothing about byte-pair encoding."""

import asyncio
import json
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from rich.console import Console, RenderableType
from textual import constants, events, work
from textual.app import App, ScreenStackError, SystemCommand
from textual.binding import BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme

from bpe_core.visible import visible
from tui.commands.keys import PRIORITY_KEYS, HasCommands, PartBindings
from tui.disk.config import load_configuration
from tui.drawing.palette import TOKEN_COLORS
from tui.features.text_keeper import unkept_sentence
from tui.screen import MainScreen
from tui.state import Arguments
from tui.terminal.driver import enduring
from tui.terminal.guards import GuardedPalette, leads_nowhere
from tui.terminal.type_ahead import TypeAhead

THEMES: Final = tuple(
    Theme(**colors)
    for colors in json.loads(Path(__file__).with_name("themes.json").read_bytes())
)
INK, PAPER = THEMES

_ENDING_SIGNALS: Final = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
)

SIXTEEN: Final = "ansi-dark"
"""Textual's theme that uses the terminal's own colors."""


def has_few_colors() -> bool:
    """Whether the terminal has 16 colors or fewer, in which most themes would be all gray."""
    # Set by an environment variable of Textual; "auto" without it.
    color_system: Any = constants.COLOR_SYSTEM
    console = Console(
        force_terminal=True, color_system=color_system, legacy_windows=False
    )
    return console.color_system in ("standard", "windows")


def _commands() -> type[Provider]:
    # Imported when the palette opens, because it imports the columns of all tables.
    from tui.dialogs.command_palette import ScopeCommands

    return ScopeCommands


class BpeScope(HasCommands, App[None]):
    """bpescope, opened on `paths`, with `tokenizers` in its list. It shows the last of them.

    Paths and tokenizers are read in a thread after the first frame. A `lesson`, given by its name or path, begins then.
    """

    TITLE = "bpescope"
    CSS_PATH = "app.tcss"
    # One provider for all commands: Textual asks several in any order, but lessons come first.
    COMMANDS: ClassVar = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("In dialogs too")

    def __init__(
        self,
        paths: tuple[str, ...] = (),
        tokenizers: tuple[str, ...] = (),
        *,
        full_speed: bool = False,
        lesson: str = "",
    ) -> None:
        self._warnings: list[str] = []
        self._arguments = Arguments(paths, tokenizers, lesson)
        self._configuration = load_configuration(self._warnings.append)
        # Choose the theme before anything is drawn: changing it later parses all style sheets twice.
        self._few_colors = has_few_colors()
        theme = self._configuration.theme
        if theme not in self.available_themes:
            theme = INK.name
            if self._few_colors:
                theme = SIXTEEN
        self.set_reactive(App.theme, theme)
        if full_speed:
            self._configuration = replace(self._configuration, pace=0)
        super().__init__()
        self._loaded = asyncio.Event()
        self.type_ahead = TypeAhead(self, self._loaded)
        self._question: Screen[int | None] | None = None
        """The question whether to leave although the text is not saved."""

    def deliver_screenshot(self, *arguments: Any, **options: Any) -> str | None:
        # Without a screen, the app is ending.
        with suppress(ScreenStackError):
            return super().deliver_screenshot(*arguments, **options)
        return None

    @cached_property
    def available_themes(self) -> dict[str, Theme]:
        """The themes that this terminal can show, by name. Cached, because each widget reads it when drawn."""
        themes = dict(BUILTIN_THEMES)
        for theme in THEMES:
            themes[theme.name] = theme
        if self._few_colors:
            return {name: theme for name, theme in themes.items() if theme.ansi}
        return themes

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return TOKEN_COLORS

    def get_driver_class(self) -> type[Driver]:
        return enduring(super().get_driver_class())

    def get_default_screen(self) -> MainScreen:
        self.main = MainScreen(self._configuration, self._loaded, self._arguments)
        return self.main

    async def on_event(self, event: events.Event) -> None:
        forwarded = event.is_forwarded
        if self._ignores(event):
            return
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            # Many terminals send the letter too, but Alt and a letter is a command: no field types it.
            event.character = None
        if isinstance(event, events.Key) and event.key == "ctrl+q" and not forwarded:
            # Works whatever has the focus, and whatever else is running.
            self.run_worker(self.action_quit(), group="quit")
            return
        if self.type_ahead.holds(event):
            return
        if isinstance(event, events.Key | events.MouseDown | events.Paste):
            # Any input opens the studio.
            self.main.stage.close()
        if isinstance(event, events.MouseEvent) and self._leads_nowhere(event):
            return
        await super().on_event(event)
        if not forwarded:
            self.type_ahead.passed(event)
        if isinstance(event, events.Key):
            # A key goes to the focused widget, and is done when it has come back (`forwarded`).
            # A priority key does not go there, and is done at once.
            comes_back = event.key not in PRIORITY_KEYS
            if forwarded == comes_back:
                self.main.hear(event.key)

    def _ignores(self, event: events.Event) -> bool:
        """Whether an event comes too late, or a later one replaces it."""
        is_input = isinstance(event, events.InputEvent | events.Paste)
        if is_input and not self.screen_stack:
            # The app is ending. Textual would raise ScreenStackError.
            return True
        if not isinstance(event, events.MouseMove):
            return False
        # Only the last position of the mouse counts, even if drawing is slow.
        return isinstance(self._peek_message(), events.MouseMove)

    def _leads_nowhere(self, event: events.MouseEvent) -> bool:
        return not event.is_forwarded and leads_nowhere(self.screen, event)

    def on_mount(self) -> None:
        for sentence in self._warnings:
            self.notify(visible(sentence), severity="warning", markup=False)
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for number in _ENDING_SIGNALS:
                # Shells expect this exit code.
                loop.add_signal_handler(number, self._end, 128 + number)

    def _remember_theme(self, theme: str | None) -> None:
        if theme is not None:
            self.main.remember(theme=theme)

    @work(group="quit")
    async def _end(self, code: int) -> None:
        # A pane that is removed while it is mounted raises NoMatches.
        await self._loaded.wait()
        self.exit(return_code=code)

    async def action_quit(self) -> None:
        from tui.dialogs.confirm import Confirm

        await self._loaded.wait()
        problem = await self.main.text_keeper.keep()
        if not problem or self.screen is self._question:
            self.exit()
            return
        question = f"{unkept_sentence(problem)} Leave now?"
        self._question = Confirm(question, "Leave", "Stay")
        self.push_screen(self._question, self._leave_if)

    def _leave_if(self, answer: int | None) -> None:
        if answer:
            self.exit()

    def panic(self, *renderables: RenderableType) -> None:
        # A crash outside of the event loop would leave with exit code 0.
        self.exit(return_code=1)
        super().panic(*renderables)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, GuardedPalette):
            self.push_screen(GuardedPalette(id="--command-palette"))

    def search_themes(self) -> None:
        from tui.dialogs.theme_picker import ThemePicker

        self.push_screen(ThemePicker(self.theme), self._remember_theme)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return Textual's commands for themes, quitting and, outside of dialogs, screenshots."""
        wanted = ["Theme", "Quit"]
        if not screen.is_modal:
            wanted.append("Screenshot")
        return (
            command
            for command in super().get_system_commands(screen)
            if command.title in wanted
        )
