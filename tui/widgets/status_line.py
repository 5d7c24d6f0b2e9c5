"""StatusLine: one line that is written anew for each width, with the keys that belong to it at its right end."""

from collections.abc import Callable

from rich.text import Text
from textual.widget import Widget

_GAP = 2
"""Cells kept free before the keys."""


class StatusLine(Widget):
    """A line of text."""

    DEFAULT_CSS = "StatusLine { height: 1; width: 1fr; color: $text; }"

    def __init__(self, keys: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._keys = keys
        self._write: Callable[[int], Text] = lambda _: Text()
        self._with_keys = False

    def say(self, write: Callable[[int], Text] | str, *, keys: bool = True) -> None:
        """Show what `write` makes of so many cells; `keys` tells whether they are of use now."""
        self._write = write if callable(write) else lambda _: Text(write, "dim")
        self._with_keys = keys and bool(self._keys)
        self.refresh()

    def render(self) -> Text:
        """The line, and the keys."""
        width = self.content_size.width
        room = width - len(self._keys) - _GAP if self._with_keys else width
        line = self._write(room)
        line.truncate(max(room, 0), overflow="ellipsis")
        if self._with_keys:
            line.append(" " * (width - line.cell_len - len(self._keys))).append(self._keys, "dim")
        return line
