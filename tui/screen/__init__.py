"""The main screen, in parts that each mind one thing; the only place that knows all panes."""

from tui.screen.main import MainScreen

__all__ = ["MainScreen"]
