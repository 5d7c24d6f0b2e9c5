"""Review: what is known of a text beside its tokens, worked out in slices while nobody waits for it.

That is: which tokens at its end are not final, what would swallow them, and what in it trips tokenizers.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Final

from bpe_core.explain.pitfall_detectors import KINDS, Pitfall
from bpe_core.explain.pitfalls import Pitfalls
from bpe_core.explain.unstable import TAIL_LENGTH, Completion, Unstable, unstable
from bpe_core.live.live_text import LiveText

_LISTED: Final = 500
"""Completions that are kept; the others are only counted."""
_AT_A_TIME: Final = 32
"""Completions between two looks at the clock."""
_LONG_PAUSE: Final = 1 << 15
"""Completions after which the rest is not even counted."""


class Review:
    """The review of one text; tell it of every edit, and let it settle when there is time."""

    def __init__(self, live: LiveText) -> None:
        self.live = live
        """The text."""
        self._pitfalls = Pitfalls(live)
        self.open_from: int | None = None
        """Code point from which the tokens are not final, as far as known; None: nobody knows."""
        self._others: tuple[Pitfall, ...] = ()
        """The pitfalls of the text as a whole and those at its end."""
        self._tail: tuple[str, tuple[tuple[int, ...], ...]] | None = None
        """The end of the text when it was looked at, and its tokens."""
        self.knows_pitfalls = False
        """Whether all pitfalls are known; completions may still be counted then, of which there can be thousands."""
        self._settled = False
        self._begin()

    def _begin(self) -> None:
        self.end: Unstable | None = None
        self.completions: list[Completion] = []
        """What would swallow the end of the text; the first few hundred."""
        self.n_completions = 0
        """How many there are, as far as counted."""
        self.counted = False
        """Whether they are all counted."""
        self._waiting: Iterator[Completion] | None = None
        self._from_end = 0

    @property
    def settled(self) -> bool:
        """Whether all is known."""
        return self._settled

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Take note of an edit: `n_inserted` code points took the place of a range."""
        self._pitfalls.splice(start, end, n_inserted)
        if self.open_from is not None and start < self.open_from:
            self.open_from = start if end > self.open_from else self.open_from + n_inserted - (end - start)
        self.knows_pitfalls = self._settled = False

    def use(self) -> None:
        """Begin anew: the same text has other tokens."""
        self._pitfalls.reset(self.live)
        self.open_from = None
        self._tail = None
        self.knows_pitfalls = self._settled = False

    def settle(self, seconds: float) -> bool:
        """Work for so many seconds, or a little longer; whether all is known now. Repeated calls come to an end."""
        deadline = perf_counter() + seconds
        if self._settled:
            return True
        if not self.knows_pitfalls:
            self._look_at_the_end()
            if self._pitfalls.search(max(0.0, deadline - perf_counter())):
                self._others = (*self._pitfalls.of_the_whole(), *self._pitfalls.at_end(self.end))
                self.knows_pitfalls = True
        while not self.counted:
            self._count()
            if perf_counter() >= deadline:
                break
        self._settled = self.knows_pitfalls and self.counted
        return self._settled

    def _look_at_the_end(self) -> None:
        """Ask what of it is not final, unless it is as it was, in a text that may have grown elsewhere."""
        n = self.live.n_characters
        near = max(0, n - 2 * TAIL_LENGTH)
        tail = self.live.between(near, n), tuple(span.ids for span in self.live.spans(near, n))
        if tail != self._tail:
            self._tail = tail
            self._begin()
            self.end = unstable(self.live)
            self._waiting = self.end.completions() if self.end else iter(())
            self._from_end = n - self.end.start if self.end else 0
        elif self.end is not None:
            self.end = replace(self.end, start=n - self._from_end)
        self.open_from = self.end.start if self.end else None

    def _count(self) -> None:
        assert self._waiting is not None
        for _ in range(_AT_A_TIME):
            completion = next(self._waiting, None)
            if completion is None or self.n_completions >= _LONG_PAUSE:
                self.counted = True
                return
            self.n_completions += 1
            if len(self.completions) < _LISTED:
                self.completions.append(completion)

    @property
    def is_lower_bound(self) -> bool:
        """Whether there are more completions than were counted."""
        return not self.counted or self.n_completions >= _LONG_PAUSE

    # Pitfalls: until it knows them all, those around the last edit are missing

    @property
    def n_pitfalls(self) -> int:
        return len(self._pitfalls) + len(self._others)

    @property
    def worst(self) -> Pitfall | None:
        first = self._pitfalls.worst()
        known = (*self._others, first) if first else self._others
        return min(known, key=lambda pitfall: KINDS.index(pitfall.kind), default=None)

    def next_pitfall(self, offset: int, by: int) -> Pitfall | None:
        """The pitfall after a code point (`by` 1) or before it (-1); from the last on to the first, and back."""
        return self._beside(offset, by) or self._beside(-1 if by > 0 else self.live.n_characters + 1, by)

    def _beside(self, offset: int, by: int) -> Pitfall | None:
        if by > 0:
            known = (self._pitfalls.after(offset), *(other for other in self._others if other.start > offset))
            return min(filter(None, known), key=lambda pitfall: pitfall.start, default=None)
        known = (self._pitfalls.before(offset), *(other for other in self._others if other.start < offset))
        return max(filter(None, known), key=lambda pitfall: pitfall.start, default=None)

    def number(self, pitfall: Pitfall) -> int:
        """The number of a pitfall, from 1, in the order of the text."""
        return 1 + self._pitfalls.n_before(pitfall.start) + sum(other.start < pitfall.start for other in self._others)
