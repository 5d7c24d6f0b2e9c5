"""Rows of colored tokens: those around the editor's cursor, and the text that ids decode to."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.drawing.lines import INK_CLASSES, ink_of
from tui.drawing.palette import Palette
from tui.terminal.background import SlicedWork, Steps
from tui.text.views import ViewRow


class ColoredRows(ScrollView, can_focus=True):
    """Rows that scroll. They are laid out in slices, so that a hundred thousand tokens delay no key."""

    COMPONENT_CLASSES = INK_CLASSES

    _palette: Palette | None = None
    """The styles of the tokens; None before there is anything to draw."""
    _lay_out: Callable[[int], Steps[list[ViewRow]]]
    _rows: Sequence[ViewRow] = ()

    def on_mount(self) -> None:
        self._work = SlicedWork[list[ViewRow]](self)

    @property
    def room(self) -> int:
        return max(8, self.scrollable_content_region.width)

    def show(
        self, lay_out: Callable[[int], Steps[list[ViewRow]]], palette: Palette
    ) -> None:
        """Show the rows that `lay_out` makes for a width, and lay them out again if the width changes."""
        self._lay_out = lay_out
        self._palette = palette
        self.on_resize()

    def on_resize(self) -> None:
        if self._palette is not None and self.size:
            self._work.run(self._lay_out(self.room), self.laid_out)

    def laid_out(self, rows: Sequence[ViewRow]) -> None:
        self._rows = rows
        self.virtual_size = Size(self.room, len(rows))
        self.scroll_home(animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width = self.size.width
        palette = self._palette
        if palette is None or y + scroll_y >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        segments = []
        for part in self._rows[y + scroll_y]:
            style: Style = ink_of(self, "muted")
            if part.color >= 0:
                styles = palette.tokens[part.color % len(palette.tokens)]
                style = styles.current if part.is_current else styles.usual
                style = palette.base + style
            segments.append(Segment(part.text, style))
        strip = Strip(segments).crop(scroll_x, scroll_x + width)
        return strip.adjust_cell_length(width, self.rich_style)


class TokenView(ColoredRows):
    """The tokens around the editor's cursor when they were shown, scrolled to the one under it."""

    def laid_out(self, rows: Sequence[ViewRow]) -> None:
        super().laid_out(rows)
        widest = self.room
        current = 0
        for y, row in enumerate(rows):
            widest = max(widest, sum(cell_len(part.text) for part in row))
            if not current and any(part.is_current for part in row):
                current = y
        self.virtual_size = Size(widest, len(rows))
        top = max(0, current - self.size.height // 2)
        self.scroll_to(0, top, animate=False, force=True)
