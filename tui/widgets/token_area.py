"""TokenArea: a text area in which one sees the tokens of what one types.

The way of a key: `TextArea` edits the document, the document tells the `EditedText`, and that is asked for the rows to
be drawn. Here are the clocks and the messages around that: what is not known at once is worked out in slices, or in a
thread, and told when it is known.
"""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from rich.style import Style
from textual import work
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.timer import Timer

from tui.drawing.palette import CurrentPalette, Look, Palette
from tui.text.document import FaithfulDocument
from tui.text.edited_text import EditedText
from tui.text.screen_rows import RowStretch
from tui.text.strips import RowContent, clip, draw
from tui.widgets.faithful_area import FaithfulArea

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.editing.aligned_text import FollowedText
    from bpe_core.patterns import Splitter
    from tui.text.tokens import UnderCursor

_SLICE: Final = 0.008
"""Seconds of work at a time, short enough for a frame."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice to the next."""
_SOON: Final = 0.06
"""Seconds after an edit before the text is reviewed."""
_AT_REST: Final = 0.3
"""Seconds after a change of tokenizers; while a vocabulary is being learned, nothing is reviewed."""
_MANY: Final = 5_000
"""Tokens above which a vocabulary is put in order in a thread, for the review."""
_COMPILED_AFTER: Final = 1.0
"""Seconds until patterns are compiled that the first text did without; the start is over then."""


@dataclass
class _Told(Message):
    """What an area tells."""

    area: TokenArea

    @property
    def control(self) -> TokenArea:
        """The sender."""
        return self.area


class TokenArea(FaithfulArea):
    """An editor that shows the tokens of its text under `tokenizer`; without one, just an editor."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)
    """What tokenizes the text. May be replaced many times a second."""

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
        """The text was edited."""

        changes: tuple[Change | None, ...]
        """What each edit did to the tokens, of which an undo or redo may be several; None for one that was too big."""

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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self._work: Timer | None = None
        self._work_at = 0.0
        """When there is to be worked, on the clock `monotonic`."""
        self._reviewed_from = 0.0
        """When the review may go on, on the clock `monotonic`."""
        self._is_reading = False
        self._in_order: Tokenizer | None = None
        """The one whose vocabulary is in order for the review."""
        self._splitter: Splitter | None = None
        """What splits the text; soon after it has come it compiles all of its patterns."""
        self._told_under: UnderCursor | None = None
        self._palette = CurrentPalette()
        super().__init__(soft_wrap=True, highlight_cursor_line=False, id=id, classes=classes)

    @property
    def live(self) -> FollowedText | None:
        """The text with its tokens, if it has some by now."""
        return self.edited.live

    @property
    def under_cursor(self) -> UnderCursor | None:
        """The token under the cursor."""
        return self.edited.under_cursor

    # The text and its tokens

    def on_mount(self) -> None:
        """Take the tokenizer that was set before there was a screen."""
        self.watch_tokenizer(self.tokenizer)

    def new_document(self, text: str) -> FaithfulDocument:
        """The document of a new `EditedText`: nothing is pinned in it."""
        self.edited = EditedText(text, self.tokenizer, gave_up=self._gave_up)
        if self.is_running:
            self.call_later(self._tokens_changed)
        return self.edited.document

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        """Show the text as another tokenizer sees it, or as the same one does after more merges."""
        self.edited.use(tokenizer)
        self._reviewed_from = monotonic() + _AT_REST
        if tokenizer is not None and tokenizer.by_piece and tokenizer.splitter is not self._splitter:
            self._splitter = tokenizer.splitter
            self.set_timer(_COMPILED_AFTER, self._compile)
        self._tokens_changed()

    @work(group="patterns")
    async def _compile(self) -> None:
        """See to it that no key has to wait for a pattern: the first accent is one that ASCII did without."""
        if self._splitter is not None:
            await to_thread(self._splitter.compile_all)

    def begin_edits(self) -> None:
        """What was changed before is no longer marked."""
        self.edited.begin_edits()

    def end_edits(self) -> None:
        """Show what the edits did, and tell it."""
        if changes := self.edited.end_edits():
            self.post_message(self.Edited(self, tuple(changes)))
        self._reviewed_from = max(self._reviewed_from, monotonic() + _SOON)
        self._tokens_changed()

    def pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        self.edited.pin()
        self._tell_reviewed()

    def watch_selection(self) -> None:
        """The cursor moved, or might have."""
        anchor, cursor = map(self.document.get_index_from_location, self.selection)
        # Behind a selection, one wants to know about what is selected last.
        self.edited.set_cursor(cursor - (anchor < cursor))
        self._tell_under_cursor()
        self.repaint()

    def _tokens_changed(self) -> None:
        self.edited.settle(_SLICE)
        self.watch_selection()
        self._tell_tokenized()
        if self.edited.live is None:
            self._tell_reviewed()
        if self.is_running and self.edited.reading is not None and not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read(), group="reading")
        self._work_in(_PAUSE)

    def _gave_up(self) -> None:
        if self.is_running:
            self.call_later(self._tokens_changed)

    # Work beside the screen

    async def _read(self) -> None:
        """Read in a thread what is to be read, until nothing is; never two texts at a time."""
        try:
            while (reading := self.edited.reading) is not None:
                await to_thread(reading.run)
                self.edited.finish_reading(reading)
        finally:
            self._is_reading = False
        self._tokens_changed()

    def _work_in(self, seconds: float) -> None:
        at = monotonic() + seconds
        if self._work is not None and at < self._work_at:
            self._work.stop()
            self._work = None
        if self._work is None and self.is_running and self.edited.live is not None:
            self._work, self._work_at = self.set_timer(seconds, self._go_on), at

    def _go_on(self) -> None:
        """Work for a moment on what is not known yet: first the tokens, then the review."""
        self._work = None
        edited = self.edited
        if edited.live is None:
            return
        if not edited.is_settled:
            if edited.settle(_SLICE):
                self._tokens_changed()
            else:
                self._work_in(_PAUSE)
            return
        wait = self._reviewed_from - monotonic()
        if wait > 0:
            self._work_in(wait)
        elif self._in_order is not edited.live.tokenizer:
            self._put_in_order(edited.live.tokenizer)
        else:
            is_settled = edited.settle_review(_SLICE)
            self._tell_reviewed()
            if not is_settled:
                self._work_in(_PAUSE)

    def _put_in_order(self, tokenizer: Tokenizer) -> None:
        self._in_order = tokenizer
        if tokenizer.n_vocab > _MANY:
            self.run_worker(self._order(tokenizer), group="review", exclusive=True)
        else:
            self._work_in(_PAUSE)

    async def _order(self, tokenizer: Tokenizer) -> None:
        from bpe_core.vocabulary.token_order import in_order

        await to_thread(in_order, tokenizer.vocabulary)
        self._work_in(_PAUSE)

    # What is told

    def _tell_tokenized(self) -> None:
        if self.tokenizer is not None and self.is_running:
            n_tokens, document = self.edited.n_tokens, self.document
            told = n_tokens, document.n_bytes, document.n_characters, n_tokens is not None
            self.post_message(self.Tokenized(self, *told))

    def _tell_reviewed(self) -> None:
        self.repaint()
        if self.is_running:
            self.post_message(self.Reviewed(self))

    def _tell_under_cursor(self) -> None:
        under = self.edited.under_cursor
        if under != self._told_under and self.is_running:
            self._told_under = under
            self.post_message(self.CursorMoved(self, under))

    # How it looks

    @property
    def palette(self) -> Palette:
        """The styles of its tokens under the theme of now; another object once they are others."""
        theme, app = self._theme, self.app
        return self._palette.of(
            Look(
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
        """Draw row `y` of the area."""
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
            first, last = sorted(map(self.document.get_index_from_location, self.selection))
            selection = clip((first, last), *self.edited.stretch(place))
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
