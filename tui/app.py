"""The app: themes, commands and what is remembered. It knows nothing about byte-pair encoding."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Final

from rich.console import Console, RenderableType
from textual import constants, events
from textual.app import App, ScreenStackError, SystemCommand
from textual.binding import BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme

from bpe_core.visible import visible
from tui.commands import bindings
from tui.disk.config import Configuration, load_configuration, save_configuration
from tui.drawing.palette import theme_variables
from tui.screen import MainScreen
from tui.state import Opened
from tui.terminal import signals
from tui.terminal.guards import GuardedPalette, forgiving, leads_nowhere
from tui.terminal.type_ahead import TypeAhead

INK: Final = Theme(
    name="bpescope-dark",
    primary="#e8b15c",
    secondary="#7fb4ca",
    accent="#e8b15c",
    warning="#e0a05a",
    error="#e0707a",
    success="#8fbf7f",
    foreground="#d5d8de",
    background="#14161a",
    surface="#191c21",
    panel="#22262d",
    boost="#272c34",
    dark=True,
    variables={"border": "#4b525e", "border-blurred": "#2c313a"},
)

PAPER: Final = Theme(
    name="bpescope-light",
    primary="#9a5b00",
    secondary="#2f6f8f",
    accent="#9a5b00",
    warning="#a85a00",
    error="#b3313d",
    success="#3f7a2f",
    foreground="#23262b",
    background="#f6f4ef",
    surface="#fbfaf7",
    panel="#ebe7de",
    boost="#e2ddd1",
    dark=False,
    variables={"border": "#a39b8b", "border-blurred": "#d6d0c3"},
)

THEMES: Final = (INK, PAPER)

SIXTEEN: Final = "ansi-dark"
"""Textual's theme of the terminal's own colors: it suits dark and light ones, whose ground and ink it takes."""


def has_few_colors() -> bool:
    """Whether the terminal has no more than 16 colors, to which those of most themes would all be gray."""
    wanted: Any = constants.COLOR_SYSTEM  # an environment variable of Textual's; "auto" without it
    console = Console(force_terminal=True, color_system=wanted, legacy_windows=False)
    return console.color_system in ("standard", "windows")


def that_show(themes: Mapping[str, Theme], few_colors: bool) -> dict[str, Theme]:
    """Of some themes by name, those that a terminal can show."""
    return {name: theme for name, theme in themes.items() if theme.ansi} if few_colors else dict(themes)


_QUIT: Final = "ctrl+q"
_HOUSE: Final = {theme.name: theme for theme in THEMES}


def _commands() -> type[Provider]:
    from tui.dialogs.help import ScopeCommands  # once somebody asks: it knows the columns of all tables

    return ScopeCommands


class BpeScope(App[None]):
    """bpescope, opened on `paths` as its corpus, with `tokenizers` in its list and the last of them in force."""

    TITLE = "bpescope"
    CSS_PATH = "app.tcss"
    COMMANDS = App.COMMANDS | {_commands}
    BINDINGS: ClassVar[list[BindingType]] = bindings("In dialogs too")

    def __init__(
        self, paths: tuple[str, ...] = (), tokenizers: tuple[str, ...] = (), doubts: tuple[str, ...] = ()
    ) -> None:
        self._left_aside: list[str] = list(doubts)
        """What is to be said at the start: what could not be brought back, and `doubts` about what was named."""
        self.configuration: Configuration = load_configuration(self._left_aside.append)
        """What is remembered; replaced as a whole when something in it changes."""
        self._refused = ""
        self._asked: Screen[bool] | None = None
        """The question whether to leave without the text."""
        self.last_words: list[str] = []
        """What is to be said in the terminal once the app has left it."""
        if paths:
            self.configuration = replace(self.configuration, corpus=paths)
        if tokenizers:
            opened = (*self.configuration.opened, *map(Opened, tokenizers))
            self.configuration = replace(self.configuration, tokenizer=tokenizers[-1], opened=opened)
        # Before anything is made of a theme: to set another one later is to parse all style sheets twice.
        self._few_colors = has_few_colors()
        known = self.configuration.theme in that_show({**BUILTIN_THEMES, **_HOUSE}, self._few_colors)
        usual = SIXTEEN if self._few_colors else INK.name
        self.set_reactive(App.theme, self.configuration.theme if known else usual)
        super().__init__()
        self._loaded = asyncio.Event()
        self.type_ahead = TypeAhead(self, self._loaded)
        """Keys for panes that are not there yet, or for a dialog that is about to open."""
        self._panicked = False

    def deliver_screenshot(self, *arguments: Any, **options: Any) -> str | None:
        """Save a picture of the screen; none if the app is leaving meanwhile, when no screen is left to draw."""
        with suppress(ScreenStackError):
            return super().deliver_screenshot(*arguments, **options)
        return None

    @cached_property
    def available_themes(self) -> dict[str, Theme]:
        """Textual's, and those of the house, as far as this terminal can show them; asked for with each part drawn."""
        return that_show({**super().available_themes, **_HOUSE}, self._few_colors)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colors of tokens, for every theme that does not bring its own."""
        return theme_variables()

    def get_driver_class(self) -> type[Driver]:
        """The one for this terminal, whatever the system does with us, and whatever bytes come."""
        return signals.enduring(forgiving(super().get_driver_class()))

    def get_default_screen(self) -> MainScreen:
        """There is one screen."""
        self.main = MainScreen(self.configuration, self._loaded)
        return self.main

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent | events.Paste) and not self.screen_stack:
            return  # the app is leaving: Textual would ask a screen for its keys (ScreenStackError)
        if isinstance(event, events.Key) and event.key == _QUIT and not event.is_forwarded:
            self.run_worker(self.action_quit(), group="quit")  # whatever else is going on, and whatever has the focus
            return
        if isinstance(event, events.MouseMove) and isinstance(self._peek_message(), events.MouseMove):
            return  # only the last place of the mouse counts, however slowly the screen follows it
        if self.type_ahead.holds(event):
            return
        if isinstance(event, events.MouseEvent) and not event.is_forwarded and leads_nowhere(self.screen, event):
            return
        forwarded = event.is_forwarded
        await super().on_event(event)
        if not forwarded:
            self.type_ahead.passed(event)

    def on_mount(self) -> None:
        """Say what was left aside, remember each change of the theme, and end in order when the system says so."""
        for sentence in self._left_aside:
            self.notify(visible(sentence), severity="warning", markup=False)
        self.theme_changed_signal.subscribe(self, lambda theme: self.remember(theme=theme.name))
        if not self.is_headless:
            signals.call_at_end(self._end_soon)

    def _end_soon(self, code: int) -> None:
        self.run_worker(self._end(code), group="quit")

    async def _end(self, code: int) -> None:
        await self._loaded.wait()  # a pane that is taken away while it is mounted finds no children (NoMatches)
        self.exit(return_code=code)

    async def action_quit(self) -> None:
        """Leave; where the text would be lost with it, only if that is meant, as a second Ctrl+Q does."""
        from tui.dialogs.questions import Confirm

        await self._loaded.wait()
        refused = await self.main.why_not_kept()
        if not refused or self.screen is self._asked:
            self.exit()
        else:
            question = f"The text cannot be kept for the next start: {refused}. Ctrl+S saves it elsewhere. Leave now?"
            self._asked = Confirm(question, "Leave", "Stay")
            self.push_screen(self._asked, lambda leave: self.exit() if leave else None)

    def tell_at_the_end(self, sentence: str) -> None:
        """Say it in the terminal once the app has left it."""
        self.last_words.append(visible(sentence))

    # What Textual needs guarding from

    def panic(self, *renderables: RenderableType) -> None:
        """End the app with what went wrong; whoever called it is told so by the exit code."""
        self._panicked = True
        super().panic(*renderables)

    @property
    def return_code(self) -> int | None:
        """0 after a quiet end, 1 after a crash wherever it was; None while the app runs."""
        return 1 if self._panicked else super().return_code

    def action_command_palette(self) -> None:
        """Every command by name."""
        if not isinstance(self.screen, GuardedPalette):
            self.push_screen(GuardedPalette(id="--command-palette"))

    def search_themes(self) -> None:
        """Every theme by name."""
        from textual.theme import ThemeProvider

        self.push_screen(GuardedPalette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Of Textual's own commands those that ours do not double; over a dialog none that act on the screen below."""
        wanted = ("Theme", "Quit") if screen.is_modal else ("Theme", "Quit", "Screenshot")
        return (command for command in super().get_system_commands(screen) if command.title in wanted)

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it; that a disk refuses is told once."""
        self.configuration = replace(self.configuration, **changes)  # type: ignore[arg-type]
        refused = ""
        try:
            save_configuration(self.configuration)
        except OSError as error:
            refused = f"What you choose cannot be remembered for the next start: {error.strerror}."
        if refused and refused != self._refused:
            self.notify(visible(refused), severity="warning", markup=False)
        self._refused = refused
