"""DecodedView: the text that ids decode to, each token on its color."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.style import Style

from bpe_core.explain.decoding import DecodedSpan
from tui.drawing.palette import CurrentPalette, Look, Palette
from tui.terminal.background import SlicedWork, Steps
from tui.text.decoded_rows import lay_out
from tui.text.views import ViewRow
from tui.widgets.colored_rows import ColoredRows

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
        """The styles of tokens under the theme of now."""
        app, reverse = self.app, Style(reverse=True)
        variables, colorless = app.theme_variables, app.no_color
        return self._current.of(
            Look(self.rich_style, reverse, reverse, variables, ansi=app.native_ansi_color, colorless=colorless)
        )

    def lay_out(self) -> None:
        """The rows of the spans in the width there is."""
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
