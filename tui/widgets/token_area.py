"""TokenArea: a text area in which one sees the tokens of what one types.

Each edit is spliced into a `LiveText` where all edits pass; rows are drawn from what it says, each time anew, but a
row that looks as before is not drawn again. What is under the cursor, what an edit changed and how many tokens there
are goes out as messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.style import Style
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.timer import Timer

from bpe_core.live_text import Change, LiveText
from bpe_core.tokenizer import Tokenizer
from tui.text.palette import Look, Palette, make_palette
from tui.text.rows import Place
from tui.text.strips import Columns, Row, draw
from tui.text.tokens import RowTokens, UnderCursor, clip, find_under, moved, stretch_of
from tui.widgets.faithful_area import FaithfulArea

_BIG: Final = 100_000
"""Characters of an edit above which its tokens are not compared but worked out beside the screen."""
_SLICE: Final = 0.008
"""Seconds of settling at a time, short enough for a frame."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice to the next."""


class TokenArea(FaithfulArea, inherit_bindings=True):
    """An editor that shows the tokens of its text under `tokenizer`; without one, just an editor."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)
    """What tokenizes the text. May be replaced many times a second."""
    show_spaces: reactive[bool] = reactive(False, init=False)
    """Draw spaces and tabs as glyphs."""

    @dataclass
    class Tokenized(Message):
        """The text has other tokens than before, or more of them are known."""

        area: "TokenArea"
        n_tokens: int | None
        """None as long as the text has not settled."""
        n_bytes: int
        """Of the text in UTF-8."""
        n_characters: int
        """Code points."""
        settled: bool
        """False while a big text is still being tokenized beside the screen."""

        @property
        def control(self) -> "TokenArea":
            """The sender."""
            return self.area

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.Tokenized)

    @dataclass
    class Edited(Message):
        """The text was edited; an undo or redo of several edits is told as one message each."""

        area: "TokenArea"
        change: Change | None
        """None for an edit so big that its tokens were not compared."""

        @property
        def control(self) -> "TokenArea":
            """The sender."""
            return self.area

    @dataclass
    class CursorMoved(Message):
        """Something else is under the cursor, because it moved or because the tokens did."""

        area: "TokenArea"
        under: UnderCursor | None
        """None in an empty text, without a tokenizer, and on what a lossy pattern drops."""

        @property
        def control(self) -> "TokenArea":
            """The sender."""
            return self.area

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.CursorMoved)

    def __init__(
        self,
        *,
        soft_wrap: bool = True,
        show_line_numbers: bool = False,
        read_only: bool = False,
        placeholder: str = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        self._live: LiveText | None = None
        self._row_tokens: RowTokens | None = None
        self._changed: tuple[Columns, ...] = ()
        self._under: UnderCursor | None = None
        self._look: Look | None = None
        self._palette: Palette | None = None
        self._settling: Timer | None = None
        super().__init__(
            soft_wrap=soft_wrap,
            show_line_numbers=show_line_numbers,
            read_only=read_only,
            placeholder=placeholder,
            highlight_cursor_line=False,
            name=name,
            id=id,
            classes=classes,
        )

    def on_mount(self) -> None:
        """Take the tokenizer that was set before there was a screen."""
        self.watch_tokenizer(self.tokenizer)

    # What the text is

    @property
    def live(self) -> LiveText | None:
        """The text with its tokens; None without a tokenizer."""
        return self._live

    def _tokenize(self, tokenizer: Tokenizer | None) -> None:
        """Begin anew, with all of the text."""
        self._live = None if tokenizer is None else LiveText(tokenizer, self.document.text)
        self._row_tokens = None if self._live is None else RowTokens(self._live)

    def _set_document(self, text: str, language: str | None) -> None:
        self._changed = ()
        self._live = self._row_tokens = None
        super()._set_document(text, language)
        self._tokenize(self.tokenizer)
        self._tokens_changed()

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Show the text as another tokenizer sees it, or as the same one does after more merges."""
        if self._live is None or self._row_tokens is None or tokenizer is None:
            self._tokenize(tokenizer)
        elif tokenizer is not self._live.tokenizer:
            self._live.use(tokenizer)
            self._row_tokens.forget()
        self._changed = ()
        self._tokens_changed()

    def spliced(self, start: int, end: int, text: str) -> None:
        """Bring the tokens up to date with an edit."""
        if self._live is None or self._row_tokens is None:
            return
        if max(len(text), end - start) > _BIG:
            self._tokenize(self.tokenizer)
            self.post_message(self.Edited(self, None))
            return
        change = self._live.splice(start, end, text)
        stretch, shift = stretch_of(change), len(text) - (end - start)
        self._row_tokens.edited(min(start, stretch[0]), max(end, stretch[1] - shift), shift)
        self._changed = (*moved(self._changed, start, end, len(text)), stretch)
        self.post_message(self.Edited(self, change))

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit; what the one before had changed is no longer marked."""
        self._changed = ()
        result = super().edit(edit)
        self._tokens_changed()
        return result

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._changed = ()
        super()._undo_batch(edits)
        self._tokens_changed()

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._changed = ()
        super()._redo_batch(edits)
        self._tokens_changed()

    def _tokens_changed(self) -> None:
        self._look_under_cursor()
        self.repaint()
        if self._live is not None and not self._live.settle(_SLICE) and self.is_running:
            if self._settling is None:
                self._settling = self.set_interval(_PAUSE, self._settle)
            self._settling.resume()
        self._tell_tokenized()

    def _settle(self) -> None:
        if self._settling is None or (self._live is not None and not self._live.settle(_SLICE)):
            return
        self._settling.pause()
        if self._row_tokens is not None:
            # What was provisional in a very long piece is final now.
            self._row_tokens.forget()
        self._look_under_cursor()
        self.repaint()
        self._tell_tokenized()

    def _tell_tokenized(self) -> None:
        live = self._live
        if live is not None and self.is_running:
            n_tokens, settled = live.n_tokens_known, live.settled
            self.post_message(self.Tokenized(self, n_tokens, live.n_bytes, live.n_characters, settled))

    # Where the cursor is

    @property
    def under_cursor(self) -> UnderCursor | None:
        """The token under the cursor."""
        return self._under

    def watch_selection(self) -> None:
        """The cursor moved, or might have."""
        self._look_under_cursor()
        self.repaint()

    def _look_under_cursor(self) -> None:
        offset = self.document.get_index_from_location(self.cursor_location)
        under = None if self._live is None else find_under(self._live, offset)
        if under != self._under:
            self._under = under
            if self.is_running:
                self.post_message(self.CursorMoved(self, under))

    # How it looks

    def draw_row(self, y: int) -> Strip:
        """Draw row `y` of the area."""
        if self.placeholder and not self.document.n_characters:
            return super().draw_row(y)
        palette = self._current_palette()
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
        found = self._row_tokens and self._row_tokens.find(start, length, len(self._current_palette().tokens))
        tokens, shared = found or ((), ())
        return Row(
            place.text,
            tokens,
            place.ends_line,
            shared,
            tuple(stretch for changed in self._changed if (stretch := clip(changed, start, length))),
            clip((self._under.start, self._under.end), start, length) if self._under else None,
            selection,
            self._cursor_on(place),
            scroll_x - place.cell if not self.wrapped_document.width else 0,
            place.cell % tab_size,
            tab_size,
            self.show_spaces,
            self._gutter(place),
        )

    def _gutter(self, place: Place) -> str:
        if not self.show_line_numbers:
            return ""
        number = str(place.line + self.line_number_start) if not place.section else ""
        return number.rjust(self.gutter_width - 2) + "  "

    def _cursor_on(self, place: Place) -> int | None:
        row, column = self.cursor_location
        if row != place.line or not self._draw_cursor:
            return None
        at = column - place.start
        return at if 0 <= at < len(place.text) + place.ends_line else None

    def _current_palette(self) -> Palette:
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
