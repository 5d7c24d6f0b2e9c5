"""ReviewArea: a token area that also knows what is not final, what trips tokenizers, and what the text once was."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.message import Message
from textual.timer import Timer

from tui.text.rows import Place
from tui.text.strips import Row, clip
from tui.widgets.token_area import TokenArea

if TYPE_CHECKING:
    from bpe_core.baseline import Baseline, Comparison
    from bpe_core.tokenizer import Tokenizer
    from tui.text.review import Review

_SOON: Final = 0.06
"""Seconds after an edit before it is reviewed."""
_AT_REST: Final = 0.3
"""Seconds after a change of tokenizers; while a vocabulary is being learned, nothing is reviewed."""
_SLICE: Final = 0.006
"""Seconds of reviewing at a time."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice to the next."""
_MANY: Final = 5_000
"""Tokens above which a vocabulary is put in order in a thread."""
_AT_ONCE: Final = 5_000
"""Characters edited since the baseline up to which it is compared at each key."""


class ReviewArea(TokenArea):
    """The editor of the app."""

    @dataclass
    class Reviewed(Message):
        """More is known about the text, or what was known no longer holds."""

        area: ReviewArea

        @property
        def control(self) -> ReviewArea:
            """The sender."""
            return self.area

        def can_replace(self, message: Message) -> bool:
            """Only the newest counts."""
            return isinstance(message, ReviewArea.Reviewed)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        self.review: Review | None = None
        """What is known; None without tokens."""
        self.baseline: Baseline | None = None
        """What the text is compared with, if anything."""
        self.comparison: Comparison | None = None
        """What differs from the baseline; None without one, and where too much differs."""
        self._reviewing: Timer | None = None
        self._prepared: Tokenizer | None = None
        super().__init__(id=id, classes=classes)

    # What was pinned

    def pin(self) -> None:
        """Compare the text with what it is now, from now on; or no longer."""
        from bpe_core.baseline import Baseline

        self.baseline = None if self.baseline else Baseline(self.text)
        self._compare()
        self._tell()

    def _compare(self) -> None:
        live = self.live
        self.comparison = self.baseline.compare(live) if self.baseline and live else None

    # What is known

    def load(self, text: str) -> None:
        """Show another text; nothing is pinned in it."""
        self.baseline = self.comparison = None
        super().load(text)

    def spliced(self, start: int, end: int, text: str) -> None:
        """Bring all that is known up to date with an edit."""
        super().spliced(start, end, text)
        if self.baseline is not None:
            self.baseline.spliced(start, end, len(text))
        if self.review is not None:
            self.review.spliced(start, end, len(text))

    def _tokens_changed(self) -> None:
        live = self.live
        if live is None:
            self.review = None
        elif self.review is None or self.review.live is not live:
            from tui.text.review import Review

            self.review = Review(live)
        elif self._prepared is not live.tokenizer:
            self.review.use()
        if self.baseline is not None and self.baseline.n_edited <= _AT_ONCE:
            self._compare()
        super()._tokens_changed()
        if self.is_running and live is not None:
            self._review_in(
                _SOON if self._prepared is live.tokenizer else _AT_REST, again=self._prepared is not live.tokenizer
            )

    def _review_in(self, seconds: float, *, again: bool) -> None:
        if self._reviewing is not None:
            if not again:
                return
            self._reviewing.stop()
        self._reviewing = self.set_timer(seconds, self._go_on)

    async def _go_on(self) -> None:
        self._reviewing = None
        live, review = self.live, self.review
        if live is None or review is None:
            return
        if self._prepared is not live.tokenizer:
            self._prepared = live.tokenizer
            if self._prepared.n_vocab > _MANY:
                self.run_worker(self._prepare(live.tokenizer), group="review", exclusive=True)
                return
        if not live.settled:
            self._review_in(_AT_REST, again=True)
            return
        open_from = review.open_from
        settled = review.settle(_SLICE)
        if self.baseline is not None and self.comparison is None:
            self._compare()
        self._tell()
        if review.open_from != open_from:
            self.repaint()
        if not settled:
            self._review_in(_PAUSE, again=True)

    async def _prepare(self, tokenizer: Tokenizer) -> None:
        from bpe_core.token_order import in_order

        await to_thread(in_order, tokenizer.vocabulary)
        self._review_in(0.001, again=True)

    def _tell(self) -> None:
        self.repaint()
        if self.is_running:
            self.post_message(self.Reviewed(self))

    # How it looks

    def _row(self, place: Place, scroll_x: int) -> Row:
        row = super()._row(place, scroll_x)
        start = self.document.get_index_from_location((place.line, place.start))
        length = len(place.text) + (place.ends_line and place.line < self.document.line_count - 1)
        if self.comparison is not None:
            stretches = (clip(stretch, start, length) for stretch in self.comparison.stretches)
            row = row._replace(changed=tuple(filter(None, stretches)))
        review = self.review
        if review is not None and review.open_from is not None:
            row = row._replace(open=clip((review.open_from, self.document.n_characters), start, length))
        return row
