"""ColoredRows: rows of tokens on their colors, of which only those that are seen are drawn."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.drawing.palette import Palette
from tui.text.views import ViewRow


class ColoredRows(ScrollView, can_focus=True):
    """Rows that scroll; whoever derives from it says in `lay_out` which they are."""

    DEFAULT_CSS = """
    ColoredRows {
        background: $surface;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        overflow-x: hidden;
        &> .colored-rows--muted { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"colored-rows--muted"}

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette: Palette | None = None
        """The styles of the tokens; None: nothing is drawn."""
        self.rows: Sequence[ViewRow] = ()

    def lay_out(self) -> None:
        """Make `rows` for the width there is, and call `show_rows`."""
        raise NotImplementedError

    @property
    def room(self) -> int:
        """Cells that a row may fill."""
        return max(8, self.scrollable_content_region.width)

    def show_rows(self, width: int) -> None:
        """Show `rows`, of which the widest has `width` cells."""
        self.virtual_size = Size(width, len(self.rows))
        self.refresh()

    def on_resize(self) -> None:
        """Other widths have other rows."""
        self.lay_out()

    def render_line(self, y: int) -> Strip:
        """A row of the view."""
        scroll_x, scroll_y = self.scroll_offset
        width, palette = self.size.width, self.palette
        if palette is None or y + scroll_y >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        muted = self.get_component_rich_style("colored-rows--muted")
        segments = []
        for part in self.rows[y + scroll_y]:
            style: Style = muted
            if part.color >= 0:
                ways = palette.tokens[part.color % len(palette.tokens)]
                style = palette.base + (ways.current if part.is_current else ways.usual)
            segments.append(Segment(part.text, style))
        strip = Strip(segments)
        return strip.crop(scroll_x, scroll_x + width).adjust_cell_length(width, self.rich_style)
