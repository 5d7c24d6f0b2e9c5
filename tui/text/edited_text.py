"""EditedText: a text while it is edited, and all that is known of it; nothing here knows a widget.

An edit comes here once: the document tells of it, and all lanes, the review and the baseline are brought up to date in
one place. A screen then asks for rows, for what is under the cursor, and for some more work on what is not known yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from bpe_core.errors import BpeError
from tui.text.document import FaithfulDocument
from tui.text.lane import USUAL, Deed, Lane, Limits, Reading
from tui.text.screen_rows import RowStretch
from tui.text.strips import Columns, RowContent, clip

if TYPE_CHECKING:  # as long as there is no tokenizer, nothing of the engine is imported
    from bpe_core import Change, Tokenizer
    from bpe_core.live.baseline import Baseline, Comparison
    from bpe_core.live.live_text import LiveText
    from tui.text.tokens import Review

MOST_COPIED: Final = 200_000  # ids that are copied without being selected: no clipboard takes megabytes
MOST_DRAWN: Final = 20_000  # characters of a picture, at most
PICTURES: Final = {"html": ("a page", ".html"), "svg": ("a drawing", ".svg"), "markdown": ("Markdown", ".md")}
"""The kinds of pictures, each with what it is and the suffix of its file."""
_PATIENCE: Final = 0.5  # seconds that a pattern may take to split the part that is drawn


class EditedText(Lane):
    """The text and its first lane, with a review and the comparison with a baseline; other lanes beside it."""

    def __init__(
        self, text: str = "", tokenizer: Tokenizer | None = None, *, limits: Limits = USUAL, gave_up: Deed = bool
    ) -> None:
        self.others: tuple[Lane, ...] = ()  # the second lane and those after it; `use_lanes` sets them
        self.baseline: Baseline | None = None  # what the text is compared with, if anything
        super().__init__(FaithfulDocument(text, self._edited), tokenizer, limits=limits, gave_up=gave_up)

    def _forget(self) -> None:
        super()._forget()
        self.review: Review | None = None  # what is known of the text beside its tokens; None without these
        self.why_no_review = ""  # why the review had to stop: a sentence, or nothing
        self.comparison: Comparison | None = None
        """What differs from the baseline; None without one, where too much differs, and until `is_compared`."""
        self.is_compared = False  # whether `comparison` is that of the present text

    # The lanes

    @property
    def lanes(self) -> tuple[Lane, ...]:
        """All lanes, this one first."""
        return (self, *self.others)

    def use_lanes(self, tokenizers: Sequence[Tokenizer]) -> None:
        """Tokenize the text under these, too; a lane whose tokenizer splits as one of before goes on with its pieces.

        The first lanes stay in their places. A lane that is dropped between two others moves those behind it up.
        """
        kept = {id(lane.tokenizer): lane for lane in self.others}
        n_before, lanes = len(self.others), list[Lane]()
        for index, tokenizer in enumerate(tokenizers):
            lane = kept.pop(id(tokenizer), None)
            if lane is None and len(tokenizers) == n_before:  # another step, or another tokenizer, in its place
                lane = kept.pop(id(self.others[index].tokenizer), None)
            lane = lane or Lane(self.document, limits=self._limits, gave_up=self._gave_up)
            lane.use(tokenizer)
            lanes.append(lane)
        self.others = tuple(lanes)
        self.set_cursor(self._offset)

    @property
    def next_reading(self) -> Reading | None:
        """A reading of some lane that is to be run beside the screen; None if there is none."""
        return next((lane.reading for lane in self.lanes if lane.reading is not None), None)

    def take_reading(self, reading: Reading) -> None:
        """Go on with a `next_reading` that was run; one that is no longer waited for is left aside."""
        for lane in self.lanes:
            lane.finish_reading(reading)

    @property
    def is_all_settled(self) -> bool:
        """Whether there is nothing to be settled in any lane; tokens may be waiting for a reading."""
        return all(lane.is_settled for lane in self.lanes)

    def settle_all(self, seconds: float) -> bool:
        """Work for so long on the tokens of the first lane where some are not known yet; whether all lanes are settled.

        So the first lane is whole first, and each call costs the same, however many lanes there are.
        """
        lane = next((lane for lane in self.lanes if not lane.is_settled), None)
        return lane is None or (lane.settle(seconds) and self.is_all_settled)

    # An edit

    def begin_edits(self) -> None:
        for lane in self.lanes:
            Lane.begin_edits(lane)

    def _edited(self, start: int, end: int, text: str) -> None:
        if self.baseline is not None:
            self.baseline.spliced(start, end, len(text))
            self.comparison, self.is_compared = None, False
        for lane in self.lanes:
            lane.spliced(start, end, text)

    def _splice(self, start: int, end: int, text: str) -> Change | None:
        change = super()._splice(start, end, text)
        if change is not None and self.review is not None:
            self.review.spliced(start, end, len(text))
            self.why_no_review = ""
        return change

    def end_edits(self) -> list[Change | None]:
        changes = super().end_edits()
        if self.baseline is not None and self.live is not None and self.baseline.n_edited <= self._limits.compared:
            self.compare()
        return changes

    # Where tokens come from

    def use(self, tokenizer: Tokenizer | None) -> None:
        if tokenizer is not self.tokenizer:
            self.comparison, self.is_compared = None, False
        super().use(tokenizer)

    def _go_on_with(self, tokenizer: Tokenizer) -> None:
        super()._go_on_with(tokenizer)
        if self.review is not None:
            self.review.use()
            self.why_no_review = ""

    def _take(self, live: LiveText) -> None:
        from tui.text.tokens import Review

        super()._take(live)
        self.review = Review(live)

    # Work on what is not known yet

    def settle_review(self, seconds: float) -> bool:
        """Go on with the review, and the comparison, for so long; whether all is known. The tokens must be settled."""
        if self.review is None or self.why_no_review:
            return True
        try:
            with self._impatient():
                is_settled = self.review.settle(seconds)
        except BpeError as error:
            self.why_no_review, is_settled = str(error), True
        if not self.is_compared:
            self.compare()
        return is_settled

    def pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        from bpe_core.live.baseline import Baseline

        self.baseline = None if self.baseline else Baseline(self.document.text)
        self.compare()

    def compare(self) -> None:
        """Work out what differs from the baseline."""
        self.comparison = None if self.baseline is None else self.ask(self.baseline.compare, None)
        self.is_compared = self.live is not None

    # What is seen

    def set_cursor(self, offset: int) -> None:
        for lane in self.lanes:
            Lane.set_cursor(lane, offset)

    def stretch(self, place: RowStretch) -> Columns:
        """Where a row begins, in code points, and how long it is, its newline counted where there is one."""
        start = self.document.get_index_from_location((place.line, place.start))
        return start, len(place.text) + (place.ends_line and place.line < self.document.line_count - 1)

    def row(self, place: RowStretch, n_colors: int) -> RowContent:
        """What stands on a row of a lane, its tokens in one of so many colors each, and all that is marked there."""
        start, length = self.stretch(place)
        lane = self.lanes[place.lane] if place.lane <= len(self.others) else self
        tokens, shared = lane.on_row(start, length, n_colors)
        marked, under, open_from = lane.changed, lane.under_cursor, None
        if lane is self:
            marked = self.comparison.stretches if self.comparison else marked
            open_from = self.review.open_from if self.review is not None else None
        else:
            alike = {token.borders for token in self.on_row(start, length, n_colors)[0]}
            tokens = tuple(token._replace(is_alike=True) if token.borders in alike else token for token in tokens)
        return RowContent(
            place.text,
            tokens,
            place.ends_line,
            shared,
            tuple(filter(None, (clip(one, start, length) for one in marked))),
            clip((under.start, under.end), start, length) if under else None,
            open=None if open_from is None else clip((open_from, self.document.n_characters), start, length),
        )

    # What leaves it

    def ids(self, selected: Columns) -> list[int]:
        """The tokens that meet a selection, or all of them where nothing is selected."""
        if selected[0] == selected[1]:
            return self.ask(lambda live: live.ids, [])
        return [token for span in self.spans(*selected) for token in span.ids]

    def why_no_ids(self, selected: Columns) -> str:
        """What stands in the way of copying ids, in a sentence; empty if nothing does."""
        n_tokens = self.n_tokens
        if n_tokens is None:
            return self.why_none or "The tokens are not known yet: wait a moment, and copy then."
        if selected[0] == selected[1] and n_tokens > MOST_COPIED:
            return f"{n_tokens:,} ids are too many for a clipboard: select a part, or run bpescope encode."
        return ""

    def picture(self, titles: Sequence[str], part: Columns, kind: str) -> Callable[[], str]:
        """What draws a part of the text, as one of `PICTURES`, under all lanes that have tokens; to be run in a thread.

        Of one lane it is what `bpescope show` makes of one tokenizer, of several what it makes of several. Raises what
        splitting and encoding raise: a part may be hard to split where the whole is not.
        """
        from bpe_core.live.live_text import LiveText
        from bpe_core.patterns import patience
        from bpe_core.pictures.drawing import TextLanes, document, drawing, page

        lanes = [(title, lane.live) for title, lane in zip(titles, self.lanes, strict=False) if lane.live is not None]
        with patience(_PATIENCE):
            if len(lanes) == 1:  # alone, the part is encoded anew: its first and last tokens are not cut
                ((title, live),) = lanes
                drawn = TextLanes.of([(title, LiveText(live.tokenizer, live.between(*part)))])
            else:
                drawn = TextLanes.of(lanes, *part)
        draw: dict[str, Callable[[list[TextLanes]], str]] = {"html": page, "svg": drawing, "markdown": document}
        return partial(draw[kind], [drawn])
