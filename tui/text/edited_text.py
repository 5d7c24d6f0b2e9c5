"""EditedText: a text with its tokens under one tokenizer or several, a review, and a comparison.

The document reports each edit to `EditedText` once, which updates all lanes, the review and the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from bpe_core.errors import BpeError
from tui.text.document import FaithfulDocument
from tui.text.lane import Lane, TextReading, impatient
from tui.text.rows import RowStretch
from tui.text.strips import Columns, RowContent, clip

# The engine is imported only after a tokenizer was loaded.
if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.live.baseline import Baseline, BaselineDiff
    from tui.text.review import Review

COMPARED: Final = 5_000
"""Characters edited since the text was pinned, up to which it is compared after each edit."""


class EditedText(Lane):
    """A text with its first lane, a review and a comparison with the pinned text; and its other lanes."""

    def __init__(
        self,
        text: str = "",
        tokenizer: Tokenizer | None = None,
        gave_up: Callable[[], object] = bool,
    ) -> None:
        self.lanes: tuple[Lane, ...] = (self,)
        """All lanes; `use_lanes` sets the others after this one."""
        self.baseline: Baseline | None = None
        """The pinned text, if there is one."""
        self.flashing: tuple[Columns, ...] = ()
        """The tokens that are shown strongly for a moment, as code points."""
        super().__init__(FaithfulDocument(text, self._edited), tokenizer, gave_up)

    def _forget(self) -> None:
        super()._forget()
        self.review: Review | None = None
        """The search for pitfalls and tokens that are not final; None without tokens."""
        self.why_no_review = ""
        """Why the review had to stop: a sentence, or empty."""
        self.comparison: BaselineDiff | None = None
        """The difference from the baseline; None without one, and if too much differs."""
        self.is_compared = False
        """Whether `comparison` is up to date."""

    def use_lanes(self, tokenizers: Sequence[Tokenizer]) -> None:
        """Tokenize the text with these tokenizers too.

        A lane with the same tokenizer is kept. If there are as many lanes as before, a lane is kept for
        the new tokenizer in its place: if it splits text in the same way, the pieces are used again.
        """
        before = self.lanes[1:]
        has_same_places = len(tokenizers) == len(before)
        reusable = {id(lane.tokenizer): lane for lane in before}
        lanes: list[Lane] = []
        for index, tokenizer in enumerate(tokenizers):
            lane = reusable.pop(id(tokenizer), None)
            if lane is None and has_same_places:
                lane = reusable.pop(id(before[index].tokenizer), None)
            if lane is None:
                lane = Lane(self.document, gave_up=self._gave_up)
            lane.use(tokenizer)
            lanes.append(lane)
        self.lanes = (self, *lanes)
        self.set_cursor(self._offset)

    @property
    def next_reading(self) -> TextReading | None:
        """The first reading of a lane that is to be run in a thread."""
        for lane in self.lanes:
            if lane.reading is not None:
                return lane.reading
        return None

    def take_reading(self, reading: TextReading) -> None:
        for lane in self.lanes:
            lane.finish_reading(reading)

    @property
    def is_all_settled(self) -> bool:
        """Whether `settle_all` has nothing to do; a reading can still be waiting."""
        return all(lane.is_settled for lane in self.lanes)

    def settle_all(self, seconds: float) -> bool:
        """Work for `seconds` on the first lane that is not settled, and return whether all are."""
        for lane in self.lanes:
            if not lane.is_settled:
                return lane.settle(seconds) and self.is_all_settled
        return True

    def _edited(self, start: int, end: int, text: str) -> None:
        if self.baseline is not None:
            self.baseline.spliced(start, end, len(text))
            self.comparison = None
        self.is_compared = False
        for lane in self.lanes:
            lane.spliced(start, end, text)
        if self.review is not None:
            self.review.spliced(start, end, len(text))
            self.why_no_review = ""

    def end_edits(self) -> list[Change | None]:
        changes = super().end_edits()
        if (
            self.baseline is not None
            and self.live is not None
            and self.baseline.n_edited <= COMPARED
        ):
            self.compare()
        return changes

    def _go_on_with(self, tokenizer: Tokenizer) -> None:
        self.comparison = None
        self.is_compared = False
        super()._go_on_with(tokenizer)
        if self.review is not None:
            self.review.restart()
            self.why_no_review = ""

    def finish_reading(self, reading: TextReading) -> None:
        from tui.text.review import Review

        super().finish_reading(reading)
        if self.live is not None and self.review is None:
            self.review = Review(self.live)

    def settle_review(self, seconds: float) -> bool:
        """Continue the review for `seconds`, then compare; return whether the review is done.

        The tokens must be settled.
        """
        if self.review is None or self.why_no_review:
            return True
        try:
            with impatient():
                is_settled = self.review.settle(seconds)
        except BpeError as error:
            self.why_no_review = str(error)
            is_settled = True
        if not self.is_compared:
            self.compare()
        return is_settled

    def pin(self) -> None:
        """Pin the present text for comparison, or unpin it."""
        from bpe_core.live.baseline import Baseline

        self.baseline = None if self.baseline else Baseline(self.document.text)
        self.compare()

    def compare(self) -> None:
        self.comparison = None
        if self.baseline is not None:
            self.comparison = self.ask(self.baseline.compare, None)
        self.is_compared = self.live is not None

    def set_cursor(self, offset: int) -> None:
        for lane in self.lanes:
            Lane.set_cursor(lane, offset)

    def stretch(self, place: RowStretch) -> Columns:
        """Return the start of a row in code points, and its length with its newline."""
        start = self.document.get_index_from_location((place.line, place.start))
        length = len(place.text)
        if place.ends_line and place.line < self.document.line_count - 1:
            length += 1
        return start, length

    def row(self, place: RowStretch, n_colors: int) -> RowContent:
        """Return the characters on a row of a lane, its tokens, and everything that is marked."""
        start, length = self.stretch(place)
        lane = self.lanes[place.lane]
        tokens, split_characters = lane.on_row(start, length, n_colors)
        marked = lane.changed  # by the last edit
        open_columns = None
        if lane is self:
            # In the first lane, the changes since the text was pinned replace those of the last edit.
            if self.comparison:
                marked = tuple((hunk.start, hunk.end) for hunk in self.comparison.hunks)
            if self.review is not None and self.review.open_from is not None:
                unfinished = (self.review.open_from, self.document.n_characters)
                open_columns = clip(unfinished, start, length)
        else:
            # Tokens with the same borders as in the first lane are drawn faint.
            first_lane_tokens, _ = self.on_row(start, length, n_colors)
            borders = {token.borders for token in first_lane_tokens}
            tokens = tuple(
                token._replace(is_alike=token.borders in borders) for token in tokens
            )
        under = lane.under_cursor
        current = clip((under.start, under.end), start, length) if under else None
        changed = (clip(stretch, start, length) for stretch in marked)
        flashing = (clip(stretch, start, length) for stretch in self.flashing)
        return RowContent(
            place.text,
            tokens,
            ends_line=place.ends_line,
            shared=split_characters,
            changed=tuple(columns for columns in changed if columns),
            current=current,
            flashing=tuple(columns for columns in flashing if columns),
            open=open_columns,
        )

    def ids(self, selected: Columns) -> list[int]:
        """Return the ids of the tokens that overlap a selection, or all ids if it is empty."""
        if selected[0] == selected[1]:
            return self.ask(lambda live: live.ids, [])
        return [token for span in self.spans(*selected) for token in span.ids]
