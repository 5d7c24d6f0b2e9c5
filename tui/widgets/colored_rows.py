"""Rows of tokens on their colors: those around the editor's cursor, and the text that ids decode to."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from bpe_core.explain.decoding import DecodedSpan
from bpe_core.vocabulary import Vocabulary
from tui.drawing.palette import CurrentPalette, Palette, PaletteSource
from tui.terminal.background import SlicedWork, Steps
from tui.text.views import ViewRow, ViewToken, lay_out, view_rows


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
        return max(8, self.scrollable_content_region.width)

    def show_rows(self, width: int) -> None:
        """Show `rows`, of which the widest has `width` cells."""
        self.virtual_size = Size(width, len(self.rows))
        self.refresh()

    def on_resize(self) -> None:
        self.lay_out()

    def render_line(self, y: int) -> Strip:
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


_SHOWN_EACH: Final = 32
"""Steps of laying out between two moments at which the rows that there are by then are shown."""


class DecodedView(ColoredRows):
    """Laid out in slices, so that a hundred thousand tokens hold up no key."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._work: SlicedWork[None] = SlicedWork(self)
        self._current = CurrentPalette()
        self._spans: Sequence[DecodedSpan] = ()
        self._colors: Sequence[int] = ()
        self._bytes_of: Callable[[int], bytes] | None = None

    def show(self, spans: Sequence[DecodedSpan], colors: Sequence[int], bytes_of: Callable[[int], bytes]) -> None:
        """Show these spans, each in its color; `bytes_of` gives the bytes of their ids."""
        self._spans, self._colors, self._bytes_of = spans, colors, bytes_of
        self.lay_out()

    @property
    def current_palette(self) -> Palette:
        app, reverse = self.app, Style(reverse=True)
        variables, colorless = app.theme_variables, app.no_color
        return self._current.of(
            PaletteSource(self.rich_style, reverse, reverse, variables, ansi=app.native_ansi_color, colorless=colorless)
        )

    def lay_out(self) -> None:
        if self._bytes_of is None:
            return
        self.palette = self.current_palette
        self.scroll_home(animate=False)
        self._work.run(self._steps(self._bytes_of, self.room), lambda _: None)

    def _steps(self, bytes_of: Callable[[int], bytes], width: int) -> Steps[None]:
        """Lay out, and show now and then what there is by now."""
        rows: list[ViewRow] = []
        for number, _ in enumerate(lay_out(self._spans, self._colors, bytes_of, width, rows)):
            if number % _SHOWN_EACH == 0:
                self._show(rows, width)
            yield
        self._show(rows, width)

    def _show(self, rows: list[ViewRow], width: int) -> None:
        self.rows = rows
        self.show_rows(width)


class TokenView(ColoredRows):
    """A view that scrolls; what it shows is as of the moment it was asked to."""

    _vocabulary: Vocabulary | None = None
    _kind = "borders"
    _tokens: Sequence[ViewToken] = ()

    def show(self, kind: str, tokens: Sequence[ViewToken], vocabulary: Vocabulary, palette: Palette) -> None:
        """Show tokens as one of `VIEWS`."""
        self._kind, self._tokens, self._vocabulary, self.palette = kind, tokens, vocabulary, palette
        self.lay_out()
        current = (y for y, row in enumerate(self.rows) if any(part.is_current for part in row))
        self.scroll_to(0, max(0, next(current, 0) - self.size.height // 2), animate=False)

    def lay_out(self) -> None:
        if self._vocabulary is None:
            return
        width = self.room
        self.rows = view_rows(self._kind, self._tokens, self._vocabulary, width)
        widest = max((sum(len(part.text) for part in row) for row in self.rows), default=0)
        self.show_rows(widest + 8 if self._kind == "list" else width)
