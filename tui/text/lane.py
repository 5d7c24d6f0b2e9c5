"""Lane: a document's tokens under one tokenizer, kept up to date while the document is edited.

If the engine refuses a text, the text stays editable: the lane then has no tokens, and a sentence with the reason.
Long work is put into a `TextReading`, which the app runs in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from bpe_core.errors import BpeError, PatternError
from tui.text.document import FaithfulDocument
from tui.text.strips import NOTHING, Columns, OnRow

# The engine is imported only after a tokenizer was loaded.
if TYPE_CHECKING:
    from bpe_core import Change, Tokenizer
    from bpe_core.live.change import Span
    from bpe_core.live.live_text import LiveText
    from tui.text.tokens import Rows

BIG_TEXT: Final = 500_000
"""Characters of a text up to which it is split on the screen's thread."""
BIG_EDIT: Final = 100_000
"""The largest edit, in characters, whose tokens are compared. After a larger one, the whole text is split again."""
PATIENCE: Final = 0.1
"""Seconds that a pattern may take on the screen's thread, before the text is read in another."""

_ROWS: Final = 512
"""Rows whose tokens are kept."""

T = TypeVar("T")


@dataclass(slots=True)
class TextReading:
    """A text to split into pieces: `run`, called in a thread, sets `live` or `problem`."""

    tokenizer: Tokenizer
    text: str
    is_thorough: bool = False
    """Whether to find all pieces at once, because the pattern is slow."""
    missed: list[tuple[int, int, str]] = field(default_factory=list)
    """Edits since the reading began: start, end and replacement."""
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
    """A document's tokens under one tokenizer, with the stretches that were edited last and the token at the cursor."""

    def __init__(
        self,
        document: FaithfulDocument,
        tokenizer: Tokenizer | None = None,
        gave_up: Callable[[], object] = bool,
    ) -> None:
        """Tokenize a document.

        Args:
            document: The text. Each edit must be passed to `spliced`.
            tokenizer: The tokenizer; None for no tokens.
            gave_up: Called if the text can't be tokenized.
        """
        self._gave_up: Final = gave_up
        self.document: Final = document
        self.tokenizer: Tokenizer | None = None
        self._offset = 0
        self._is_slow = False
        """Whether the pattern took too long on the screen's thread."""
        self._changes: list[Change | None] = []
        self._forget()
        self.use(tokenizer)

    def _forget(self) -> None:
        self.live: LiveText | None = None
        """The tokens; None without a tokenizer, during a `reading`, and if `why_none` is set."""
        self.reading: TextReading | None = None
        """Reads the text in a thread. Then `finish_reading` takes it over, and repeats the edits made meanwhile."""
        self.why_none = ""
        """Why the tokenizer gives no tokens: a sentence, or empty."""
        self.changed: tuple[Columns, ...] = ()
        """The code points of the tokens that the last edits changed."""
        self.under_cursor: Span | None = None
        """The token at the place of `set_cursor`; at the end, the last one."""
        self._rows: Rows = {}
        """The tokens of the rows drawn last."""
        self._is_unread = False
        """Whether the whole text must be read again."""

    def spliced(self, start: int, end: int, text: str) -> None:
        """Handle an edit of the document: `text` replaced the code points from `start` to `end`."""
        if self.tokenizer is None:
            return
        if not self._changes:
            # Earlier edits are no longer marked.
            self.changed = ()
        self._changes.append(self._apply(start, end, text))

    def _must_read(self, start: int, end: int, text: str) -> bool:
        """Whether the whole text must be read: the edit is too big, or the tokens are not known yet."""
        size = max(len(text), end - start)
        if self.live is None:
            return self.reading is None or size > BIG_EDIT
        most = BIG_EDIT
        if not self.live.tokenizer.by_piece:
            # The removed and the new text are each encoded in one go, which is slower.
            most = BIG_EDIT // 20
        return size > most or self.live.is_costly(start, end)

    def _apply(self, start: int, end: int, text: str) -> Change | None:
        from tui.text.tokens import moved, rows_after

        if self._must_read(start, end, text):
            self._forget()
            self._is_unread = True
        if self.reading is not None:
            self.reading.missed.append((start, end, text))
        change = self.ask(lambda live: live.splice(start, end, text), None)
        if change is not None and self.tokenizer is not None:
            if self.tokenizer.by_piece:
                self._rows = rows_after(self._rows, change, start, end, len(text))
            else:
                # The text is changed before it is split: equal tokens can cover other characters now.
                self._rows = {}
            earlier = moved(self.changed, start, end, len(text))
            self.changed = (*earlier, (change.start, change.stop))
        return change

    def end_edits(self) -> list[Change | None]:
        """Update the tokens, and return the change of each edit; None for one that was not compared."""
        self._update()
        changes = self._changes
        self._changes = []
        return changes

    def use(self, tokenizer: Tokenizer | None) -> None:
        """Switch to another tokenizer, to another step of the same tokenizer, or to none."""
        before = self.tokenizer
        self.tokenizer = tokenizer
        if tokenizer is before:
            return
        if tokenizer is not None and tokenizer.splits_like(before):
            if self.live is not None:
                self._go_on_with(tokenizer)
            if self.live is not None or self.reading is not None or self._is_slow:
                # `finish_reading` switches to the newest tokenizer.
                return
        self._forget()
        self._is_slow = False
        self._is_unread = tokenizer is not None
        self._update()

    def _go_on_with(self, tokenizer: Tokenizer) -> None:
        self.ask(lambda live: live.use(tokenizer), None)
        self._rows.clear()
        self.changed = ()

    def _update(self) -> None:
        """Read the text if necessary; if this takes long, leave it as a `reading`."""
        if not self._is_unread or self.tokenizer is None:
            return
        self._is_unread = False
        reading = TextReading(self.tokenizer, self.document.text, self._is_slow)
        self.reading = reading
        most = BIG_TEXT
        if not (self.tokenizer.by_piece and self.tokenizer.splitter.blockwise):
            most = BIG_TEXT // 10
        if not self._is_slow and self.document.n_characters <= most:
            with impatient():
                reading.run()
            self.finish_reading(reading)

    def finish_reading(self, reading: TextReading) -> None:
        """Take the result of a `reading` that was run; ignore a reading that was replaced."""
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
            # An edit can make it necessary to read the text again.
            if self.live is not None:
                self._apply(*edit)
        self._update()
        self.changed = ()
        self.set_cursor(self._offset)

    def ask(self, question: Callable[[LiveText], T], otherwise: T) -> T:
        """Return the answer to a question about the tokens, or `otherwise` without tokens."""
        if self.live is None:
            return otherwise
        try:
            with impatient():
                return question(self.live)
        except BpeError as error:
            self._give_up(error)
            return otherwise

    def _give_up(self, error: BpeError, *, is_final: bool = False) -> None:
        """Forget the tokens; after a slow pattern, try once more in a thread unless `is_final`."""
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
        """Whether `settle` has nothing to do; a `reading` can still be waiting."""
        return self.live is None or self.live.settled

    def settle(self, seconds: float) -> bool:
        """Work for `seconds` on tokens that are not known yet, and return whether all are known."""
        if not self.is_settled and self.ask(lambda live: live.settle(seconds), True):
            # The tokens of a very long piece were provisional.
            self._rows.clear()
        return self.is_settled

    @property
    def n_tokens(self) -> int | None:
        """The number of tokens; None until it is known."""
        return self.ask(lambda live: live.n_tokens if live.settled else None, None)

    def spans(self, start: int, end: int) -> list[Span]:
        """Return the spans that meet a range of code points."""
        return self.ask(lambda live: live.spans(start, end), [])

    def set_cursor(self, offset: int) -> None:
        self._offset = offset
        self.under_cursor = None
        place = min(offset, self.document.n_characters - 1)
        if place >= 0:
            self.under_cursor = self.ask(lambda live: live.span_at(place), None)

    def on_row(self, start: int, length: int, n_colors: int) -> OnRow:
        """Return the tokens on the row that starts at a code point, each with one of `n_colors` colors."""
        if self.live is None:
            return NOTHING
        key = (start, length, n_colors)
        if key not in self._rows:
            from tui.text.tokens import find_tokens

            on_row = self.ask(lambda live: find_tokens(live, *key), None)
            if on_row is None:
                return NOTHING
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            self._rows[key] = on_row
        return self._rows[key]


def impatient() -> AbstractContextManager[None]:
    """Limit the time that patterns may take on the screen's thread. Raise PatternError after it."""
    from bpe_core.patterns import patience

    return patience(PATIENCE)
