"""TokenArea: an editor that shows the tokens of its text.

An edit goes from `TextArea` to the document, and from there to the `EditedText`, which then draws the changed rows.
Tokens that are not known at once are computed later, between two frames or in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final

from rich.cells import set_cell_size
from rich.style import Style
from textual.document._document import EditResult, Selection
from textual.document._edit import Edit
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.timer import Timer
from textual.worker import Worker

from tui.drawing.palette import Palette, palette_of
from tui.terminal.background import in_thread
from tui.text.clusters import TAB_SIZE
from tui.text.edited_text import EditedText
from tui.text.navigator import Navigator
from tui.text.rows import Rows, RowStretch
from tui.text.strips import Columns, RowContent, clip, draw
from tui.widgets.faithful_area import FaithfulArea

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer


SLICE: Final = 0.008
"""Seconds of work at a time, short enough for a frame."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice of work to the next."""
_SOON: Final = 0.06
"""Seconds from an edit to the review of the text."""
_AT_REST: Final = 0.3
"""Seconds from a change of tokenizers to the review of the text."""
_PASSING: Final = 0.1
"""Seconds to wait for more changes of tokenizers, if one came before all tokens were known."""


class _Newest(Message):
    """A message that replaces older ones of its kind."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


class TokenArea(FaithfulArea):
    """An editor that shows the tokens of its text under `tokenizer`, if there is one."""

    tokenizer: var[Tokenizer | None] = var(None, init=False)
    """May be replaced many times a second."""
    lanes: var[tuple[Tokenizer, ...]] = var((), init=False)
    """The tokenizers of the lanes after the first."""
    show_spaces: reactive[bool] = reactive(False, init=False)
    """Whether spaces and tabs are drawn as glyphs."""
    edited: EditedText
    """The text and all that is known about it; a new one after each `load_text`."""
    selection = reactive(Selection(), init=False, always_update=True, repaint=False)
    """As in `TextArea`, but moving the cursor repaints only the rows that change."""

    _repainting = False

    class Told(_Newest):
        """The tokens, the cursor or the selection have changed."""

    @dataclass
    class Edited(Message):
        """What each edit did to the tokens in each lane. An undo or redo may be several edits.

        An edit that was too big to compare is None. `tokenizers` has the tokenizer of each lane at that time.
        """

        lanes: tuple[tuple[Change | None, ...], ...]
        tokenizers: tuple[Tokenizer | None, ...]

    class Reviewed(_Newest):
        """The review of the text has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        self._working: Timer | None = None
        self._works_at = 0.0
        """When `_working` ends, by `monotonic`, as the times below."""
        self._reviewed_from = 0.0
        """When the review may go on."""
        self._settles_from = 0.0
        """When the tokens may be settled."""
        self._is_reading = False
        self._ordered: Tokenizer | None = None
        """The tokenizer whose vocabulary is sorted for the review, or will be soon."""
        self._ordering: Worker[None] | None = None
        super().__init__(soft_wrap=True, highlight_cursor_line=False, id=id)

    # The text and its tokens

    def on_mount(self) -> None:
        self.watch_tokenizer(self.tokenizer)

    def _set_document(self, text: str, language: str | None) -> None:
        self.edited = EditedText(text, self.tokenizer, gave_up=self._soon)
        self.edited.use_lanes(self.lanes)
        self._soon()
        self.document = self.edited.document
        self.wrapped_document = Rows(self.document, self.wrap_width)
        self.wrapped_document.n_lanes = self._n_lanes
        self.navigator = Navigator(self.wrapped_document)
        self._shown: dict[int, Strip] = {}
        self.move_cursor((0, 0))
        self._refresh_size()
        self.refresh()  # `repaint` compares with drawn rows, and none was drawn yet

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
        """Report an edit, or several that are undone or redone together."""
        yield
        lanes = self.edited.lanes
        changes = tuple(tuple(lane.end_edits()) for lane in lanes)
        if changes[0]:
            tokenizers = tuple(lane.tokenizer for lane in lanes)
            self.post_message(self.Edited(changes, tokenizers))
        # Wait, because another edit may follow.
        self._reviewed_from = max(self._reviewed_from, monotonic() + _SOON)
        self.tokens_changed()

    def watch_selection(self) -> None:
        start, end = self.selection
        anchor = self.document.get_index_from_location(start)
        cursor = self.document.get_index_from_location(end)
        if anchor < cursor:
            # After a selection, explain its last character.
            cursor -= 1
        self.edited.set_cursor(cursor)
        self.repaint()
        if self.is_running:
            self.post_message(self.Told())

    def tokens_changed(self) -> None:
        """Show the tokens that are known now, and go on with the others."""
        if monotonic() >= self._settles_from:
            # Otherwise the tokenizers change faster than all tokens can be known.
            self.edited.settle_all(SLICE)
        self.watch_selection()
        if self.edited.live is None:
            self.reviewed()
        can_read = self.is_running and not self._is_reading
        if can_read and self.edited.next_reading is not None:
            self._is_reading = True
            self.run_worker(self._read(), group="reading")
        self._work_in(_PAUSE)

    def reviewed(self) -> None:
        """Show the review of the text."""
        self.repaint()
        if self.is_running:
            self.post_message(self.Reviewed())

    # Drawing

    @property
    def palette(self) -> Palette:
        """The styles of the tokens under the theme. A change of styles makes another object."""
        theme = self._theme
        reverse = Style(reverse=True)
        return palette_of(
            self.app,
            theme.base_style or self.rich_style,
            theme.cursor_style or reverse,
            theme.selection_style or reverse,
            theme.gutter_style,
        )

    def render_line(self, y: int) -> Strip:
        self._shown[y] = self.draw_row(y)
        return self._shown[y]

    def draw_row(self, y: int) -> Strip:
        """Return row `y` of the area. If it looks as before, this is the same `Strip` as before."""
        if self.placeholder and not self.document.n_characters:
            return super().render_line(y)
        palette = self.palette
        scroll_x, scroll_y = self.scroll_offset
        width = max(self.scrollable_content_region.width, self.size.width)
        place = self.wrapped_document.place(y + scroll_y, scroll_x, width)
        if place is None:
            return Strip.blank(width, palette.base)
        return draw(self._row(place, scroll_x), width, palette)

    def _row(self, place: RowStretch, scroll_x: int) -> RowContent:
        """Return a row of the text, with the cursor, the selection and the label of its lane."""
        label = ""
        if place.lane < len(self._labels):
            label = self._labels[place.lane]
        selection: Columns | None = None
        if not self.selection.is_empty:
            start, end = self.edited.stretch(place)
            selection = clip(self.selected, start, end)
        left = 0
        if not self.wrapped_document.width:
            left = scroll_x - place.cell
        row = self.edited.row(place, len(self.palette.tokens))
        if not self.show_cursor:
            row = row._replace(current=None)
        return row._replace(
            selection=selection,
            cursor=self.cursor_column(place),
            left=left,
            phase=place.cell % TAB_SIZE,
            spaces=self.show_spaces,
            gutter=set_cell_size(label, self.gutter_width),
        )

    def flash(self, token: int, seconds: float) -> None:
        """Show each place of a token in view strongly for a moment."""
        spans = self.edited.spans(*self.in_view)
        self.edited.flashing = tuple(
            (span.start, span.end) for span in spans if token in span.ids
        )
        self.repaint()
        self.set_timer(seconds, self._end_flash)

    def _end_flash(self) -> None:
        self.edited.flashing = ()
        self.repaint()

    def style_of(self, token: int) -> Style:
        """Return how a token is drawn here, unless a neighbor has the same color."""
        tokens = self.palette.tokens
        return tokens[token % len(tokens)].usual

    @property
    def piece_under_cursor(self) -> str:
        """The piece of the token under the cursor; "" without a token, and for an added token."""
        under = self.edited.under_cursor
        if not under:
            return ""
        piece = self.edited.ask(lambda live: live.piece_at(under.start), None)
        return piece.prepared_text if piece else ""

    @property
    def style_under_cursor(self) -> Style | None:
        under = self.edited.under_cursor
        if not under:
            return None
        colors = self.palette.tokens
        tokens, _ = self.edited.on_row(under.start, 1, len(colors))
        return colors[tokens[0].color].usual if tokens else None

    def repaint(self) -> None:
        """Schedule a repaint of the rows that have changed since they were drawn."""
        if not self._repainting and self.is_running:
            self._repainting = True
            self.call_later(self._repaint)

    def _repaint(self) -> None:
        self._repainting = False
        scroll_y = self.scroll_offset.y
        for y in range(self.size.height):
            if y in self._shown and self.draw_row(y) is not self._shown[y]:
                self.refresh_lines(scroll_y + y)
        self._update_height()

    @property
    def is_sorted(self) -> bool:
        """Whether the vocabulary is sorted, so that tokens are found by their first bytes at once."""
        live = self.edited.live
        is_prepared = live is not None and self._ordered is live.tokenizer
        return is_prepared and self._ordering is None

    # Work that takes longer, in slices between two frames or in a thread: the tokens of the first lane, then
    # the tokens of the other lanes, then the review. Typing never waits for it.

    def _postpone(self, *, was_settled: bool) -> None:
        """Delay the review after a change of tokenizers. `was_settled`: all tokens of the last ones were known."""
        if not was_settled:
            self._settles_from = monotonic() + _PASSING
        if monotonic() < self._reviewed_from:
            # The tokenizers change faster than the text is reviewed, so the last review is outdated.
            self.reviewed()
        self._reviewed_from = monotonic() + _AT_REST

    async def _read(self) -> None:
        """Run the pending readings in a thread, one after the other."""
        try:
            while True:
                reading = self.edited.next_reading
                if reading is None:
                    break
                await in_thread(reading.run)
                self.edited.take_reading(reading)
        finally:
            self._is_reading = False
        self.tokens_changed()

    def _work_in(self, seconds: float) -> None:
        works_at = monotonic() + seconds
        if self._working is not None and works_at < self._works_at:
            self._working.stop()
            self._working = None
        has_tokens = any(lane.live is not None for lane in self.edited.lanes)
        if self._working is None and self.is_running and has_tokens:
            self._working = self.set_timer(seconds, self._go_on)
            self._works_at = works_at

    def _go_on(self) -> None:
        """Work for a moment: first on the tokens, then on the review."""
        self._working = None
        is_settled = self.edited.is_all_settled
        starts_at = self._reviewed_from if is_settled else self._settles_from
        wait = starts_at - monotonic()
        if wait > 0:
            self._work_in(wait)
        elif is_settled:
            self._go_on_with_review()
        else:
            self._go_on_with_tokens()

    def _go_on_with_tokens(self) -> None:
        edited = self.edited
        n_settled = sum(lane.is_settled for lane in edited.lanes)
        all_settled = edited.settle_all(SLICE)
        if all_settled or sum(lane.is_settled for lane in edited.lanes) > n_settled:
            self.tokens_changed()
        else:
            self._work_in(_PAUSE)

    def _go_on_with_review(self) -> None:
        edited = self.edited
        if edited.live is None or self._ordering is not None:
            return
        if self._ordered is not edited.live.tokenizer:
            self._ordered = edited.live.tokenizer
            self._ordering = self.run_worker(self._order, group="review")
            return
        is_settled = edited.settle_review(SLICE)
        self.reviewed()
        if not is_settled:
            self._work_in(_PAUSE)

    async def _order(self) -> None:
        """Sort the vocabulary for the review, in a thread."""
        from bpe_core.explain.unstable import prepare

        if self._ordered is not None:
            await in_thread(prepare, self._ordered)
        self._ordering = None
        self._work_in(_PAUSE)
