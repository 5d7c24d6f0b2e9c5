"""TintedArea: a text area whose rows are drawn in the colors of tokens; where these come from, others know.

Rows are drawn from the tokens each time anew, but a row that looks as before is not drawn again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip

from tui.text.rows import Place
from tui.text.strips import NOTHING, Row, clip, draw
from tui.widgets.palette_area import PaletteArea

if TYPE_CHECKING:
    from tui.text.tokens import Tokens, UnderCursor


class TintedArea(PaletteArea):
    """An area that shows the tokens it has been given; as long as it has none, just a text."""

    show_spaces: reactive[bool] = reactive(False, init=False)
    """Draw spaces and tabs as glyphs."""

    _tokens: Tokens | None = None
    _under: UnderCursor | None = None

    def draw_row(self, y: int) -> Strip:
        """Draw row `y` of the area."""
        if self.placeholder and not self.document.n_characters:
            return super().draw_row(y)
        palette = self.palette
        scroll_x, scroll_y = self.scroll_offset
        width = max(self.scrollable_content_region.width, self.size.width)
        place = self.wrapped_document.place(y + scroll_y, scroll_x, width)
        return Strip.blank(width, palette.base) if place is None else draw(self._row(place, scroll_x), width, palette)

    def _row(self, place: Place, scroll_x: int) -> Row:
        document, tab_size = self.document, self.wrapped_document.tab_size
        start = document.get_index_from_location((place.line, place.start))
        # The newline counts as one more column where there is one.
        length = len(place.text) + (place.ends_line and place.line < document.line_count - 1)
        selection = None
        if not self.selection.is_empty:
            first, last = sorted(map(document.get_index_from_location, self.selection))
            selection = clip((first, last), start, length)
        here = self._tokens
        tokens, shared = here.on_row(start, length, len(self.palette.tokens)) if here else NOTHING
        changed = [clip(stretch, start, length) for stretch in here.changed] if here else []
        return Row(
            place.text,
            tokens,
            place.ends_line,
            shared,
            tuple(filter(None, changed)),
            clip((self._under.start, self._under.end), start, length) if self._under else None,
            selection,
            self.cursor_column(place),
            scroll_x - place.cell if not self.wrapped_document.width else 0,
            place.cell % tab_size,
            tab_size,
            self.show_spaces,
            self.gutter_text(place),
        )

    @property
    def style_under_cursor(self) -> Style | None:
        """How the token under the cursor is drawn where the cursor is not."""
        if self._tokens is None or self._under is None:
            return None
        ways = self.palette.tokens
        tokens, _ = self._tokens.on_row(self._under.start, 1, len(ways))
        return ways[tokens[0].color].usual if tokens else None
