"""TokenView: the editor's tokens around the cursor, to be read: between borders, as ids, or one a line."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bpe_core.vocabulary import Vocabulary
from tui.drawing.palette import Palette
from tui.text.views import ViewRow, ViewToken, view_rows


class TokenView(ScrollView, can_focus=True):
    """A view that scrolls; what it shows is as of the moment it was asked to."""

    DEFAULT_CSS = """
    TokenView {
        background: $surface;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        &> .token-view--muted { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"token-view--muted"}

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._vocabulary: Vocabulary | None = None
        self._kind = "borders"
        self._palette: Palette | None = None
        self._tokens: Sequence[ViewToken] = ()
        self._rows: list[ViewRow] = []

    def show(self, kind: str, tokens: Sequence[ViewToken], vocabulary: Vocabulary, palette: Palette) -> None:
        """Show tokens as one of `VIEWS`."""
        self._kind, self._tokens, self._vocabulary, self._palette = kind, tokens, vocabulary, palette
        self._lay_out()
        current = (y for y, row in enumerate(self._rows) if any(part.is_current for part in row))
        self.scroll_to(0, max(0, next(current, 0) - self.size.height // 2), animate=False)

    def on_resize(self) -> None:
        """Other widths have other rows."""
        self._lay_out()

    def _lay_out(self) -> None:
        if self._vocabulary is None:
            return
        width = max(8, self.scrollable_content_region.width)
        self._rows = view_rows(self._kind, self._tokens, self._vocabulary, width)
        widest = max((sum(len(part.text) for part in row) for row in self._rows), default=0)
        self.virtual_size = Size(widest + 8 if self._kind == "list" else width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A row of the view."""
        scroll_x, scroll_y = self.scroll_offset
        width, palette = self.size.width, self._palette
        if palette is None or y + scroll_y >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        muted = self.get_component_rich_style("token-view--muted")
        segments = []
        for part in self._rows[y + scroll_y]:
            style: Style = muted
            if part.color >= 0:
                ways = palette.tokens[part.color % len(palette.tokens)]
                style = palette.base + (ways.current if part.is_current else ways.usual)
            segments.append(Segment(part.text, style))
        strip = Strip(segments)
        return strip.crop(scroll_x, scroll_x + width).adjust_cell_length(width, self.rich_style)
