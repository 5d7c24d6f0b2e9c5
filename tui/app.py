"""The app: themes, commands and what is remembered. It knows nothing about byte-pair encoding."""

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
from tui.commands.keys import HasCommands, PartBindings
from tui.disk.config import load_configuration
from tui.drawing.palette import TOKEN_COLORS
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

SIXTEEN: Final = "ansi-dark"  # Textual's theme of the terminal's own colors, whose ground and ink it takes


def has_few_colors() -> bool:
    """Whether the terminal has no more than 16 colors, to which those of most themes would all be gray."""
    wanted: Any = (
        constants.COLOR_SYSTEM
    )  # an environment variable of Textual's; "auto" without it
    console = Console(force_terminal=True, color_system=wanted, legacy_windows=False)
    return console.color_system in ("standard", "windows")


def _commands() -> type[Provider]:
    from tui.dialogs.help import (
        ScopeCommands,
    )  # once somebody asks: it knows the columns of all tables

    return ScopeCommands


class BpeScope(HasCommands, App[None]):
    """bpescope, opened on `paths`, with `tokenizers` in its list and the last of them in force.

    Paths and tokenizers are looked at after the first frame, in a thread. It begins with a `lesson`, if that is the
    path of one.
    """

    TITLE = "bpescope"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar = {
        _commands
    }  # Textual asks several in no order, and the lessons come first
    BINDINGS: ClassVar[list[BindingType]] = PartBindings("In dialogs too")

    def __init__(
        self,
        paths: tuple[str, ...] = (),
        tokenizers: tuple[str, ...] = (),
        *,
        full_speed: bool = False,
        lesson: str = "",
    ) -> None:
        self._doubts: list[str] = []
        self._arguments = Arguments(paths, tokenizers, lesson)
        configuration = load_configuration(self._doubts.append)
        self._configuration = (
            replace(configuration, pace=0) if full_speed else configuration
        )
        # Before anything is made of a theme: to set another one later is to parse all style sheets twice.
        self._few_colors = has_few_colors()
        usual = SIXTEEN if self._few_colors else INK.name
        self.set_reactive(
            App.theme,
            configuration.theme
            if configuration.theme in self.available_themes
            else usual,
        )
        super().__init__()
        self._loaded = asyncio.Event()
        self.type_ahead = TypeAhead(self, self._loaded)
        self._question: Screen[int | None] | None = (
            None  # whether to leave without the text
        )

    def deliver_screenshot(self, *arguments: Any, **options: Any) -> str | None:
        with suppress(
            ScreenStackError
        ):  # the app is leaving: there is no screen to draw
            return super().deliver_screenshot(*arguments, **options)
        return None

    @cached_property
    def available_themes(self) -> dict[str, Theme]:
        """Textual's and ours, as far as this terminal can show them; cached, for each part drawn asks for it."""
        themes = {theme.name: theme for theme in (*BUILTIN_THEMES.values(), *THEMES)}
        return (
            {name: theme for name, theme in themes.items() if theme.ansi}
            if self._few_colors
            else themes
        )

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return TOKEN_COLORS

    def get_driver_class(self) -> type[Driver]:
        return enduring(super().get_driver_class())

    def get_default_screen(self) -> MainScreen:
        self.main = MainScreen(self._configuration, self._loaded, self._arguments)
        return self.main

    async def on_event(self, event: events.Event) -> None:
        if (
            isinstance(event, events.InputEvent | events.Paste)
            and not self.screen_stack
        ):
            return  # the app is leaving: Textual would ask a screen for its keys (ScreenStackError)
        if (
            isinstance(event, events.Key)
            and event.key == "ctrl+q"
            and not event.is_forwarded
        ):
            self.run_worker(
                self.action_quit(), group="quit"
            )  # whatever else is going on, and whatever has the focus
            return
        if isinstance(event, events.MouseMove) and isinstance(
            self._peek_message(), events.MouseMove
        ):
            return  # only the last place of the mouse counts, however slowly the screen follows it
        if self.type_ahead.holds(event):
            return
        if (
            isinstance(event, events.MouseEvent)
            and not event.is_forwarded
            and leads_nowhere(self.screen, event)
        ):
            return
        forwarded = event.is_forwarded
        await super().on_event(event)
        if not forwarded:
            self.type_ahead.passed(event)
            if isinstance(event, events.Key):
                self.main.hear(event.key)

    def on_mount(self) -> None:
        for sentence in self._doubts:
            self.notify(visible(sentence), severity="warning", markup=False)
        self.theme_changed_signal.subscribe(
            self, lambda theme: self.main.remember(theme=theme.name)
        )
        for number in (
            ()
            if self.is_headless
            else (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
        ):
            asyncio.get_running_loop().add_signal_handler(
                number, self._end, 128 + number
            )  # what shells expect

    @work(group="quit")
    async def _end(self, code: int) -> None:
        await (
            self._loaded.wait()
        )  # a pane that is taken away while it is mounted finds no children (NoMatches)
        self.exit(return_code=code)

    async def action_quit(self) -> None:
        from tui.dialogs.questions import Confirm

        await self._loaded.wait()
        refused = await self.main.why_not_kept()
        if not refused or self.screen is self._question:
            self.exit()
        else:
            question = f"The text cannot be kept for the next start: {refused}. Ctrl+S saves it elsewhere. Leave now?"
            self._question = Confirm(question, "Leave", "Stay")
            self.push_screen(
                self._question, lambda leave: self.exit() if leave else None
            )

    def panic(self, *renderables: RenderableType) -> None:
        self.exit(return_code=1)  # a crash outside of the event loop would leave with 0
        super().panic(*renderables)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, GuardedPalette):
            self.push_screen(GuardedPalette(id="--command-palette"))

    def search_themes(self) -> None:
        from textual.theme import ThemeProvider

        self.push_screen(
            GuardedPalette(providers=[ThemeProvider], placeholder="Search for themes…")
        )

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands those that ours do not double; over a dialog none that act on the screen below."""
        wanted = (
            ("Theme", "Quit") if screen.is_modal else ("Theme", "Quit", "Screenshot")
        )
        return (
            command
            for command in super().get_system_commands(screen)
            if command.title in wanted
        )
