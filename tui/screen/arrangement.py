"""Arrangement: which of the panes are seen at once, by the room there is and by which of them were used last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.pane_table import BY_ID, PANES
from tui.widgets.pane import Pane
from tui.widgets.title_line import ONE_PANE

if TYPE_CHECKING:
    from tui.state_screen import StateScreen


class Arrangement:
    """Shows and hides panes; how much room there is, the classes of the screen tell."""

    def __init__(self, screen: StateScreen) -> None:
        self._screen = screen
        self._in_front: dict[str, str] = {pane.place: pane.id for pane in reversed(PANES)}
        """Place -> the pane that is seen there, of those that take turns."""
        self._above = self._in_front["upper"]
        """The one above the editor where there is no room for more."""

    def turn_to(self, pane: str) -> None:
        """Let a pane be seen; those of one place take turns there."""
        place = BY_ID[pane].place
        self._in_front[place] = pane
        if place in ("upper", "side"):
            self._above = pane
        self.arrange()

    def arrange(self) -> None:
        """Show the panes that there is room for: one, or one above the editor, or one at each place.

        Where there is no side, a pane that belongs there takes the editor's room too, while it has the focus.
        """
        active = self._screen.active
        seen = {self._above, self._in_front["left"]}
        seen |= {self._in_front["lower"]} if BY_ID[active].place != "side" else set()
        seen = {active} if self._shows_one else set(self._in_front.values()) if self._shows_all else seen
        for pane in self._screen.query(Pane):
            pane.display = pane.id in seen
        for container in self._screen.query("#work"):
            container.display = any(BY_ID[pane].place != "left" for pane in seen)

    @property
    def _shows_all(self) -> bool:
        return self._screen.has_class("-huge", "-high") and not self._screen.has_class("-fill")

    @property
    def _shows_one(self) -> bool:
        return any(map(self._screen.has_class, ONE_PANE))

    def show_log(self, *, even_alone: bool = False) -> None:
        """Let the merge log be seen, the focus staying where it is; where only one pane is seen, with `even_alone`."""
        if BY_ID[self._screen.active].place == "side" or (self._shows_one and even_alone):
            self.go_to_log()
        elif not self._shows_one:
            self._above = "training"
            self.arrange()

    def go_to_log(self) -> bool:
        """Put the cursor into the merge log, unless that is seen beside the audit; whether it was put there."""
        screen = self._screen
        if not self._shows_all:
            screen.active = "training"
            screen.set_focus(screen.training.log_of_merges)
        return not self._shows_all
