"""TokenArea: a text area in which one sees the tokens of what one types.

The way of a key: `TextArea` edits the document, the document tells the `EditedText`, and that is asked for the rows to
be drawn. Here are the messages around that; what is not known at once is left to `TextWork`. Where there are several
tokenizers, each row of the text is drawn once for each of them, with a label before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip

from tui.drawing.palette import CurrentPalette, Palette, PaletteSource
from tui.text.document import FaithfulDocument
from tui.text.edited_text import EditedText
from tui.text.screen_rows import RowStretch
from tui.text.strips import Columns, RowContent, clip, draw
from tui.widgets.faithful_area import FaithfulArea
from tui.widgets.text_work import TextWork

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.live.live_text import LiveText
    from tui.text.tokens import UnderCursor


@dataclass
class _Told(Message):
    """What an area tells."""

    area: TokenArea

    @property
    def control(self) -> TokenArea:
        return self.area


class TokenArea(FaithfulArea):
    """An editor that shows the tokens of its text under `tokenizer`; without one, just an editor."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)
    """What tokenizes the text. May be replaced many times a second."""

    lanes: var[tuple[Tokenizer, ...]] = var((), init=False)
    """What tokenizes it too, in the lanes after the first."""

    edited: EditedText
    """The text that is shown, and all that is known of it; another one after each `load`."""

    show_spaces: reactive[bool] = reactive(False, init=False)
    """Draw spaces and tabs as glyphs."""

    @dataclass
    class Tokenized(_Told):
        """The text has other tokens than before, or more of them are known."""

        n_tokens: int | None
        """None as long as the text has not settled."""
        n_bytes: int
        """Of the text in UTF-8."""
        n_characters: int
        """Code points."""
        settled: bool
        """False while a big text is still being tokenized beside the screen."""

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.Tokenized)

    @dataclass
    class Edited(_Told):
        changes: tuple[Change | None, ...]
        """What each edit did to the tokens, of which an undo or redo may be several; None for one that was too big."""
        others: tuple[tuple[Change | None, ...], ...] = ()
        """The same of each lane after the first."""

    @dataclass
    class CursorMoved(_Told):
        """Something else is under the cursor, because it moved or because the tokens did."""

        under: UnderCursor | None
        """None in an empty text, without a tokenizer, and on what a lossy pattern drops."""

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.CursorMoved)

    @dataclass
    class Reviewed(_Told):
        """More is known about the text, or what was known no longer holds."""

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, TokenArea.Reviewed)

    def __init__(self, *, id: str | None = None) -> None:
        self._work = TextWork(self)
        self._under_before: UnderCursor | None = None
        self._palette = CurrentPalette()
        super().__init__(soft_wrap=True, highlight_cursor_line=False, id=id)

    @property
    def live(self) -> LiveText | None:
        """The text with its tokens, if it has some by now."""
        return self.edited.live

    @property
    def selected(self) -> Columns:
        """The first code point of what is selected, and the one behind its last; equal where that is nothing."""
        first, last = sorted(map(self.document.get_index_from_location, self.selection))
        return first, last

    @property
    def in_view(self) -> Columns:
        """The first code point of the rows that are seen, and the one behind their last."""
        rows, top = self.wrapped_document, self.scroll_offset.y
        below = rows.offset_to_location(Offset(0, top + self.size.height - 1))
        start = self.document.get_index_from_location(rows.offset_to_location(Offset(0, top)))
        return start, self.document.get_index_from_location((below[0], len(self.document[below[0]])))

    @property
    def under_cursor(self) -> UnderCursor | None:
        return self.edited.under_cursor

    # The text and its tokens

    def on_mount(self) -> None:
        self.watch_tokenizer(self.tokenizer)

    def new_document(self, text: str) -> FaithfulDocument:
        self.edited = EditedText(text, self.tokenizer, gave_up=self._gave_up)
        self.edited.use_lanes(self.lanes)
        if self.is_running:
            self.call_later(self.tokens_changed)
        return self.edited.document

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        was_settled = self.edited.is_all_settled
        self.edited.use(tokenizer)
        self._work.retokenized(was_settled=was_settled)
        self.tokens_changed()

    def watch_lanes(self, tokenizers: tuple[Tokenizer, ...]) -> None:
        self.edited.use_lanes(tokenizers)
        self.set_lanes(1 + len(tokenizers))
        self._work.retokenized()
        self.tokens_changed()

    def begin_edits(self) -> None:
        self.edited.begin_edits()

    def end_edits(self) -> None:
        changes, *others = (tuple(lane.end_edits()) for lane in self.edited.lanes)
        if changes:
            self.post_message(self.Edited(self, changes, tuple(others)))
        self._work.edited()
        self.tokens_changed()

    def pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        self.edited.pin()
        self.reviewed()

    def watch_selection(self) -> None:
        anchor, cursor = map(self.document.get_index_from_location, self.selection)
        # Behind a selection, one wants to know about what is selected last.
        self.edited.set_cursor(cursor - (anchor < cursor))
        self._tell_under_cursor()
        self.repaint()

    def tokens_changed(self) -> None:
        """Show and tell what is known of the tokens now, and go on with what is not."""
        self._work.settle_now()
        self.watch_selection()
        self._tell_tokenized()
        if self.edited.live is None:
            self.reviewed()
        self._work.begin()

    def _gave_up(self) -> None:
        if self.is_running:
            self.call_later(self.tokens_changed)

    # Messages

    def _tell_tokenized(self) -> None:
        if self.tokenizer is not None and self.is_running:
            n_tokens, document = self.edited.n_tokens, self.document
            totals = n_tokens, document.n_bytes, document.n_characters, n_tokens is not None
            self.post_message(self.Tokenized(self, *totals))

    def reviewed(self) -> None:
        """Show and tell what is known about the text now."""
        self.repaint()
        if self.is_running:
            self.post_message(self.Reviewed(self))

    def _tell_under_cursor(self) -> None:
        under = self.edited.under_cursor
        if under != self._under_before and self.is_running:
            self._under_before = under
            self.post_message(self.CursorMoved(self, under))

    # How it looks

    @property
    def palette(self) -> Palette:
        """The styles of its tokens under the theme of now; another object once they are others."""
        theme, app = self._theme, self.app
        return self._palette.of(
            PaletteSource(
                theme.base_style or self.rich_style,
                theme.cursor_style or Style(reverse=True),
                theme.selection_style or Style(reverse=True),
                app.theme_variables,
                ansi=app.native_ansi_color,
                colorless=app.no_color,
                gutter=theme.gutter_style,
            )
        )

    def draw_row(self, y: int) -> Strip:
        if self.placeholder and not self.document.n_characters:
            return super().draw_row(y)
        palette = self.palette
        scroll_x, scroll_y = self.scroll_offset
        width = max(self.scrollable_content_region.width, self.size.width)
        place = self.wrapped_document.place(y + scroll_y, scroll_x, width)
        return Strip.blank(width, palette.base) if place is None else draw(self._row(place, scroll_x), width, palette)

    def _row(self, place: RowStretch, scroll_x: int) -> RowContent:
        """What the text has on a row, and what is the area's own: cursor, selection, where it is scrolled to."""
        rows = self.wrapped_document
        selection = None
        if not self.selection.is_empty:
            selection = clip(self.selected, *self.edited.stretch(place))
        return self.edited.row(place, len(self.palette.tokens))._replace(
            selection=selection,
            cursor=self.cursor_column(place),
            left=scroll_x - place.cell if not rows.width else 0,
            phase=place.cell % rows.tab_size,
            tab_size=rows.tab_size,
            spaces=self.show_spaces,
            gutter=self.gutter_text(place),
        )

    def style_of(self, token: int) -> Style:
        """How the token with this id is drawn here, where no neighbor has the same color."""
        tokens = self.palette.tokens
        return tokens[token % len(tokens)].usual

    @property
    def style_under_cursor(self) -> Style | None:
        """How the token under the cursor is drawn where the cursor is not."""
        color = self.edited.color_under_cursor(len(self.palette.tokens))
        return None if color is None else self.palette.tokens[color].usual
