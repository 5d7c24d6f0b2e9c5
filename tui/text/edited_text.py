"""EditedText: a text while it is edited, its tokens in one lane or more, and all that is known of it.

An edit comes here once: the document tells of it, and all lanes, the review and the baseline are brought up to date.
Whatever the engine refuses, the text stays and can be edited; then there are no tokens, but a sentence that says why.
What takes long is put into a `TextReading`, to be run beside the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core.errors import BpeError, PatternError
from tui.text.document import FaithfulDocument, RowStretch
from tui.text.strips import NOTHING, Columns, OnRow, RowContent, clip

if TYPE_CHECKING:  # as long as there is no tokenizer, nothing of the engine is imported
    from bpe_core import Change, Tokenizer
    from bpe_core.live.baseline import Baseline, BaselineDiff
    from bpe_core.live.change import Span
    from bpe_core.live.live_text import LiveText
    from tui.text.tokens import Review, Rows

BIG_TEXT: Final = 500_000  # characters of a text above which it is split into pieces beside the screen
BIG_EDIT: Final = 100_000  # characters of an edit above which its tokens are not compared; the text is read anew
COMPARED: Final = 5_000  # characters edited since the text was pinned up to which it is compared at each edit
PATIENCE: Final = 0.1  # seconds that a pattern may take on the screen's thread before the text is read beside it
MOST_COPIED: Final = (
    200_000  # ids that are copied without being selected: no clipboard takes megabytes
)
MOST_DRAWN: Final = 20_000  # characters of a picture, at most
PICTURES: Final = {
    "html": ("a page", ".html"),
    "svg": ("a drawing", ".svg"),
    "markdown": ("Markdown", ".md"),
}
"""The kinds of pictures, each with what it is and the suffix of its file."""

_ROWS: Final = 512  # rows whose tokens are remembered

T = TypeVar("T")


@dataclass(slots=True)
class TextReading:
    """A text that is to be split into pieces; after `run`, in a thread, there is `live` or a `problem`."""

    tokenizer: Tokenizer
    text: str
    is_thorough: bool = False  # whether all pieces shall be known afterwards, as a pattern may take long to find some
    missed: list[tuple[int, int, str]] = field(
        default_factory=list
    )  # edits since it began
    live: LiveText | None = None
    problem: BpeError | None = None

    def run(self) -> None:
        from bpe_core.live.live_text import LiveText

        try:
            self.live = LiveText(self.tokenizer, self.text)
            if self.is_thorough:
                self.live.settle(float("inf"))
        except BpeError as error:
            self.problem = error


class Lane:
    """The tokens of a document under one tokenizer, what the last edits changed, and the token under the cursor."""

    def __init__(
        self,
        document: FaithfulDocument,
        tokenizer: Tokenizer | None = None,
        gave_up: Callable[[], object] = bool,
    ) -> None:
        """`spliced` must hear of each edit; `gave_up` is called when the tokens turn out not to be had."""
        self._gave_up: Final = gave_up
        self.document: Final = document
        self.tokenizer: Tokenizer | None = None
        self._offset = 0
        self._is_slow = (
            False  # whether the pattern took too long on the screen's thread
        )
        self._changes: list[Change | None] = []
        self._forget()
        self.use(tokenizer)

    def _forget(self) -> None:
        self.live: LiveText | None = (
            None  # None without a tokenizer, during a `reading`, and if there is `why_none`
        )
        self.reading: TextReading | None = None
        """What is to be run beside the screen and handed to `finish_reading`; edits meanwhile are made up for then."""
        self.why_none = ""  # why there are no tokens although there is a tokenizer: a sentence, or nothing
        self.changed: tuple[
            Columns, ...
        ] = ()  # the code points whose tokens the last edits have made
        self.under_cursor: Span | None = (
            None  # the token at the place of `set_cursor`; at the end, the last one
        )
        self._rows: Rows = {}  # the tokens of the rows drawn lately
        self._is_unread = False  # whether all of the text must be read anew

    def spliced(self, start: int, end: int, text: str) -> None:
        """Take note of an edit of the document: `text` has replaced the code points from `start` to `end`."""
        if self.tokenizer is None:
            return
        if not self._changes:  # what was edited before is no longer marked
            self.changed = ()
        self._changes.append(self._apply(start, end, text))

    def _must_read(self, start: int, end: int, text: str) -> bool:
        """Whether an edit makes it necessary to read all of the text, as it is too big, or there are no tokens yet."""
        if self.live is None:
            return self.reading is None or max(len(text), end - start) > BIG_EDIT
        # Where all that goes and comes is encoded at once, less is a lot.
        most = BIG_EDIT // (1 if self.live.tokenizer.by_piece else 20)
        return max(len(text), end - start) > most or self.live.is_costly(start, end)

    def _apply(self, start: int, end: int, text: str) -> Change | None:
        from tui.text.tokens import moved, rows_after

        if self._must_read(start, end, text):
            self._forget()
            self._is_unread = True
        if self.reading is not None:
            self.reading.missed.append((start, end, text))
        change = self.ask(lambda live: live.splice(start, end, text), None)
        if change is not None and self.tokenizer is not None:
            # Where it changes a text before it splits it, tokens that stay may stand for other characters.
            self._rows = (
                rows_after(self._rows, change, start, end, len(text))
                if self.tokenizer.by_piece
                else {}
            )
            self.changed = (
                *moved(self.changed, start, end, len(text)),
                (change.start, change.stop),
            )
        return change

    def end_edits(self) -> list[Change | None]:
        """Be up to date with all edits. What each of them did to the tokens; None where that was not compared."""
        self._update()
        changes, self._changes = self._changes, []
        return changes

    def use(self, tokenizer: Tokenizer | None) -> None:
        """Go on with another tokenizer, or another step of the same; without one there are no tokens."""
        before, self.tokenizer = self.tokenizer, tokenizer
        if tokenizer is before:
            return
        if tokenizer is not None and tokenizer.splits_like(before):
            if self.live is not None:
                self._go_on_with(tokenizer)
            if self.live is not None or self.reading is not None or self._is_slow:
                return  # a reading goes on with the newest one when it is taken
        self._forget()
        self._is_slow = False
        self._is_unread = tokenizer is not None
        self._update()

    def _go_on_with(self, tokenizer: Tokenizer) -> None:
        self.ask(lambda live: live.use(tokenizer), None)
        self._rows.clear()
        self.changed = ()

    def _update(self) -> None:
        """Read the text if it must be read anew; what takes long becomes a `reading`."""
        if self._is_unread and self.tokenizer is not None:
            self._is_unread = False
            self.reading = TextReading(
                self.tokenizer, self.document.text, self._is_slow
            )
            is_easy = self.tokenizer.by_piece and self.tokenizer.splitter.blockwise
            if not self._is_slow and self.document.n_characters <= BIG_TEXT // (
                1 if is_easy else 10
            ):
                with _impatient():
                    self.reading.run()
                self.finish_reading(self.reading)

    def finish_reading(self, reading: TextReading) -> None:
        """Go on with a `reading` that was run; one that is no longer waited for is ignored."""
        if reading is not self.reading or self.tokenizer is None:
            return
        self.reading = None
        if reading.problem is not None:
            self._give_up(reading.problem, is_final=reading.is_thorough)
            self._is_unread = bool(reading.missed and self.why_none)
            return self._update()
        assert reading.live is not None
        self._is_slow = reading.live.is_costly(0, reading.live.n_characters)
        if self._is_slow and not reading.is_thorough:
            self._is_unread = True
            return self._update()
        self.live = reading.live
        if reading.tokenizer is not self.tokenizer:
            self._go_on_with(self.tokenizer)
        for edit in reading.missed:
            if self.live is not None:  # else all of the text is to be read again
                self._apply(*edit)
        self._update()
        self.changed = ()
        self.set_cursor(self._offset)

    def ask(self, question: Callable[[LiveText], T], otherwise: T) -> T:
        """The answer that the tokens give; `otherwise` where there are none, or none any more when they were asked."""
        if self.live is None:
            return otherwise
        try:
            with _impatient():
                return question(self.live)
        except BpeError as error:
            self._give_up(error)
            return otherwise

    def _give_up(self, error: BpeError, *, is_final: bool = False) -> None:
        """There are no tokens: for good, or until a slow pattern had its time beside the screen."""
        self._forget()
        self._is_slow = isinstance(error, PatternError)
        if self._is_slow and not is_final:
            self._is_unread = True
            self._update()
        else:
            self.why_none = str(error)
        self._gave_up()

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to be settled; the tokens may be waiting for a `reading`."""
        return self.live is None or self.live.settled

    def settle(self, seconds: float) -> bool:
        """Work on tokens that are not known yet for so long; whether all are known now."""
        if not self.is_settled and self.ask(lambda live: live.settle(seconds), True):
            self._rows.clear()  # what was provisional in a very long piece is final now
        return self.is_settled

    @property
    def n_tokens(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self.ask(lambda live: live.n_tokens if live.settled else None, None)

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of code points; none where there are no tokens."""
        return self.ask(lambda live: live.spans(start, end), [])

    def set_cursor(self, offset: int) -> None:
        self._offset, self.under_cursor = offset, None
        if (place := min(offset, self.document.n_characters - 1)) >= 0:
            self.under_cursor = self.ask(lambda live: live.span_at(place), None)

    def on_row(self, start: int, length: int, n_colors: int) -> OnRow:
        """The tokens on a row that begins at a code point, in one of so many colors each."""
        if self.live is None:
            return NOTHING
        if (key := (start, length, n_colors)) not in self._rows:
            from tui.text.tokens import find_tokens

            if (found := self.ask(lambda live: find_tokens(live, *key), None)) is None:
                return NOTHING
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            self._rows[key] = found
        return self._rows[key]


class EditedText(Lane):
    """The text and its first lane, with a review and the comparison with a baseline; other lanes beside it."""

    def __init__(
        self,
        text: str = "",
        tokenizer: Tokenizer | None = None,
        gave_up: Callable[[], object] = bool,
    ) -> None:
        self.lanes: tuple[Lane, ...] = (
            self,
        )  # all lanes; `use_lanes` sets those after this one
        self.baseline: Baseline | None = (
            None  # what the text is compared with, if anything
        )
        super().__init__(FaithfulDocument(text, self._edited), tokenizer, gave_up)

    def _forget(self) -> None:
        super()._forget()
        self.review: Review | None = (
            None  # what is known of the text beside its tokens; None without these
        )
        self.why_no_review = ""  # why the review had to stop: a sentence, or nothing
        self.comparison: BaselineDiff | None = None
        """What differs from the baseline; None without one, where too much differs, and until `is_compared`."""
        self.is_compared = False  # whether `comparison` is that of the present text

    def use_lanes(self, tokenizers: Sequence[Tokenizer]) -> None:
        """Tokenize the text under these, too; a lane whose tokenizer splits as one of before goes on with its pieces.

        The first lanes stay in their places. A lane that is dropped between two others moves those behind it up.
        """
        before, lanes = self.lanes[1:], list[Lane]()
        kept = {id(lane.tokenizer): lane for lane in before}
        for index, tokenizer in enumerate(tokenizers):
            lane = kept.pop(id(tokenizer), None)
            if lane is None and len(tokenizers) == len(
                before
            ):  # another step, or another tokenizer, in its place
                lane = kept.pop(id(before[index].tokenizer), None)
            lane = lane or Lane(self.document, gave_up=self._gave_up)
            lane.use(tokenizer)
            lanes.append(lane)
        self.lanes = (self, *lanes)
        self.set_cursor(self._offset)

    @property
    def next_reading(self) -> TextReading | None:
        """A reading of some lane that is to be run beside the screen; None if there is none."""
        return next(
            (lane.reading for lane in self.lanes if lane.reading is not None), None
        )

    def take_reading(self, reading: TextReading) -> None:
        for lane in self.lanes:
            lane.finish_reading(reading)

    @property
    def is_all_settled(self) -> bool:
        """Whether there is nothing to be settled in any lane; tokens may be waiting for a reading."""
        return all(lane.is_settled for lane in self.lanes)

    def settle_all(self, seconds: float) -> bool:
        """Work for so long on the first lane whose tokens are not all known yet; whether all lanes are settled."""
        lane = next((lane for lane in self.lanes if not lane.is_settled), None)
        return lane is None or (lane.settle(seconds) and self.is_all_settled)

    def _edited(self, start: int, end: int, text: str) -> None:
        if self.baseline is not None:
            self.baseline.spliced(start, end, len(text))
            self.comparison, self.is_compared = None, False
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
        self.comparison, self.is_compared = None, False
        super()._go_on_with(tokenizer)
        if self.review is not None:
            self.review.use()
            self.why_no_review = ""

    def finish_reading(self, reading: TextReading) -> None:
        from tui.text.tokens import Review

        super().finish_reading(reading)
        if self.live is not None and self.review is None:
            self.review = Review(self.live)

    def settle_review(self, seconds: float) -> bool:
        """Go on with the review, and the comparison, for so long; whether all is known. The tokens must be settled."""
        if self.review is None or self.why_no_review:
            return True
        try:
            with _impatient():
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
        self.comparison = (
            None if self.baseline is None else self.ask(self.baseline.compare, None)
        )
        self.is_compared = self.live is not None

    def set_cursor(self, offset: int) -> None:
        for lane in self.lanes:
            Lane.set_cursor(lane, offset)

    def stretch(self, place: RowStretch) -> Columns:
        """Where a row begins, in code points, and how long it is, its newline counted where there is one."""
        start = self.document.get_index_from_location((place.line, place.start))
        return start, len(place.text) + (
            place.ends_line and place.line < self.document.line_count - 1
        )

    def row(self, place: RowStretch, n_colors: int) -> RowContent:
        """What stands on a row of a lane, its tokens in one of so many colors each, and all that is marked there."""
        start, length = self.stretch(place)
        lane = self.lanes[place.lane]
        tokens, shared = lane.on_row(start, length, n_colors)
        marked, under, open_from = lane.changed, lane.under_cursor, None
        if lane is self:
            marked = (
                tuple(hunk[2:] for hunk in self.comparison.hunks)
                if self.comparison
                else marked
            )
            open_from = self.review.open_from if self.review is not None else None
        else:
            alike = {token.borders for token in self.on_row(start, length, n_colors)[0]}
            tokens = tuple(
                token._replace(is_alike=True) if token.borders in alike else token
                for token in tokens
            )
        return RowContent(
            place.text,
            tokens,
            place.ends_line,
            shared,
            tuple(filter(None, (clip(one, start, length) for one in marked))),
            clip(under[:2], start, length) if under else None,
            open=None
            if open_from is None
            else clip((open_from, self.document.n_characters), start, length),
        )

    def ids(self, selected: Columns) -> list[int]:
        """The tokens that meet a selection, or all of them where nothing is selected."""
        if selected[0] == selected[1]:
            return self.ask(lambda live: live.ids, [])
        return [token for span in self.spans(*selected) for token in span.ids]

    def why_no_ids(self, selected: Columns) -> str:
        """What stands in the way of copying ids, in a sentence; empty if nothing does."""
        n_tokens = self.n_tokens
        if n_tokens is None:
            return (
                self.why_none
                or "The tokens are not known yet: wait a moment, and copy then."
            )
        if selected[0] == selected[1] and n_tokens > MOST_COPIED:
            return f"{n_tokens:,} ids are too many for a clipboard: select a part, or run bpescope encode."
        return ""

    def picture(
        self, titles: Sequence[str], part: Columns, kind: str
    ) -> Callable[[], str]:
        """What draws a part of the text, as one of `PICTURES`, under all lanes that have tokens; to be run in a thread.

        Of one lane it is what `bpescope show` makes of one tokenizer, of several what it makes of several. Raises what
        splitting and encoding raise: a part may be hard to split where the whole is not.
        """
        from bpe_core.live.live_text import LiveText
        from bpe_core.pictures.drawing import TextLanes, document, drawing, page

        lanes = [
            (title, lane.live)
            for title, lane in zip(titles, self.lanes, strict=False)
            if lane.live is not None
        ]
        with _impatient():
            if (
                len(lanes) == 1
            ):  # alone, the part is encoded anew: its first and last tokens are not cut
                ((title, live),) = lanes
                drawn = TextLanes.of(
                    [(title, LiveText(live.tokenizer, live.between(*part)))]
                )
            else:
                drawn = TextLanes.of(lanes, *part)
        draw: dict[str, Callable[[list[TextLanes]], str]] = {
            "html": page,
            "svg": drawing,
            "markdown": document,
        }
        return partial(draw[kind], [drawn])


def _impatient() -> AbstractContextManager[None]:
    from bpe_core.patterns import patience

    return patience(PATIENCE)
