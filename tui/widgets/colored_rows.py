"""Rows of tokens on their colors: those around the editor's cursor, and the text that ids decode to."""

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bpe_core.explain.decoding import DecodedSpan
from bpe_core.vocabulary import Vocabulary
from tui.drawing.lines import INK_CLASSES, ink_of
from tui.drawing.palette import Palette, palette_of
from tui.terminal.background import SlicedWork
from tui.text.views import ViewRow, ViewToken, lay_out, view_rows


class ColoredRows(ScrollView, can_focus=True):
    """Rows that scroll; whoever derives from it lays them out anew where the width is another."""

    COMPONENT_CLASSES = INK_CLASSES

    palette: Palette | None = None  # the styles of the tokens; None: nothing is drawn
    rows: Sequence[ViewRow] = ()

    @property
    def room(self) -> int:
        return max(8, self.scrollable_content_region.width)

    def show_rows(self, rows: Sequence[ViewRow], width: int) -> None:
        """Show these, of which the widest has `width` cells."""
        self.rows = rows
        self.virtual_size = Size(width, len(rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width, palette = self.size.width, self.palette
        if palette is None or y + scroll_y >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        muted, segments = ink_of(self, "muted"), []
        for part in self.rows[y + scroll_y]:
            style: Style = muted
            if part.color >= 0:
                ways = palette.tokens[part.color % len(palette.tokens)]
                style = palette.base + (ways.current if part.is_current else ways.usual)
            segments.append(Segment(part.text, style))
        return Strip(segments).crop(scroll_x, scroll_x + width).adjust_cell_length(width, self.rich_style)


class DecodedView(ColoredRows):
    """What ids decode to, laid out in slices, so that a hundred thousand tokens hold up no key."""

    _shown: tuple[Sequence[DecodedSpan], Sequence[int], Callable[[int], bytes]] | None = None

    def on_mount(self) -> None:
        self._work = SlicedWork[list[ViewRow]](self)

    def show(self, spans: Sequence[DecodedSpan], colors: Sequence[int], bytes_of: Callable[[int], bytes]) -> None:
        """Show these spans, each in its color; `bytes_of` gives the bytes of their ids."""
        self._shown = spans, colors, bytes_of
        self.on_resize()

    def on_resize(self) -> None:
        if self._shown is not None:
            self.palette = palette_of(self.app, self.rich_style)
            self.scroll_home(animate=False)
            self._work.run(lay_out(*self._shown, self.room), lambda rows: self.show_rows(rows, self.room))


class TokenView(ColoredRows):
    """The tokens around the editor's cursor; what it shows is as of the moment it was asked to."""

    _shown: tuple[str, Sequence[ViewToken], Vocabulary] | None = None

    def show(self, kind: str, tokens: Sequence[ViewToken], vocabulary: Vocabulary, palette: Palette) -> None:
        self._shown, self.palette = (kind, tokens, vocabulary), palette
        self.on_resize()

    def on_resize(self) -> None:
        if self._shown is not None and self.size:
            rows = view_rows(*self._shown, self.room)
            widest = max((sum(len(part.text) for part in row) for row in rows), default=0)
            self.show_rows(rows, widest + 8 if self._shown[0] == "list" else self.room)
            current = (y for y, row in enumerate(self.rows) if any(part.is_current for part in row))
            self.scroll_to(0, max(0, next(current, 0) - self.size.height // 2), animate=False, force=True)
