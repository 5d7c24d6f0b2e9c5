"""TextWork: what is not known at once of a text is worked out in slices between two frames, or in a thread.

First come the tokens of the first lane, then those of the other lanes, then the review; typing never waits for any.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol

from textual.timer import Timer
from textual.worker import Worker

from tui.terminal.background import in_thread
from tui.text.edited_text import EditedText

if TYPE_CHECKING:
    from bpe_core import Tokenizer
    from bpe_core.patterns import Splitter

SLICE: Final = 0.008
"""Seconds of work at a time, short enough for a frame."""
_PAUSE: Final = 1 / 30
"""Seconds from one slice to the next."""
_SOON: Final = 0.06
"""Seconds after an edit before the text is reviewed."""
_AT_REST: Final = 0.3
"""Seconds after a change of tokenizers; while a vocabulary is being learned, nothing is reviewed."""
_MANY: Final = 5_000
"""Tokens above which a vocabulary is put in order in a thread, for the review."""
_PASSING: Final = 0.1
"""Seconds after a change of tokenizers that came before all tokens of the one before were known: more may come."""
_COMPILED_AFTER: Final = 1.0
"""Seconds until patterns are compiled that the first text did without; the start is over then."""


class WorkedOn(Protocol):
    """The area whose text is worked on."""

    edited: EditedText

    @property
    def is_running(self) -> bool:
        """Whether it is on a screen."""

    def tokens_changed(self) -> None:
        """Tokens have changed, or more of them are known."""

    def reviewed(self) -> None:
        """More is known about the text."""

    def run_worker(self, work: Coroutine[None, None, None], *, group: str, exclusive: bool = False) -> Worker[None]:
        """Do work beside the screen."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> Timer:
        """Call back later."""


class TextWork:
    def __init__(self, area: WorkedOn) -> None:
        self._area = area
        self._timer: Timer | None = None
        self._at = 0.0
        """When there is to be worked, on the clock `monotonic`."""
        self._reviewed_from = 0.0
        """When the review may go on, on the clock `monotonic`."""
        self._settles_from = 0.0
        """When tokens may be settled, on the clock `monotonic`."""
        self._is_reading = False
        self._in_order: Tokenizer | None = None
        """The one whose vocabulary is in order for the review."""
        self._splitters: set[Splitter] = set()
        """What splits the text in its lanes; soon after one has come, all of its patterns are compiled."""

    def begin(self) -> None:
        """Work on what is not known yet, from now on until all is known."""
        area = self._area
        if area.is_running and area.edited.next_reading is not None and not self._is_reading:
            self._is_reading = True
            area.run_worker(self._read(), group="reading")
        self._work_in(_PAUSE)

    def edited(self) -> None:
        """There was an edit, and another one may come: the review waits a little."""
        self._reviewed_from = max(self._reviewed_from, monotonic() + _SOON)

    def settle_now(self) -> None:
        """Settle tokens for a moment, unless the steps of a vocabulary pass by faster than all of them are known."""
        if monotonic() >= self._settles_from:
            self._area.edited.settle_all(SLICE)

    def retokenized(self, *, was_settled: bool = True) -> None:
        """Other tokenizers are in use: the review waits, and see to it that no key has to wait for a pattern.

        The first accent is one that ASCII did without. `was_settled`: whether all tokens of those before were known.
        """
        if not was_settled:
            self._settles_from = monotonic() + _PASSING
        self._reviewed_from = monotonic() + _AT_REST
        used = {
            lane.tokenizer.splitter
            for lane in self._area.edited.lanes
            if lane.tokenizer is not None and lane.tokenizer.by_piece
        }
        for splitter in used - self._splitters:
            self._area.set_timer(_COMPILED_AFTER, partial(self._compile, splitter))
        self._splitters = used

    def _compile(self, splitter: Splitter) -> None:
        if splitter in self._splitters:
            self._area.run_worker(in_thread(splitter.compile_all), group="patterns")

    async def _read(self) -> None:
        """Read in a thread what is to be read, until nothing is; never two texts at a time."""
        try:
            while (reading := self._area.edited.next_reading) is not None:
                await in_thread(reading.run)
                self._area.edited.take_reading(reading)
        finally:
            self._is_reading = False
        self._area.tokens_changed()

    def _work_in(self, seconds: float) -> None:
        area, at = self._area, monotonic() + seconds
        if self._timer is not None and at < self._at:
            self._timer.stop()
            self._timer = None
        if self._timer is None and area.is_running and any(lane.live is not None for lane in area.edited.lanes):
            self._timer, self._at = area.set_timer(seconds, self._go_on), at

    def _go_on(self) -> None:
        """Work for a moment on what is not known yet: first the tokens, then the review."""
        self._timer = None
        edited = self._area.edited
        if not edited.is_all_settled and (wait := self._settles_from - monotonic()) > 0:
            self._work_in(wait)
            return
        if not edited.is_all_settled:
            n_known = sum(lane.is_settled for lane in edited.lanes)
            if edited.settle_all(SLICE) or sum(lane.is_settled for lane in edited.lanes) > n_known:
                self._area.tokens_changed()
            else:
                self._work_in(_PAUSE)
            return
        if edited.live is None:
            return
        wait = self._reviewed_from - monotonic()
        if wait > 0:
            self._work_in(wait)
        elif self._in_order is not edited.live.tokenizer:
            self._put_in_order(edited.live.tokenizer)
        else:
            is_settled = edited.settle_review(SLICE)
            self._area.reviewed()
            if not is_settled:
                self._work_in(_PAUSE)

    def _put_in_order(self, tokenizer: Tokenizer) -> None:
        self._in_order = tokenizer
        if tokenizer.n_vocab > _MANY:
            self._area.run_worker(self._order(tokenizer), group="review", exclusive=True)
        else:
            self._work_in(_PAUSE)

    async def _order(self, tokenizer: Tokenizer) -> None:
        from bpe_core.vocabulary.token_order import in_order

        await in_thread(in_order, tokenizer.vocabulary)
        self._work_in(_PAUSE)
