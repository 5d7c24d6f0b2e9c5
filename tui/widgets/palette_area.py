"""PaletteArea: a text area that knows the styles of tokens under the theme of now."""

from rich.style import Style

from tui.text.palette import Look, Palette, make_palette
from tui.widgets.faithful_area import FaithfulArea


class PaletteArea(FaithfulArea):
    """An editor with a palette."""

    _look: Look | None = None
    _palette: Palette | None = None

    def style_of(self, token: int) -> Style:
        """How the token with this id is drawn here, where no neighbor has the same color."""
        tokens = self.palette.tokens
        return tokens[token % len(tokens)].usual

    @property
    def palette(self) -> Palette:
        """The styles of its tokens; another object once they are others."""
        theme = self._theme
        look = Look(
            theme.base_style or self.rich_style,
            theme.cursor_style or Style(reverse=True),
            theme.selection_style or Style(reverse=True),
            self.app.theme_variables,
            ansi=self.app.native_ansi_color,
            colorless=self.app.no_color,
            gutter=theme.gutter_style,
        )
        if self._palette is None or look != self._look:
            self._look, self._palette = look, make_palette(look)
        return self._palette
