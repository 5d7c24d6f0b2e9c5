"""Lane: the tokens of a document under one tokenizer, whatever is edited; nothing here knows a widget.

Whatever the engine refuses, the text stays and can be edited; then there are no tokens, but a sentence that says why.
What takes long is put into `reading`, to be run beside the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core.errors import BpeError, PatternError
from tui.text.document import FaithfulDocument
from tui.text.strips import NOTHING, Columns, OnRow

if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.live.live_text import LiveText
    from bpe_core.live.spans import Span
    from tui.text.tokens import TokensOfRows, UnderCursor


@dataclass(frozen=True, slots=True)
class Limits:
    """What is done at once, in an edit, and what beside the screen."""

    big_text: int = 500_000  # characters of a text above which it is split into pieces beside the screen
    big_edit: int = 100_000  # characters of an edit above which its tokens are not compared; the text is read anew
    compared: int = 5_000  # characters edited since the text was pinned up to which it is compared at each edit
    patience: float = 0.1  # seconds that a pattern may take on the screen's thread before the text is read beside it


USUAL: Final = Limits()


@dataclass(slots=True)
class Reading:
    """A text that is to be split into pieces; after `run`, in a thread, there is either `live` or a `problem`."""

    tokenizer: Tokenizer
    text: str
    is_thorough: bool = False  # whether all pieces shall be known afterwards, as a pattern may take long to find some
    live: LiveText | None = None
    problem: BpeError | None = None

    def run(self) -> None:
        from bpe_core.live.live_text import LiveText

        try:
            live = LiveText(self.tokenizer, self.text)
            if self.is_thorough:
                live.settle(float("inf"))
            self.live = live
        except BpeError as error:
            self.problem = error


T = TypeVar("T")
Deed = Callable[[], object]


class Lane:
    """The tokens, what the last edits changed, and the token under the cursor."""

    def __init__(
        self, document: FaithfulDocument, tokenizer: Tokenizer | None = None, *, limits: Limits, gave_up: Deed
    ) -> None:
        """`gave_up` is called when the tokens turn out not to be had, in whatever is asked."""
        self._limits: Final = limits
        self._gave_up: Final = gave_up
        self.document: Final = document  # the text in lines; it must tell of each edit by `spliced`
        self.tokenizer: Tokenizer | None = None  # what tokenizes it; `use` sets another
        self._offset = 0
        self._is_slow = False  # whether the pattern took too long on the screen's thread
        self._changes: list[Change | None] = []
        self._forget()
        self.use(tokenizer)

    def _forget(self) -> None:
        """Drop the tokens and all that was computed from them."""
        self.live: LiveText | None = None
        """The text with its tokens; None without a tokenizer, during a `reading`, and if there is `why_none`."""
        self.reading: Reading | None = None
        """What is to be run beside the screen and handed to `finish_reading`; edits meanwhile are made up for then."""
        self.why_none = ""  # why there are no tokens although there is a tokenizer: a sentence, or nothing
        self.changed: tuple[Columns, ...] = ()
        """The code points whose tokens the last edits have made, since `begin_edits`."""
        self.under_cursor: UnderCursor | None = None  # the token at the place that was last looked at
        self._rows: TokensOfRows | None = None  # there are some with `live`
        self._missed: list[tuple[int, int, str]] = []  # edits since the `reading` began
        self._is_unread = False

    # An edit

    def begin_edits(self) -> None:
        """What was edited until now is no longer marked."""
        self.changed = ()

    def spliced(self, start: int, end: int, text: str) -> None:
        """Take note of an edit of the document: `text` has replaced the code points from `start` to `end`."""
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
        from tui.text.tokens import moved

        change = self.ask(lambda live: live.splice(start, end, text), None)
        if change is not None and self._rows is not None:
            if self.tokenizer is not None and self.tokenizer.by_piece:
                self._rows.edited(change, start, end, len(text))
            else:  # tokens that stay may stand for other characters
                self._rows.forget()
            self.changed = (*moved(self.changed, start, end, len(text)), (change.start, change.stop))
        return change

    def end_edits(self) -> list[Change | None]:
        """Be up to date with all edits. What each of them did to the tokens; None where that was not compared."""
        self._update()
        changes, self._changes = self._changes, []
        return changes

    # Where tokens come from

    def use(self, tokenizer: Tokenizer | None) -> None:
        """Go on with another tokenizer, or another step of the same; without one there are no tokens."""
        before, self.tokenizer = self.tokenizer, tokenizer
        if tokenizer is before:
            return
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
        if self._rows is not None:
            self._rows.forget()
            self.changed = ()

    def _update(self) -> None:
        """Read the text if it must be read anew; what takes long becomes a `reading`."""
        if self._is_unread and self.tokenizer is not None:
            self._is_unread = False
            self.reading = Reading(self.tokenizer, self.document.text, self._is_slow)
            is_easy = self.tokenizer.by_piece and self.tokenizer.splitter.blockwise
            if not self._is_slow and self.document.n_characters <= self._limits.big_text // (1 if is_easy else 10):
                with self._impatient():
                    self.reading.run()
                self.finish_reading(self.reading)

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
        assert reading.live is not None
        self._is_slow = reading.live.is_costly(0, reading.live.n_characters)
        if self._is_slow and not reading.is_thorough:
            self.reading = Reading(self.tokenizer, self.document.text, is_thorough=True)
            return
        self._take(reading.live)
        if reading.tokenizer is not self.tokenizer:
            self._go_on_with(self.tokenizer)
        for edit in missed:
            if self.live is None:  # all of the text is to be read again
                break
            if self._must_read(*edit):
                self._forget()
                self._is_unread = True
                self._update()
                return
            self._splice(*edit)
        self.changed = ()
        self.set_cursor(self._offset)

    def _take(self, live: LiveText) -> None:
        """Have these tokens, of the text as it is now, and no colored rows yet."""
        from tui.text.tokens import TokensOfRows

        self.live, self._rows = live, TokensOfRows()

    def ask(self, question: Callable[[LiveText], T], otherwise: T) -> T:
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

    # What is known of the tokens

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

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans that meet a range of code points; none where there are no tokens."""
        return self.ask(lambda live: live.spans(start, end), [])

    def set_cursor(self, offset: int) -> None:
        """Set `under_cursor` to what stands at a code point."""
        self._offset, self.under_cursor = offset, None
        if self.live is not None:
            from tui.text.tokens import find_under

            self.under_cursor = self.ask(lambda live: find_under(live, offset), None)

    def color_under_cursor(self, n_colors: int) -> int | None:
        """The color of the token that was last looked at, of so many; None if there is none."""
        tokens, _ = self.on_row(self.under_cursor.start, 1, n_colors) if self.under_cursor else NOTHING
        return tokens[0].color if tokens else None

    def on_row(self, start: int, length: int, n_colors: int) -> OnRow:
        rows = self._rows
        return self.ask(lambda live: rows.on_row(live, start, length, n_colors) if rows else NOTHING, NOTHING)


def _split_alike(one: Tokenizer, other: Tokenizer) -> bool:
    """Whether two tokenizers, such as two steps of one, make the same pieces of any text, and nothing else of it."""
    return one.by_piece and other.by_piece and one.splitter.source == other.splitter.source
