"""SideTitle: which of the things that share a column is seen, and the key that turns to the next."""

from typing import ClassVar, Final

from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static

from tui.commands import key_of

TITLES: Final = {"token": "Token", "why": "Why", "ahead": "Ahead"}


class SideTitle(Static):
    """Three words, one of them bright."""

    SIDES: ClassVar[tuple[str, ...]] = tuple(TITLES)
    """What can be seen, in the order in which the key turns to it."""

    DEFAULT_CSS = "SideTitle { height: 1; width: 1fr; padding: 0 1; color: $text; }"

    side: reactive[str] = reactive("token")
    """What is seen."""

    def render(self) -> Text:
        """The words, and the key at the right."""
        words = Text("  ").join(Text(TITLES[name], "bold" if name == self.side else "dim") for name in self.SIDES)
        gap = max(1, self.content_size.width - words.cell_len - 2)
        return words.append(" " * gap).append(key_of("turn_side"), "dim")
