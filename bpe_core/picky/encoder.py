"""Encoding by Picky BPE: what was done to the corpus is done to a piece, in the same order."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Final

from bpe_core.picky.history import History
from bpe_core.vocabulary.symbols import Symbols

_NOTHING: Final = -1
"""In slots that are inside of a token."""


class PickyEncoder:
    """Encodes by the first `n_steps` of a history. See `bpe_core.vocabulary.encoder.Encoder`."""

    compiled = None

    def __init__(self, history: History, n_steps: int, symbols: Symbols, names: Sequence[int]) -> None:
        """`names` are those of the history after these steps."""
        self.symbols: Final = symbols
        self._history = history
        self._n_events = history.ends[n_steps]
        self._names = names
        self._number_of = {token: number for number, token in enumerate(history.base)}

    def whole(self, piece: bytes) -> None:
        """None: every piece is merged."""

    def join(self, data: bytes) -> tuple[int, ...]:
        """The ids of a piece. O(n log n) for n bytes, as a rule."""
        slots = self._numbers(data)
        for _ in self._replacements(slots):
            pass
        names = self._names
        return tuple(names[number] for number in slots if number != _NOTHING)

    def trace(self, data: bytes) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """(event, how often, names of all tokens of the piece after it) for each event that changes a piece."""
        slots = self._numbers(data)
        event, times = -1, 0
        after: tuple[int, ...] = ()
        for now in self._replacements(slots):
            if now != event and times:
                yield event, times, after
                times = 0
            event, times = now, times + 1
            after = tuple(self._names[number] for number in slots if number != _NOTHING)
        if times:
            yield event, times, after

    def _numbers(self, data: bytes) -> list[int]:
        return [self._number_of[token] for token in self.symbols.ids(data)]

    def _replacements(self, slots: list[int]) -> Iterator[int]:
        """Replace tokens in `slots` until no event is left that does; yields the event after each replacement.

        Every token stands in the slot where it begins. What waits is a heap of (event, place), so that events come in
        their order, and places from left to right. What has changed meanwhile is seen when its turn comes.
        """
        n, n_events = len(slots), self._n_events
        events, events_of, lengths = self._history.events, self._history.events_of, self._history.lengths
        before, behind = list(range(-1, n - 1)), list(range(1, n + 1))
        waiting: list[tuple[int, int]] = []

        def wait(old: tuple[int, ...], place: int, after: int) -> None:
            if known := events_of.get(old):
                i = bisect_right(known, after)
                if i < len(known) and known[i] < n_events:
                    heappush(waiting, (known[i], place))

        for place in range(n - 1):
            wait((slots[place], slots[place + 1]), place, -1)
        while waiting:
            event, place = heappop(waiting)
            old, new = events[event]
            if slots[place] != old[0]:
                continue
            end = behind[place]
            if len(old) == 2:
                if end >= n or slots[end] != old[1]:
                    continue
                slots[end] = _NOTHING
                end = behind[end]
            at, last = place, before[place]
            for number in new:
                slots[at], before[at] = number, last
                if last >= 0:
                    behind[last] = at
                last, at = at, at + lengths[number]
            behind[last] = end
            if end < n:
                before[end] = last
            yield event
            at = place if before[place] < 0 else before[place]
            while at < end:
                if at >= place:
                    wait((slots[at],), at, event)
                if behind[at] < n:
                    wait((slots[at], slots[behind[at]]), at, event)
                at = behind[at]
