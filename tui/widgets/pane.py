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
    """What all panes have in common. By itself it is the frame that stands there until the pane is loaded."""

    RESTS: ClassVar[bool] = (
        False  # whether nobody asks the pane for anything while it is hidden
    )
    facts: tuple[
        str, ...
    ] = ()  # the values of the screen that it has a variable of the same name for

    def __init__(self, entry: PaneEntry) -> None:
        super().__init__(
            id=entry.id,
            classes=f"{entry.place} frame" if type(self) is Pane else entry.place,
        )
        self.border_title = self.frame_title = (
            f"{entry.title}  [dim]{short_name(entry.key)}[/]"
        )

    def parts(self) -> tuple[Widget, ...]:
        """The parts that the pane's key leads to, one after the other; the first is where one would begin."""
        raise NotImplementedError

    def focus_next_part(self) -> None:
        """Take the focus: to where one would begin, or, when it is there already, to the next station.

        At once, by `Screen.set_focus`: `Widget.focus` does it later, and keys typed fast would still go elsewhere.
        """
        parts = self.parts()
        here = next(
            (number for number, station in enumerate(parts) if station.has_focus), -1
        )
        self.screen.set_focus(parts[(here + 1) % len(parts)])


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
