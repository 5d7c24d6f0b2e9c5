"""Pane: a framed part of the screen that knows which of its widgets should get the focus."""

from textual.containers import Vertical


class Pane(Vertical):
    """What the four panes have in common."""

    def land(self) -> None:
        """Take the focus, to where one would most likely go on."""
        raise NotImplementedError
