"""The app: themes, commands and what is remembered. It knows nothing about byte-pair encoding."""

from dataclasses import replace
from typing import ClassVar, Final

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Input

from bpe_core.visible import visible
from tui.commands import ScopeCommands
from tui.config import Configuration, load_configuration, save_configuration
from tui.screen import MainScreen
from tui.text.palette import theme_variables
from tui.themes import INK, THEMES

_TYPED: Final = frozenset({"enter", "backspace"})
"""Keys that are for the editor alone, as long as it has the focus."""
_HOUSE: Final = {theme.name: theme for theme in THEMES}


class BpeScope(App[None]):
    """bpescope, opened on `paths` as its corpus."""

    TITLE = "bpescope"
    CSS_PATH = "app.tcss"
    COMMANDS = App.COMMANDS | {ScopeCommands}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", tooltip="Leave bpescope; everything comes back next time", priority=True),
    ]

    def __init__(self, paths: tuple[str, ...] = ()) -> None:
        self.configuration: Configuration = load_configuration()
        """What is remembered; replaced as a whole when something in it changes."""
        if paths:
            self.configuration = replace(self.configuration, corpus=paths)
        # Before anything is made of a theme: to set another one later is to parse all style sheets twice.
        known = self.configuration.theme in {*BUILTIN_THEMES, *_HOUSE}
        self.set_reactive(App.theme, self.configuration.theme if known else INK.name)
        super().__init__()
        self._paths = paths

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Textual's, and those of the house."""
        return {**super().available_themes, **_HOUSE}

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colors of tokens, for every theme that does not bring its own."""
        return theme_variables()

    def get_default_screen(self) -> MainScreen:
        """There is one screen."""
        self.main = MainScreen(self.configuration, opened=self._paths)
        return self.main

    async def on_event(self, event: events.Event) -> None:
        """A key for a pane waits until there are panes, and with it those that follow; the editor types at once.

        A paste into a field is made visible: only the editor takes, and knows how to draw, any text as it is.
        """
        if isinstance(event, events.Key) and not (event.is_printable or event.key in _TYPED):
            await self.main.furnished.wait()
        if isinstance(event, events.Paste) and isinstance(self.focused, Input):
            event.text = visible(event.text.partition("\n")[0])
        await super().on_event(event)

    def on_mount(self) -> None:
        """Remember each change of the theme."""
        self.theme_changed_signal.subscribe(self, lambda theme: self.remember(theme=theme.name))

    def remember(self, **changes: object) -> None:
        """Change the configuration, and write it; a disk that refuses is no reason to disturb the work."""
        self.configuration = replace(self.configuration, **changes)  # type: ignore[arg-type]
        try:
            save_configuration(self.configuration)
        except OSError as error:
            self.log.warning("configuration not saved", error)
