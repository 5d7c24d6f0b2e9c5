"""Rows of tokens on their colors: those around the editor's cursor, and the text that ids decode to."""

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
    """Rows that scroll, laid out in slices, so that a hundred thousand tokens hold up no key."""

    COMPONENT_CLASSES = INK_CLASSES

    _palette: Palette | None = None  # the styles of the tokens; None: nothing is drawn
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
        """Show the rows that are laid out for so many cells, anew where the width is another."""
        self._lay_out, self._palette = lay_out, palette
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
        width, palette = self.size.width, self._palette
        if palette is None or y + scroll_y >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        muted, segments = ink_of(self, "muted"), []
        for part in self._rows[y + scroll_y]:
            style: Style = muted
            if part.color >= 0:
                ways = palette.tokens[part.color % len(palette.tokens)]
                style = palette.base + (ways.current if part.is_current else ways.usual)
            segments.append(Segment(part.text, style))
        return (
            Strip(segments)
            .crop(scroll_x, scroll_x + width)
            .adjust_cell_length(width, self.rich_style)
        )


class TokenView(ColoredRows):
    """The tokens around the editor's cursor, as of the moment when they were to be shown; that under it in sight."""

    def laid_out(self, rows: Sequence[ViewRow]) -> None:
        super().laid_out(rows)
        widest = max(
            (sum(cell_len(part.text) for part in row) for row in rows), default=0
        )
        self.virtual_size = Size(max(self.room, widest), len(rows))
        current = (
            y for y, row in enumerate(rows) if any(part.is_current for part in row)
        )
        self.scroll_to(
            0,
            max(0, next(current, 0) - self.size.height // 2),
            animate=False,
            force=True,
        )
