"""TokenArea: a text area in which one sees the tokens of what one types.

It replaces three parts of a `TextArea` (the document, its rows, the cursor's ways) where the area puts them in, and
the few methods that would walk the whole text at each key. The way of a key: `TextArea` edits the document, the
document tells the `EditedText`, and that is asked for the rows to be drawn; what is not known at once is worked out
later. Where there are several tokenizers, each row is drawn once for each of them, with a label before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Final

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.geometry import Offset, Region, Size, Spacing
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea
from textual.worker import Worker

from tui.drawing.palette import Palette, palette_of
from tui.terminal.background import in_thread
from tui.text.document import FaithfulDocument, Navigator, Rows, RowStretch
from tui.text.edited_text import EditedText
from tui.text.strips import NOTHING, TAB_SIZE, Columns, RowContent, clip, draw

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


class TokenArea(TextArea, inherit_bindings=False):
    """An editor that gives back what was put in, and shows the tokens of its text under `tokenizer` if there is one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # The function keys belong to the app; everything else is as in every text area.
        *(
            binding
            for binding in TextArea.BINDINGS
            if isinstance(binding, Binding) and binding.key not in ("f6", "f7")
        ),
        Binding("ctrl+shift+a,alt+a", "select_all", "Select all", show=False),
        Binding(
            "ctrl+home", "cursor_text(False, False)", "Start of the text", show=False
        ),
        Binding("ctrl+end", "cursor_text(True, False)", "End of the text", show=False),
        Binding(
            "ctrl+shift+home",
            "cursor_text(False, True)",
            "Select to the start of the text",
            show=False,
        ),
        Binding(
            "ctrl+shift+end",
            "cursor_text(True, True)",
            "Select to the end of the text",
            show=False,
        ),
    ]

    tokenizer: var[Tokenizer | None] = var(
        None, init=False
    )  # may be replaced many times a second
    lanes: var[tuple[Tokenizer, ...]] = var(
        (), init=False
    )  # what tokenizes the text too, in the lanes after the first
    show_spaces: reactive[bool] = reactive(
        False, init=False
    )  # draw spaces and tabs as glyphs

    edited: EditedText  # the text that is shown, and all that is known of it; another one after each `load_text`

    selection = reactive(Selection(), init=False, always_update=True, repaint=False)
    """As in `TextArea`, but that a moved cursor repaints only the rows that it changes."""

    document: FaithfulDocument
    wrapped_document: Rows
    navigator: Navigator

    _repainting = False
    _n_lanes = 1
    _labels: Sequence[str] = ()

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
        self._ordered: Tokenizer | None = (
            None  # the one whose vocabulary is in order for the review, or soon will be
        )
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
        start = self.document.get_index_from_location(
            rows.offset_to_location(Offset(0, top))
        )
        return start, self.document.get_index_from_location(
            (below[0], len(self.document[below[0]]))
        )

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
        self.refresh()  # `repaint` asks which rows have changed, and of this text none was drawn yet

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
            self.post_message(
                self.Edited(lanes, tuple(lane.tokenizer for lane in self.edited.lanes))
            )
        self._reviewed_from = max(
            self._reviewed_from, monotonic() + _SOON
        )  # another edit may come
        self.tokens_changed()

    def watch_selection(self) -> None:
        anchor, cursor = map(self.document.get_index_from_location, self.selection)
        # Behind a selection, one wants to know about what is selected last.
        self.edited.set_cursor(cursor - (anchor < cursor))
        self.repaint()
        if self.is_running:
            self.post_message(self.Told())

    def tokens_changed(self) -> None:
        """Show and tell what is known of the tokens now, and go on with what is not."""
        if (
            monotonic() >= self._settles_from
        ):  # else steps pass faster than all tokens are known
            self.edited.settle_all(SLICE)
        self.watch_selection()
        if self.edited.live is None:
            self.reviewed()
        if (
            self.is_running
            and self.edited.next_reading is not None
            and not self._is_reading
        ):
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
        cursor, selection = (
            theme.cursor_style or Style(reverse=True),
            theme.selection_style or Style(reverse=True),
        )
        return palette_of(
            self.app,
            theme.base_style or self.rich_style,
            cursor,
            selection,
            theme.gutter_style,
        )

    def render_line(self, y: int) -> Strip:
        strip = self._shown[y] = self.draw_row(y)
        return strip

    def draw_row(self, y: int) -> Strip:
        """Row `y` of the area: one that looks as before is the same `Strip` as before."""
        if self.placeholder and not self.document.n_characters:
            return super().render_line(y)
        palette = self.palette
        scroll_x, scroll_y = self.scroll_offset
        width = max(self.scrollable_content_region.width, self.size.width)
        place = self.wrapped_document.place(y + scroll_y, scroll_x, width)
        return (
            Strip.blank(width, palette.base)
            if place is None
            else draw(self._row(place, scroll_x), width, palette)
        )

    def _row(self, place: RowStretch, scroll_x: int) -> RowContent:
        """What the text has on a row, and what is the area's own: cursor, selection, where it is scrolled to."""
        rows = self.wrapped_document
        label = self._labels[place.lane] if place.lane < len(self._labels) else ""
        return self.edited.row(place, len(self.palette.tokens))._replace(
            selection=None
            if self.selection.is_empty
            else clip(self.selected, *self.edited.stretch(place)),
            cursor=self.cursor_column(place),
            left=scroll_x - place.cell if not rows.width else 0,
            phase=place.cell % TAB_SIZE,
            spaces=self.show_spaces,
            gutter=set_cell_size(label, self.gutter_width),
        )

    def style_of(self, token: int) -> Style:
        """How the token with this id is drawn here, where no neighbor has the same color."""
        tokens = self.palette.tokens
        return tokens[token % len(tokens)].usual

    @property
    def piece_under_cursor(self) -> str:
        """The piece that holds the token under the cursor, as it is encoded; empty for none, and for an added token."""
        under = self.edited.under_cursor
        piece = (
            self.edited.ask(lambda live: live.piece_at(under.start), None)
            if under
            else None
        )
        return piece[2] if piece else ""

    @property
    def style_under_cursor(self) -> Style | None:
        under, colors = self.edited.under_cursor, self.palette.tokens
        tokens, _ = (
            self.edited.on_row(under.start, 1, len(colors)) if under else NOTHING
        )
        return colors[tokens[0].color].usual if tokens else None

    # Textual's area over a document that keeps every character, at any size

    def set_lanes(self, n_lanes: int) -> None:
        """Draw each row of the text so many times, one below the other; what is at the top stays there."""
        scroll_y = self.scroll_offset.y // self._n_lanes * n_lanes
        if n_lanes != self._n_lanes:
            self._n_lanes = self.wrapped_document.n_lanes = n_lanes
            self._refresh_size()
            self.scroll_to(y=scroll_y, animate=False, force=True)
            self.call_after_refresh(self.scroll_cursor_visible)
            self.refresh()

    def set_labels(self, labels: Sequence[str]) -> None:
        """Write one of these before each row of a lane, all as wide as the widest of them."""
        if labels != self._labels:
            before, self._labels = self.gutter_width, labels
            if self.gutter_width != before:
                self._rewrap_and_refresh_virtual_size()
            self.refresh()

    @property
    def gutter_width(self) -> int:
        return max(map(cell_len, self._labels), default=0)

    def _refresh_size(self) -> None:
        rows, width = self.wrapped_document, 0
        if not rows.width:
            # One cell more than the widest line, for the cursor to rest behind it; and rounded up by some percent,
            # for each change of the width makes Textual lay out and draw everything again.
            width = rows.widest + self.gutter_width + 1
            step = 1 << max(width.bit_length() - 6, 0)
            width = -(-width // step) * step
        self.virtual_size = Size(width, rows.height)
        self._refresh_scrollbars()

    def _on_resize(self) -> None:
        super()._on_resize()
        if (
            self.has_focus
        ):  # in a narrower terminal a text is longer, and its end elsewhere
            self.call_after_refresh(self.scroll_cursor_visible)

    def _recompute_cursor_offset(self) -> None:
        super()._recompute_cursor_offset()  # type: ignore[no-untyped-call]
        self._update_height()

    def _update_height(self) -> None:
        """A big text is wrapped where one looks; that may have made it higher or lower than it was thought to be."""
        if self.wrapped_document.height != self.virtual_size.height:
            self._refresh_size()

    def repaint(self) -> None:
        """Soon, send those rows to the terminal that do not look as they did when they were sent last."""
        if not self._repainting and self.is_running:
            self._repainting = True
            self.call_later(self._repaint)

    def _repaint(self) -> None:
        self._repainting = False
        shown, scroll_y = self._shown, self.scroll_offset.y
        for y in range(self.size.height):
            if y in shown and self.draw_row(y) is not shown[y]:
                self.refresh_lines(scroll_y + y)
        self._update_height()

    def cursor_column(self, place: RowStretch) -> int | None:
        """The cursor's column on a row; None when it is elsewhere or not to be seen."""
        row, column = self.cursor_location
        if row != place.line or not self._draw_cursor:
            return None
        at = column - place.start
        return at if 0 <= at < len(place.text) + place.ends_line else None

    def _watch__cursor_visible(self) -> None:
        self.refresh_lines(self._cursor_offset[1], self._n_lanes)

    def scroll_cursor_visible(
        self, center: bool = False, animate: bool = False
    ) -> Offset:
        offset = super().scroll_cursor_visible(center, animate)
        if self._n_lanes > 1 and self._has_cursor:
            lanes = Region(
                *self._cursor_offset,
                3,
                min(self._n_lanes, max(self.content_size.height, 1)),
            )
            right = Spacing(right=self.gutter_width)
            offset += self.scroll_to_region(
                lanes, spacing=right, animate=animate, force=True
            )
        return offset

    def find_matching_bracket(self, bracket: str, search_from: Location) -> None:
        """None: brackets are not matched, and the search would walk through the whole text."""

    def get_cursor_word_left_location(self) -> Location:
        return self.navigator.get_word_left(self.cursor_location)

    def get_cursor_word_right_location(self) -> Location:
        return self.navigator.get_word_right(self.cursor_location)

    def action_cursor_text(self, end: bool, select: bool) -> None:
        self.move_cursor(self.document.end if end else (0, 0), select)

    def action_delete_left(self) -> None:
        start, end = self.selection
        if start == end:
            row, column = start
            end = (row, column - 1) if column else self.get_cursor_left_location()
        self._delete_via_keyboard(start, end)

    async def _on_key(self, event: events.Key) -> None:
        """Do what a key is bound to here and now, before the next one.

        Textual lets it rise to the app first: a letter typed right behind it would be in the text by then.
        A terminal sends the letter along with Alt and a letter, but that is a command and no text.
        """
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop().prevent_default()
                return
        if event.key.startswith("alt+"):
            event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send the line ends of a paste as carriage returns; a text wants them as newlines.
        event.stop().prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if text and (result := self._replace_via_keyboard(text, *self.selection)):
            self.move_cursor(result.end_location)
            self.focus()

    # What is not known at once: worked out in slices between two frames, or in a thread. First come the tokens of the
    # first lane, then those of the others, then the review; typing waits for none. Times are those of `monotonic`.

    def _postpone(self, *, was_settled: bool) -> None:
        """Other tokenizers are in use: the review waits. `was_settled`: whether all tokens of the last were known."""
        if not was_settled:
            self._settles_from = monotonic() + _PASSING
        if (
            monotonic() < self._reviewed_from
        ):  # steps pass faster than they are reviewed: the last review is outdated
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
        if (
            self._working is None
            and self.is_running
            and any(lane.live is not None for lane in self.edited.lanes)
        ):
            self._working, self._works_at = self.set_timer(seconds, self._go_on), at

    def _go_on(self) -> None:
        """Work for a moment on what is not known yet: first the tokens, then the review."""
        self._working = None
        edited = self.edited
        wait = (
            self._reviewed_from if edited.is_all_settled else self._settles_from
        ) - monotonic()
        if wait > 0:
            self._work_in(wait)
        elif not edited.is_all_settled:
            n_known = sum(lane.is_settled for lane in edited.lanes)
            if (
                edited.settle_all(SLICE)
                or sum(lane.is_settled for lane in edited.lanes) > n_known
            ):
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
        from bpe_core.explain.unstable import prepare

        if self._ordered is not None:
            await in_thread(prepare, self._ordered)
        self._ordering = None
        self._work_in(_PAUSE)
