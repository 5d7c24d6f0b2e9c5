"""Pane: a framed part of the screen that knows which of its widgets should get the focus."""

from typing import Final

from textual.containers import Vertical
from textual.widget import Widget

PANES: Final = ("corpus", "training", "editor", "audit")
"""Their ids, in the order of their keys from F2 on."""


class Pane(Vertical):
    """What the four panes have in common. By itself it is the frame that stands there until the pane is furnished."""

    def on_mount(self) -> None:
        """On the upper border: the pane's name and its key."""
        if self.id in PANES:
            self.border_title = f"{self.id.capitalize()}  [dim]F{PANES.index(self.id) + 2}[/]"

    def stations(self) -> tuple[Widget, ...]:
        """The parts that the pane's key leads to, one after the other; the first is where one would begin."""
        raise NotImplementedError

    def land(self) -> None:
        """Take the focus: to where one would begin, or, when it is there already, to the next station.

        At once, by `Screen.set_focus`: `Widget.focus` does it later, and keys typed fast would still go elsewhere.
        """
        stations = self.stations()
        here = next((number for number, station in enumerate(stations) if station.has_focus), -1)
        self.screen.set_focus(stations[(here + 1) % len(stations)])
