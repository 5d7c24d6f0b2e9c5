"""FirstSight: the frames of the panes and the user's own text, on the screen before there is an engine to ask."""

from typing import Final

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical

from tui.frame import Frame
from tui.widgets.pane import PANES, Pane
from tui.widgets.title_line import TitleLine
from tui.widgets.token_area import TokenArea

SEEN_AT_ONCE: Final = 40_000
"""Characters of a text that are laid out; more than any terminal shows."""


class FirstSight(Frame):
    """What the main screen will look like, with `text` where its editor will have it; made of what loads in no time.

    It takes no keys: the app keeps them for the main screen.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text[:SEEN_AT_ONCE]

    def compose(self) -> ComposeResult:
        """The ids are those of the main screen, and so are the places that the style sheet gives to them."""
        yield TitleLine(PANES)
        with Horizontal(id="panes"):
            yield Pane(id="corpus")
            with Container(id="work"):
                yield Pane(id="training")
                yield Pane(id="audit")
                with Pane(id="editor"), Horizontal():
                    yield TokenArea(id="text")
                    yield Vertical(id="side")

    def on_mount(self) -> None:
        """Show the text, the cursor before it."""
        area = self.query_one(TokenArea)
        area.load(self._text)
        self.set_focus(area)
