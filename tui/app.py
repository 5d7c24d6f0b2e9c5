"""The app: themes, commands and what is remembered. It knows nothing about byte-pair encoding.

It begins with the user's text and a frame around it; the engine and the panes load once these are on the screen.
"""

import asyncio
from dataclasses import replace
from typing import ClassVar

from textual import events, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.screen import Screen
from textual.widgets import Input

from bpe_core.visible import visible
from tui.config import Configuration, load_configuration, load_text, save_configuration
from tui.first_sight import FirstSight
from tui.text.palette import theme_variables
from tui.themes import THEMES


def _commands() -> type[Provider]:
    from tui.commands import ScopeCommands

    return ScopeCommands


def _greeting() -> str:
    from bpe_core.samples import editor_greeting

    return editor_greeting()


class BpeScope(App[None]):
    """bpescope, opened on `paths` as its corpus."""

    TITLE = "bpescope"
    CSS_PATH = "app.tcss"
    COMMANDS = App.COMMANDS | {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", tooltip="Leave bpescope; everything comes back next time", priority=True),
    ]

    def __init__(self, paths: tuple[str, ...] = ()) -> None:
        self.configuration: Configuration = load_configuration()
        """What is remembered; replaced as a whole when something in it changes."""
        if paths:
            self.configuration = replace(self.configuration, corpus=paths)
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        if self.configuration.theme in self.available_themes:
            self.theme = self.configuration.theme
        self._paths = paths
        kept = load_text()
        self._text = _greeting() if kept is None else kept
        self.moved_in = asyncio.Event()
        """Set once the main screen has taken the place of the first."""
        self.add_mode("main", self._main_screen)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colors of tokens, for every theme that does not bring its own."""
        return theme_variables()

    def get_default_screen(self) -> FirstSight:
        """What is seen until the main screen is there."""
        return FirstSight(self._text)

    @work
    async def _move_in(self) -> None:
        """Put the main screen in the place of the first one, all of it in one frame."""
        first = self.screen
        try:
            with self.batch_update():
                await self.switch_mode("main")
            await first.remove_children()
        finally:
            self.moved_in.set()

    def _main_screen(self) -> Screen[None]:
        from tui.screen import MainScreen

        return MainScreen(self.configuration, self._text, opened=self._paths)

    async def on_event(self, event: events.Event) -> None:
        """A key that is pressed early waits for the main screen.

        A paste into a field is made visible: only the editor takes, and knows how to draw, any text as it is.
        """
        if isinstance(event, (events.InputEvent, events.Paste)):
            await self.moved_in.wait()
        if isinstance(event, events.Paste) and isinstance(self.focused, Input):
            event.text = visible(event.text.partition("\n")[0])
        await super().on_event(event)

    def on_mount(self) -> None:
        """Go on to the main screen once this one is seen; remember each change of the theme."""
        self.screen.call_after_refresh(self._move_in)
        self.theme_changed_signal.subscribe(self, lambda theme: self.remember(theme=theme.name))

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it; a disk that refuses is no reason to disturb the work."""
        self.configuration = replace(self.configuration, **changes)  # type: ignore[arg-type]
        try:
            save_configuration(self.configuration)
        except OSError as error:
            self.log.warning("configuration not saved", error)
