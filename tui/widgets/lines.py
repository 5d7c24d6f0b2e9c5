"""Lines: the lines of a narrow column, as many as there are; and the titles of things that share a place."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.drawing.info_lines import STYLES, InfoLine, info_strip, titles


class Lines(ScrollView, can_focus=True):
    """A column of facts; it scrolls where they do not fit."""

    DEFAULT_CSS = """
    Lines {
        background: $surface;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        &> .lines--token { color: $text; text-style: bold; }
        &> .lines--text { color: $text; }
        &> .lines--muted { color: $text-muted; }
        &> .lines--lines { color: $text-disabled; }
        &> .lines--accent { color: $text-accent; }
        &> .lines--tied { color: $text-secondary; }
        &> .lines--warning { color: $text-warning; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"lines--{ink}" for ink in STYLES}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[InfoLine] = ()
        self.token_style: Callable[[], Style | None] = lambda: None
        """Style of the token that the lines are about, where it has a color elsewhere on the screen."""

    @property
    def room(self) -> int:
        return max(8, self.size.width - 2)

    def show_lines(self, lines: Iterable[InfoLine]) -> None:
        lines = [*lines]
        if lines != self._lines:
            self._lines = lines
            # Not by assignment: that would lay out the whole screen again.
            self.set_reactive(Widget.virtual_size, Size(self.size.width, len(lines)))
            self._scroll_update(self.virtual_size)
            self.scroll_to(0, 0, animate=False)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        y += self.scroll_offset.y
        if y >= len(self._lines):
            return Strip.blank(width, self.ink("text"))
        return info_strip(self._lines[y], width, self.ink, self.app.console, self.token_style())

    def ink(self, name: str) -> Style:
        return self.get_component_rich_style(f"lines--{name}")


class Titles(Widget):
    """One line: the titles of things that share a place, that of the one that is seen bright."""

    DEFAULT_CSS = "Titles { height: 1; width: 1fr; padding: 0 1; color: $text; }"

    choice: reactive[str] = reactive("")  # which is seen: a key of the titles
    keys: reactive[str] = reactive("")  # what turns to the next; at the right
    note: reactive[str] = reactive("")  # what stands behind the titles

    def __init__(self, names: Mapping[str, str], keys: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._names = names
        self.set_reactive(Titles.choice, next(iter(names)))
        self.set_reactive(Titles.keys, keys)

    def render(self) -> Text:
        return titles(self._names, self.choice, self.content_size.width, self.keys, self.note)
