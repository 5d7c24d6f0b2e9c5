"""ThemePicker: a list of themes. The app previews the highlighted theme."""

from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widgets import Input, Label, OptionList
from textual.widgets.option_list import Option

from tui.terminal.guards import Dialog, Field, PagedOptionList

_REST: Final = 0.08
"""Seconds from the last move to the new theme: parsing all styles takes a moment."""


class ThemePicker(Dialog[str | None]):
    """Returns the name of the chosen theme. Escape restores the previous theme and returns None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"move('{action}')")
        for key, action in (
            ("up", "cursor_up"),
            ("down", "cursor_down"),
            ("pageup", "page_up"),
            ("pagedown", "page_down"),
        )
    ]

    def __init__(self, theme: str) -> None:
        """`theme` is the current theme."""
        super().__init__()
        self._before = theme
        self._resting: Timer | None = None
        """Runs until the highlighted theme is shown."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Field(placeholder="Search for themes…", compact=True)
            themes = PagedOptionList(compact=True)
            themes.can_focus = False
            yield themes
            yield Label(
                "Enter keeps the theme; Esc restores the old one.",
                classes="dialog--hint",
            )

    def on_mount(self) -> None:
        self._list_themes()

    @on(Input.Changed)
    def _list_themes(self) -> None:
        """List the themes whose names contain the words in the field, and highlight the current one or the first."""
        words = self.query_one(Input).value.casefold().split()
        names = [
            name
            for name in sorted(self.app.available_themes)
            if all(word in name for word in words)
        ]
        themes = self._themes
        themes.clear_options()
        themes.add_options(Option(name, id=name) for name in names)
        if self.app.theme in names:
            themes.highlighted = names.index(self.app.theme)
        elif names:
            themes.highlighted = 0

    @property
    def _themes(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _highlighted(self) -> str | None:
        option = self._themes.highlighted_option
        return option.id if option else None

    def action_move(self, action: str) -> None:
        getattr(self._themes, f"action_{action}")()

    @on(OptionList.OptionHighlighted)
    def _preview_soon(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(_REST, self._preview)

    def _preview(self) -> None:
        theme = self._highlighted
        if theme is not None and self.is_active:
            self.app.theme = theme

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _choose(self) -> None:
        if self._highlighted is not None:
            self.dismiss(self._highlighted)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        if self.is_active:
            self.app.theme = result or self._before
        return super().dismiss(result)
