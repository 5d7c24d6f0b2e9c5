"""The review of a text: tokens that are not final, their completions, and pitfalls."""

from collections.abc import Iterator
from itertools import chain, islice
from time import perf_counter
from typing import Final

from bpe_core.explain.pitfalls import KINDS, Pitfall, Pitfalls
from bpe_core.explain.unstable import TAIL_LENGTH, Completion, Unstable, unstable
from bpe_core.live.live_text import LiveText

_LISTED: Final = 500
"""Completions that are kept; more are only counted."""
_AT_A_TIME: Final = 32
"""Completions found between two checks of the time."""
_MOST_COUNTED: Final = 1 << 15
"""Completions that are counted, at most."""


class Review:
    """A search for the tokens at the end of a text that are not final, for their completions, and for pitfalls.

    The review works in slices when the app is idle. It must be notified of every edit.
    """

    def __init__(self, live: LiveText) -> None:
        self.live = live
        self._others: tuple[Pitfall, ...] = ()
        """The pitfalls of the whole text and of its end."""
        self.restart()

    def restart(self) -> None:
        """Start again, because the same text has other tokens."""
        self._pitfalls = Pitfalls(self.live)
        self.open_from: int | None = None
        """The code point from which tokens are not final; None if unknown."""
        self._tail: tuple[str, tuple[tuple[int, ...], ...]] | None = None
        """The last examined end of the text: characters and tokens."""
        self.knows_pitfalls = False
        """Whether all pitfalls are known, even if thousands of completions are still to be counted."""
        self.settled = False
        """Whether everything is known."""
        self._complete(None)

    def _complete(self, end: Unstable | None) -> None:
        """Start counting the completions of the end of the text."""
        self.end = end
        self.completions: list[Completion] = []
        """The first few hundred tokens that the end of the text can become part of."""
        self.n_completions = 0
        """How many of them were counted so far."""
        self._waiting: Iterator[Completion] | None = None
        if end:
            self._waiting = end.completions()

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Handle an edit: the range from `start` to `end` was replaced by `n_inserted` code points."""
        self._pitfalls.splice(start, end, n_inserted)
        if self.open_from is not None and start < self.open_from:
            if end > self.open_from:
                self.open_from = start
            else:
                self.open_from += n_inserted - (end - start)
        self.knows_pitfalls = False
        self.settled = False

    def settle(self, seconds: float) -> bool:
        """Work for `seconds` or a little longer, and return whether everything is known now."""
        deadline = perf_counter() + seconds
        if not self.knows_pitfalls:
            self._look_at_the_end()
            if self._pitfalls.search(max(0.0, deadline - perf_counter())):
                self._others = (
                    *self._pitfalls.of_the_whole(),
                    *self._pitfalls.at_end(self.end),
                )
                self.knows_pitfalls = True
        while self._waiting is not None:
            n_wanted = min(_AT_A_TIME, _MOST_COUNTED - self.n_completions)
            batch = list(islice(self._waiting, n_wanted))
            self.n_completions += len(batch)
            self.completions += batch[: _LISTED - len(self.completions)]
            if len(batch) < _AT_A_TIME:
                self._waiting = None
            if perf_counter() >= deadline:
                break
        self.settled = self.knows_pitfalls and self._waiting is None
        return self.settled

    def _look_at_the_end(self) -> None:
        """Find the tokens at the end that are not final; if the end is unchanged, only move them."""
        n = self.live.n_characters
        near = max(0, n - 2 * TAIL_LENGTH)
        tail = (
            self.live.between(near, n),
            tuple(span.ids for span in self.live.spans(near, n)),
        )
        if tail != self._tail:
            self._tail = tail
            self._complete(unstable(self.live))
            self._from_end = n - self.end.start if self.end else 0
        elif self.end is not None:
            self.end.start = n - self._from_end
        self.open_from = self.end.start if self.end else None

    @property
    def is_lower_bound(self) -> bool:
        """Whether `n_completions` can be too small."""
        return self._waiting is not None or self.n_completions >= _MOST_COUNTED

    # Until `knows_pitfalls`, pitfalls around the last edit are missing.

    @property
    def n_pitfalls(self) -> int:
        return len(list(self._pitfalls)) + len(self._others)

    @property
    def worst(self) -> Pitfall | None:
        known = chain(self._others, self._pitfalls)
        return min(known, key=lambda pitfall: KINDS.index(pitfall.kind), default=None)

    def next_pitfall(self, offset: int, by: int) -> Pitfall | None:
        """Find the pitfall after a code point (`by` 1) or before it (-1); wrap around at the ends."""
        before_all = -1
        if by < 0:
            before_all = self.live.n_characters + 1
        for place in (offset, before_all):  # the second time from the other end
            ahead = [
                pitfall
                for pitfall in chain(self._pitfalls, self._others)
                if (pitfall.start - place) * by > 0
            ]
            if ahead:
                return min(ahead, key=lambda pitfall: pitfall.start * by)
        return None

    def number(self, pitfall: Pitfall) -> int:
        """The number of a pitfall, from 1, in the order of the text."""
        return 1 + sum(
            other.start < pitfall.start for other in chain(self._pitfalls, self._others)
        )
