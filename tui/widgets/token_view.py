"""TokenView: the editor's tokens around the cursor, to be read: between borders, as ids, or one a line."""

from collections.abc import Sequence

from bpe_core.vocabulary import Vocabulary
from tui.drawing.palette import Palette
from tui.text.views import ViewToken, view_rows
from tui.widgets.colored_rows import ColoredRows


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
        """The rows of the tokens in the width there is."""
        if self._vocabulary is None:
            return
        width = self.room
        self.rows = view_rows(self._kind, self._tokens, self._vocabulary, width)
        widest = max((sum(len(part.text) for part in row) for row in self.rows), default=0)
        self.show_rows(widest + 8 if self._kind == "list" else width)
