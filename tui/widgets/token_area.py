"""TokenArea: a text area in which one sees the tokens of what one types.

The way of a key: `TextArea` edits the document, the document tells the `EditedText`, and that is asked for the rows to
be drawn. Here are the messages around that, and the work on what is not known at once. Where there are several
tokenizers, each row of the text is drawn once for each of them, with a label before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from rich.style import Style
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.timer import Timer
from textual.worker import Worker

from tui.drawing.palette import Palette, palette_of
from tui.terminal.background import in_thread
from tui.text.document import FaithfulDocument, RowStretch
from tui.text.edited_text import EditedText
from tui.text.strips import NOTHING, TAB_SIZE, Columns, RowContent, clip, draw
from tui.widgets.faithful_area import FaithfulArea

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer


SLICE: Final = 0.008  # seconds of work at a time, short enough for a frame
_PAUSE: Final = 1 / 30  # seconds from one slice to the next
_SOON: Final = 0.06  # seconds after an edit before the text is reviewed
_AT_REST: Final = 0.3  # the same after a change of tokenizers
_PASSING: Final = 0.1  # seconds after a change of tokenizers that came before all tokens were known: more may come


class _Newest(Message):
    """Only the newest counts."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


class TokenArea(FaithfulArea):
    """An editor that shows the tokens of its text under `tokenizer`; without one, just an editor."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)  # may be replaced many times a second
    lanes: var[tuple[Tokenizer, ...]] = var((), init=False)  # what tokenizes the text too, in the lanes after the first
    show_spaces: reactive[bool] = reactive(False, init=False)  # draw spaces and tabs as glyphs

    edited: EditedText  # the text that is shown, and all that is known of it; another one after each `load_text`

    class Told(_Newest):
        """The text has other tokens, more of them are known, or cursor and selection are elsewhere."""

    @dataclass
    class Edited(Message):
        """What each edit did to the tokens in each lane; an undo or redo may be several.

        None stands for an edit that was too big. `tokenizers` are those of the lanes when it was done.
        """

        lanes: tuple[tuple[Change | None, ...], ...]
        tokenizers: tuple[Tokenizer | None, ...]

    class Reviewed(_Newest):
        """More is known about the text, or what was known no longer holds."""

    def __init__(self, *, id: str | None = None) -> None:
        self._working: Timer | None = None
        self._works_at = 0.0  # when that timer ends
        self._reviewed_from = 0.0  # when the review may go on
        self._settles_from = 0.0  # when tokens may be settled
        self._is_reading = False
        self._ordered: Tokenizer | None = None  # the one whose vocabulary is in order for the review, or soon will be
        self._ordering: Worker[None] | None = None
        super().__init__(soft_wrap=True, highlight_cursor_line=False, id=id)

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

    # The text and its tokens

    def on_mount(self) -> None:
        self.watch_tokenizer(self.tokenizer)

    def new_document(self, text: str) -> FaithfulDocument:
        self.edited = EditedText(text, self.tokenizer, gave_up=self._soon)
        self.edited.use_lanes(self.lanes)
        self._soon()
        return self.edited.document

    def _soon(self) -> None:
        if self.is_running:
            self.call_later(self.tokens_changed)

    def watch_tokenizer(self, tokenizer: Tokenizer | None) -> None:
        was_settled = self.edited.is_all_settled
        self.edited.use(tokenizer)
        self._postpone(was_settled=was_settled)
        self.tokens_changed()

    def watch_lanes(self, tokenizers: tuple[Tokenizer, ...]) -> None:
        self.edited.use_lanes(tokenizers)
        self.set_lanes(1 + len(tokenizers))
        self._postpone(was_settled=True)
        self.tokens_changed()

    def edit(self, edit: Edit) -> EditResult:
        with self._editing():
            return super().edit(edit)

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        with self._editing():
            super()._undo_batch(edits)

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        with self._editing():
            super()._redo_batch(edits)

    @contextmanager
    def _editing(self) -> Iterator[None]:
        """An edit, or several that are undone or redone together."""
        yield
        lanes = tuple(tuple(lane.end_edits()) for lane in self.edited.lanes)
        if lanes[0]:
            self.post_message(self.Edited(lanes, tuple(lane.tokenizer for lane in self.edited.lanes)))
        self._reviewed_from = max(self._reviewed_from, monotonic() + _SOON)  # another edit may come
        self.tokens_changed()

    def pin(self) -> None:
        self.edited.pin()
        self.reviewed()

    def watch_selection(self) -> None:
        anchor, cursor = map(self.document.get_index_from_location, self.selection)
        # Behind a selection, one wants to know about what is selected last.
        self.edited.set_cursor(cursor - (anchor < cursor))
        self.repaint()
        if self.is_running:
            self.post_message(self.Told())

    def tokens_changed(self) -> None:
        """Show and tell what is known of the tokens now, and go on with what is not."""
        if monotonic() >= self._settles_from:  # else steps pass faster than all tokens are known
            self.edited.settle_all(SLICE)
        self.watch_selection()
        if self.edited.live is None:
            self.reviewed()
        if self.is_running and self.edited.next_reading is not None and not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read(), group="reading")
        self._work_in(_PAUSE)

    def reviewed(self) -> None:
        """Show and tell what is known about the text now."""
        self.repaint()
        if self.is_running:
            self.post_message(self.Reviewed())

    # How it looks

    @property
    def palette(self) -> Palette:
        """The styles of its tokens under the theme of now; another object once they are others."""
        theme = self._theme
        cursor, selection = theme.cursor_style or Style(reverse=True), theme.selection_style or Style(reverse=True)
        return palette_of(self.app, theme.base_style or self.rich_style, cursor, selection, theme.gutter_style)

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
        return self.edited.row(place, len(self.palette.tokens))._replace(
            selection=None if self.selection.is_empty else clip(self.selected, *self.edited.stretch(place)),
            cursor=self.cursor_column(place),
            left=scroll_x - place.cell if not rows.width else 0,
            phase=place.cell % TAB_SIZE,
            spaces=self.show_spaces,
            gutter=self.gutter_text(place),
        )

    def style_of(self, token: int) -> Style:
        """How the token with this id is drawn here, where no neighbor has the same color."""
        tokens = self.palette.tokens
        return tokens[token % len(tokens)].usual

    @property
    def piece_under_cursor(self) -> str:
        """The piece that holds the token under the cursor, as it is encoded; empty for none, and for an added token."""
        under = self.edited.under_cursor
        piece = self.edited.ask(lambda live: live.piece_at(under.start), None) if under else None
        return piece[2] if piece else ""

    @property
    def style_under_cursor(self) -> Style | None:
        under, colors = self.edited.under_cursor, self.palette.tokens
        tokens, _ = self.edited.on_row(under.start, 1, len(colors)) if under else NOTHING
        return colors[tokens[0].color].usual if tokens else None

    # What is not known at once: worked out in slices between two frames, or in a thread. First come the tokens of the
    # first lane, then those of the others, then the review; typing waits for none. Times are those of `monotonic`.

    def _postpone(self, *, was_settled: bool) -> None:
        """Other tokenizers are in use: the review waits. `was_settled`: whether all tokens of the last were known."""
        if not was_settled:
            self._settles_from = monotonic() + _PASSING
        if monotonic() < self._reviewed_from:  # steps pass faster than they are reviewed: the last review is outdated
            self.reviewed()
        self._reviewed_from = monotonic() + _AT_REST

    async def _read(self) -> None:
        """Read in a thread what is to be read, until nothing is; never two texts at a time."""
        try:
            while (reading := self.edited.next_reading) is not None:
                await in_thread(reading.run)
                self.edited.take_reading(reading)
        finally:
            self._is_reading = False
        self.tokens_changed()

    def _work_in(self, seconds: float) -> None:
        at = monotonic() + seconds
        if self._working is not None and at < self._works_at:
            self._working.stop()
            self._working = None
        if self._working is None and self.is_running and any(lane.live is not None for lane in self.edited.lanes):
            self._working, self._works_at = self.set_timer(seconds, self._go_on), at

    def _go_on(self) -> None:
        """Work for a moment on what is not known yet: first the tokens, then the review."""
        self._working = None
        edited = self.edited
        wait = (self._reviewed_from if edited.is_all_settled else self._settles_from) - monotonic()
        if wait > 0:
            self._work_in(wait)
        elif not edited.is_all_settled:
            n_known = sum(lane.is_settled for lane in edited.lanes)
            if edited.settle_all(SLICE) or sum(lane.is_settled for lane in edited.lanes) > n_known:
                self.tokens_changed()
            else:
                self._work_in(_PAUSE)
        elif edited.live is None or self._ordering is not None:
            return
        elif self._ordered is not edited.live.tokenizer:
            self._ordered = edited.live.tokenizer
            self._ordering = self.run_worker(self._order, group="review")
        else:
            is_settled = edited.settle_review(SLICE)
            self.reviewed()
            if not is_settled:
                self._work_in(_PAUSE)

    async def _order(self) -> None:
        from bpe_core.explain.unstable import in_order

        if self._ordered is not None:
            await in_thread(in_order, self._ordered.vocabulary)
        self._ordering = None
        self._work_in(_PAUSE)
