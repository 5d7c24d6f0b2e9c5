"""Pane: a framed part of the screen that knows which of its widgets should get the focus."""

from typing import ClassVar

from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Button

from tui.commands.command import Command
from tui.commands.key_names import short_name
from tui.commands.keys import HasCommands, action_of, tooltip
from tui.commands.panes import PaneEntry


class Pane(HasCommands, Vertical):
    """The base of all panes. By itself it is the empty frame shown until the pane is loaded."""

    RESTS: ClassVar[bool] = False
    """Whether the pane needs no updates while it is hidden."""
    facts: tuple[str, ...] = ()
    """The values of the screen that the pane has a variable of the same name for."""

    def __init__(self, entry: PaneEntry) -> None:
        classes: str = entry.place
        if type(self) is Pane:
            classes += " frame"
        super().__init__(id=entry.id, classes=classes)
        self.frame_title = f"{entry.title}  [dim]{short_name(entry.key)}[/]"
        self.border_title = self.frame_title

    def parts(self) -> tuple[Widget, ...]:
        """Return the parts that the pane's key goes through, from the one to begin with."""
        raise NotImplementedError

    def focus_next_part(self) -> None:
        """Give the focus to the next part, or to the first if no part has it.

        `Screen.set_focus` does it at once. `Widget.focus` would do it later, and keys typed fast would go elsewhere.
        """
        parts = self.parts()
        following = 0
        for number, part in enumerate(parts):
            if part.has_focus:
                following = number + 1
        self.screen.set_focus(parts[following % len(parts)])


def button(label: str, id: str, command: Command, *, disabled: bool = False) -> Button:
    """Return a small button for a command of the screen."""
    return Button(
        label,
        id=id,
        compact=True,
        action=f"screen.{action_of(command)}",
        tooltip=tooltip(command),
        disabled=disabled,
    )
