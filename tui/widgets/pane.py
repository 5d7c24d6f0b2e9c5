"""Pane: a framed part of the screen that knows which of its widgets should get the focus."""

from textual.containers import Vertical


class Pane(Vertical):
    """What the four panes have in common."""

    def land(self) -> None:
        """Take the focus, to where one would most likely go on.

        At once, by `Screen.set_focus`: `Widget.focus` does it later, and keys typed fast would still go elsewhere.
        """
        raise NotImplementedError
