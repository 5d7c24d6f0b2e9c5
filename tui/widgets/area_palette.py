"""AreaPalette: the styles of tokens in a text area, under the theme of now."""

from rich.style import Style
from textual.widgets import TextArea

from tui.drawing.palette import Look, Palette, make_palette


class AreaPalette:
    """Makes a palette when the look of its area has changed."""

    def __init__(self, area: TextArea) -> None:
        self._area = area
        self._look: Look | None = None
        self._palette: Palette | None = None

    def of_now(self) -> Palette:
        """The palette; another object once its styles are others."""
        area, theme = self._area, self._area._theme
        look = Look(
            theme.base_style or area.rich_style,
            theme.cursor_style or Style(reverse=True),
            theme.selection_style or Style(reverse=True),
            area.app.theme_variables,
            ansi=area.app.native_ansi_color,
            colorless=area.app.no_color,
            gutter=theme.gutter_style,
        )
        if self._palette is None or look != self._look:
            self._look, self._palette = look, make_palette(look)
        return self._palette
