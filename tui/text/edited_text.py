"""EditedText: a text while it is edited, and all that is known of it; nothing here knows a widget.

An edit comes here once: the document tells of it, and tokens, marks, review and baseline are brought up to date in one
place. A screen then asks for rows, for what is under the cursor, and for some more work on what is not known yet. What
takes long is put into `reading`, to be run beside the screen. Whatever the engine refuses, the text stays and can be
edited; then there are no tokens, but a sentence that says why.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core.errors import BpeError, PatternError
from tui.text.document import FaithfulDocument
from tui.text.reading import Limits, Reading
from tui.text.screen_rows import RowStretch
from tui.text.strips import NOTHING, Columns, RowContent, clip

if TYPE_CHECKING:  # as long as there is no tokenizer, nothing of the engine is imported
    from bpe_core import Change, Tokenizer
    from bpe_core.editing.aligned_text import FollowedText
    from bpe_core.editing.baseline import Baseline, Comparison
    from bpe_core.editing.spans import Span
    from tui.text.review import Review
    from tui.text.tokens import TokensOfRows, UnderCursor

T = TypeVar("T")


class EditedText:
    """The text, its tokens under a tokenizer, what changed last, the review, and the comparison with a baseline."""

    def __init__(
        self,
        text: str = "",
        tokenizer: Tokenizer | None = None,
        *,
        limits: Limits | None = None,
        gave_up: Callable[[], None] = lambda: None,
    ) -> None:
        """`gave_up` is called when the tokens turn out not to be had, in whatever is asked."""
        self._limits: Final = limits or Limits()
        self._gave_up: Final = gave_up
        self.document: Final = FaithfulDocument(text, self._edited)
        """The text in lines; edits are made there."""
        self.tokenizer: Tokenizer | None = None
        """What tokenizes it; `use` sets another."""
        self.live: FollowedText | None = None
        """The text with its tokens; None without a tokenizer, during a `reading`, and if there is `why_none`."""
        self.reading: Reading | None = None
        """What is to be run beside the screen and handed to `finish_reading`; edits meanwhile are made up for then."""
        self.why_none = ""
        """Why there are no tokens although there is a tokenizer: a sentence, or nothing."""
        self.review: Review | None = None
        """What is known of the text beside its tokens; None without these."""
        self.why_no_review = ""
        """Why the review had to stop: a sentence, or nothing."""
        self.baseline: Baseline | None = None
        """What the text is compared with, if anything."""
        self.comparison: Comparison | None = None
        """What differs from the baseline; None without one, where too much differs, and until `is_compared`."""
        self.is_compared = False
        """Whether `comparison` is that of the present text."""
        self.changed: tuple[Columns, ...] = ()
        """The code points whose tokens the last edits have made, since `begin_edits`."""
        self.under_cursor: UnderCursor | None = None
        """The token at the place that was last looked at."""
        self._rows: TokensOfRows | None = None
        self._offset = 0
        self._missed: list[tuple[int, int, str]] = []
        self._is_unread = False
        self._is_slow = False
        self._changes: list[Change | None] = []
        self.use(tokenizer)

    # An edit

    def begin_edits(self) -> None:
        """What was edited until now is no longer marked."""
        self.changed = ()

    def _edited(self, start: int, end: int, text: str) -> None:
        """Take note of an edit of the document: `text` has replaced the code points from `start` to `end`."""
        if self.baseline is not None:
            self.baseline.spliced(start, end, len(text))
            self.comparison, self.is_compared = None, False
        if self.tokenizer is None:
            return
        if self._must_read(start, end, text):
            self._forget()
            self._is_unread = True
        if self.reading is not None:
            self._missed.append((start, end, text))
        self._changes.append(self._splice(start, end, text) if self.live is not None else None)

    def _must_read(self, start: int, end: int, text: str) -> bool:
        """Whether an edit makes it necessary to read all of the text, as it is too big, or there are no tokens yet."""
        if self.live is None:
            return self.reading is None or max(len(text), end - start) > self._limits.big_edit
        # Where all that goes and comes is encoded at once, less is a lot.
        most = self._limits.big_edit // (1 if self.live.tokenizer.by_piece else 20)
        return max(len(text), end - start) > most or self.live.is_costly(start, end)

    def _splice(self, start: int, end: int, text: str) -> Change | None:
        from tui.text.tokens import moved, stretch_of

        change = self.ask(lambda live: live.splice(start, end, text), None)
        if change is not None and self._rows is not None and self.review is not None:
            stretch = stretch_of(change)
            if self.tokenizer is not None and self.tokenizer.by_piece:
                self._rows.edited(change, start, end, len(text))
            else:  # tokens that stay may stand for other characters
                self._rows.forget()
            self.changed = (*moved(self.changed, start, end, len(text)), stretch)
            self.review.spliced(start, end, len(text))
            self.why_no_review = ""
        return change

    def end_edits(self) -> list[Change | None]:
        """Be up to date with all edits. What each of them did to the tokens; None where that was not compared."""
        self._update()
        if self.baseline is not None and self.live is not None:
            is_local = self.live.tokenizer.by_piece
            n_compared = self.baseline.n_edited if is_local else self.document.n_characters
            if n_compared <= self._limits.compared:
                self.compare()
        changes, self._changes = self._changes, []
        return changes

    # Where tokens come from

    def use(self, tokenizer: Tokenizer | None) -> None:
        """Go on with another tokenizer, or another step of the same; without one there are no tokens."""
        if tokenizer is self.tokenizer:
            return
        before, self.tokenizer = self.tokenizer, tokenizer
        self.comparison, self.is_compared = None, False
        if tokenizer is not None and before is not None and _split_alike(before, tokenizer):
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
        if self._rows is not None and self.review is not None:
            self._rows.forget()
            self.review.use()
            self.changed, self.why_no_review = (), ""

    def _forget(self) -> None:
        """Have no tokens, and nothing that is known through them."""
        self.live = self._rows = self.review = self.reading = self.under_cursor = self.comparison = None
        self.why_none = self.why_no_review = ""
        self.changed, self._missed, self.is_compared, self._is_unread = (), [], False, False

    def _update(self) -> None:
        """Read the text if it must be read anew; what takes long becomes a `reading`."""
        if self._is_unread and self.tokenizer is not None:
            self._is_unread = False
            self.reading = Reading(self.tokenizer, self.document.text, self._is_slow)
            if not self._takes_long(self.tokenizer):
                with self._impatient():
                    self.reading.run()
                self.finish_reading(self.reading)

    def _takes_long(self, tokenizer: Tokenizer) -> bool:
        is_easy = tokenizer.by_piece and tokenizer.splitter.blockwise
        return self._is_slow or self.document.n_characters > self._limits.big_text // (1 if is_easy else 10)

    def _impatient(self) -> AbstractContextManager[None]:
        from bpe_core.patterns import patience

        return patience(self._limits.patience)

    def finish_reading(self, reading: Reading) -> None:
        """Go on with a `reading` that was run; one that is no longer waited for is left aside."""
        if reading is not self.reading or self.tokenizer is None:
            return
        missed, self.reading, self._missed = self._missed, None, []
        if reading.problem is not None:
            self._give_up(reading.problem, is_final=reading.is_thorough)
            self._is_unread = bool(missed) and bool(self.why_none)
            self._update()
            return
        from tui.text.review import Review
        from tui.text.tokens import TokensOfRows

        assert reading.live is not None
        self._is_slow = reading.live.takes_long
        if self._is_slow and not reading.is_thorough:
            self.reading, self._missed = Reading(self.tokenizer, self.document.text, is_thorough=True), []
            return
        self.live = reading.live
        self._rows, self.review = TokensOfRows(), Review(reading.live)
        if reading.tokenizer is not self.tokenizer:
            self._go_on_with(self.tokenizer)
        for start, end, text in missed:
            if self.live is None:  # all of the text is to be read again
                break
            if self._must_read(start, end, text):
                self._forget()
                self._is_unread = True
                self._update()
                return
            self._splice(start, end, text)
        self.changed = ()
        self.set_cursor(self._offset)

    def ask(self, question: Callable[[FollowedText], T], otherwise: T) -> T:
        """The answer that the tokens give; `otherwise` where there are none, or none any more when they were asked."""
        if self.live is None:
            return otherwise
        try:
            with self._impatient():
                return question(self.live)
        except BpeError as error:
            self._give_up(error)
            return otherwise

    def _give_up(self, error: BpeError, *, is_final: bool = False) -> None:
        """There are no tokens: for good, or until a slow pattern had its time beside the screen."""
        self._forget()
        self._is_slow = isinstance(error, PatternError)
        if self._is_slow and not is_final and self.tokenizer is not None:
            self.reading = Reading(self.tokenizer, self.document.text, is_thorough=True)
        else:
            self.why_none = str(error)
        self._gave_up()

    # Work on what is not known yet

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to be settled; the tokens may be waiting for a `reading`."""
        return self.live is None or self.live.settled

    def settle(self, seconds: float) -> bool:
        """Work on tokens that are not known yet for so long; whether all are known now."""
        if not self.is_settled and self.ask(lambda live: live.settle(seconds), True) and self._rows is not None:
            self._rows.forget()  # what was provisional in a very long piece is final now
        return self.is_settled

    @property
    def n_tokens(self) -> int | None:
        """How many tokens the text has, if that is known by now."""
        return self.ask(lambda live: live.n_tokens_known, None)

    def settle_review(self, seconds: float) -> bool:
        """Go on with the review, and the comparison, for so long; whether all is known. The tokens must be settled."""
        if self.review is None or self.why_no_review:
            return True
        try:
            with self._impatient():
                is_settled = self.review.settle(seconds)
        except BpeError as error:
            self.why_no_review = str(error)
            is_settled = True
        if not self.is_compared:
            self.compare()
        return is_settled

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of code points; none where there are no tokens."""
        return self.ask(lambda live: live.spans(start, end), [])

    # The baseline

    def pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        from bpe_core.editing.baseline import Baseline

        self.baseline = None if self.baseline else Baseline(self.document.text)
        self.compare()

    def compare(self) -> None:
        """Work out what differs from the baseline."""
        baseline = self.baseline
        self.comparison = None if baseline is None else self.ask(baseline.compare, None)
        self.is_compared = self.live is not None

    # What is seen

    def set_cursor(self, offset: int) -> None:
        """Set `under_cursor` to what stands at a code point."""
        self._offset = offset
        self.under_cursor = None
        if self.live is not None:
            from tui.text.tokens import find_under

            self.under_cursor = self.ask(lambda live: find_under(live, offset), None)

    def color_under_cursor(self, n_colors: int) -> int | None:
        """The color of the token that was last looked at, of so many; None if there is none."""
        under, rows = self.under_cursor, self._rows
        if under is None or rows is None:
            return None
        tokens, _ = self.ask(lambda live: rows.on_row(live, under.start, 1, n_colors), NOTHING)
        return tokens[0].color if tokens else None

    def stretch(self, place: RowStretch) -> Columns:
        """Where a row begins, in code points, and how long it is, its newline counted where there is one."""
        start = self.document.get_index_from_location((place.line, place.start))
        return start, len(place.text) + (place.ends_line and place.line < self.document.line_count - 1)

    def row(self, place: RowStretch, n_colors: int) -> RowContent:
        """What stands on a row, its tokens in one of so many colors each, and all that is marked there."""
        start, length = self.stretch(place)
        rows, under, review = self._rows, self.under_cursor, self.review
        tokens, shared = self.ask(lambda live: rows.on_row(live, start, length, n_colors) if rows else NOTHING, NOTHING)
        changed = self.comparison.stretches if self.comparison is not None else self.changed
        open_from = review.open_from if review is not None else None
        return RowContent(
            place.text,
            tokens,
            place.ends_line,
            shared,
            tuple(filter(None, (clip(stretch, start, length) for stretch in changed))),
            clip((under.start, under.end), start, length) if under else None,
            open=None if open_from is None else clip((open_from, self.document.n_characters), start, length),
        )


def _split_alike(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers, such as two steps of one, make the same pieces of any text, and nothing else of it."""
    return one.by_piece and other.by_piece and one.splitter.source == other.splitter.source
