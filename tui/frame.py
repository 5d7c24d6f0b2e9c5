"""Frame: a screen that is laid out as panes, whether anything stands in them yet or not."""

from textual.screen import Screen


class Frame(Screen[None]):
    """A screen with room for the panes; the style sheet gives each its place, by the size of the terminal."""

    AUTO_FOCUS = ""  # the editor gets it: passing through another pane would hide the editor on a small screen

    def __init__(self) -> None:
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (170, "-huge")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]
        super().__init__(classes="-active-editor -training-above")
