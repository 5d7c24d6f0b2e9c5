"""LaneLines: a line for each lane of a text, written anew for each width."""

from collections.abc import Callable, Sequence

from rich.text import Text
from textual.geometry import Size
from textual.widget import Widget


class LaneLines(Widget):
    """As many lines as there are lanes."""

    DEFAULT_CSS = "LaneLines { height: auto; width: 1fr; color: $text; }"

    def __init__(self) -> None:
        super().__init__()
        self._write: Callable[[int], Sequence[Text]] = lambda _: ()
        self._n_lines = 0

    def say(self, write: Callable[[int], Sequence[Text]]) -> None:
        """Show what `write` makes of so many cells."""
        self._write = write
        n_lines = len(write(80))
        self.refresh(layout=n_lines != self._n_lines)
        self._n_lines = n_lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One for each lane."""
        return self._n_lines

    def render(self) -> Text:
        """The lines, one below the other."""
        width = self.content_size.width
        lines = [*self._write(width)]
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n", no_wrap=True).join(lines)
