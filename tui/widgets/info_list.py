"""InfoList: lines of a narrow column, as many as there are; it scrolls where they do not fit."""

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.drawing.info_lines import InfoLine, info_strip


class InfoList(ScrollView, can_focus=True):
    """A column of facts."""

    DEFAULT_CSS = """
    InfoList {
        background: $surface;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        &> .info-list--token { color: $text; text-style: bold; }
        &> .info-list--text { color: $text; }
        &> .info-list--muted { color: $text-muted; }
        &> .info-list--lines { color: $text-disabled; }
        &> .info-list--accent { color: $text-accent; }
        &> .info-list--warning { color: $text-warning; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"info-list--{ink}" for ink in ["token", "text", "muted", "lines", "accent", "warning"]
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[InfoLine] = ()

    @property
    def room(self) -> int:
        """Cells that a line may fill."""
        return max(8, self.size.width - 2)

    def show_lines(self, lines: Sequence[InfoLine]) -> None:
        """Show these lines, from the first."""
        if lines != self._lines:
            self._lines = lines
            # Not by assignment: that would lay out the whole screen again.
            self.set_reactive(Widget.virtual_size, Size(self.size.width, len(lines)))
            self._scroll_update(self.virtual_size)
            self.scroll_to(0, 0, animate=False)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """A line, cut to the width."""
        width = self.size.width
        y += self.scroll_offset.y
        text = self._ink("text")
        if y >= len(self._lines):
            return Strip.blank(width, text)
        return info_strip(self._lines[y], width, self._ink, self.app.console)

    def _ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"info-list--{name}")
