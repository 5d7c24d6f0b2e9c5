"""What a screen asks of the tokens of a text: those on a row, the one under the cursor, what is not final, pitfalls."""

from collections.abc import Iterator
from itertools import chain, islice
from time import perf_counter
from typing import Final

from bpe_core.explain.pitfalls import KINDS, Pitfall, Pitfalls
from bpe_core.explain.unstable import TAIL_LENGTH, Completion, Unstable, unstable
from bpe_core.live.change import Span, torn
from bpe_core.live.live_text import Change, LiveText
from bpe_core.pictures import choose_colors
from bpe_core.utf8 import utf8
from tui.text.document import LONG_LINE
from tui.text.strips import Columns, OnRow, RowToken, clip

Rows = dict[
    tuple[int, int, int], OnRow
]  # where a row begins, its length, how many colors -> what is on it

_CONTEXT: Final = 64  # characters before a row that are looked at, so that colors do not depend on where it begins


def find_tokens(live: LiveText, start: int, length: int, n_colors: int) -> OnRow:
    """The tokens of a row with their colors, and where several share characters."""
    context = max(start - _CONTEXT, 0) if n_colors > 2 else _anchor(live, start)
    spans = live.spans(context, start + length)
    bytes_of = live.tokenizer.token_bytes
    tokens: list[RowToken] = []
    shared: list[Columns] = []
    for span, color in zip(spans, choose_colors(spans, n_colors), strict=True):
        if stretch := clip((span.start, span.end), start, length):
            outside = max(start - span.start, 0), max(span.end - start - length, 0)
            inside = (
                tuple(len(bytes_of(token)) for token in span.ids)
                if len(span.ids) > 1
                else ()
            )
            tokens.append(RowToken(*stretch, color, outside, inside))
            if inside:
                shared += [
                    seen
                    for torn in _torn(live, span)
                    if (seen := clip(torn, start, length))
                ]
    return tuple(tokens), tuple(shared)


def rows_after(
    rows: Rows, change: Change, start: int, end: int, n_inserted: int
) -> Rows:
    """Those of the rows that an edit left as they were: `n_inserted` code points took the place of a range."""
    shift = n_inserted - (end - start)
    start, end = min(start, change.start), max(end, change.stop - shift)
    return {
        (at if at + length < start else at + shift, length, n_colors): found
        for (at, length, n_colors), found in rows.items()
        if at + length < start or (at - _CONTEXT > end and n_colors > 2)
    }


def _anchor(live: LiveText, start: int) -> int:
    """Where to begin if tokens are kept apart by two styles that take turns: at the beginning of a line.

    Not of one that begins inside of a token, for there the turns go on. In a very long line any place must do.
    """
    least = max(0, start - LONG_LINE)
    while start > least:
        begin = least + live.between(least, start).rfind("\n") + 1
        span = live.span_at(begin)
        if span is None or span.start >= begin:
            return begin
        start = span.start
    return start


def _torn(live: LiveText, span: Span) -> list[Columns]:
    """The characters of a span that begin in one of its tokens and end in another."""
    if span.end - span.start == 1:
        return [(span.start, span.end)]
    text = live.between(span.start, span.end)
    if b"".join(map(live.tokenizer.token_bytes, span.ids)) != utf8(
        text
    ):  # it was changed before it was encoded
        return [(span.start, span.end)]
    return [
        (place, place + 1) for place in torn(span, text, live.tokenizer.token_bytes)
    ]


def moved(
    stretches: tuple[Columns, ...], start: int, end: int, inserted: int
) -> tuple[Columns, ...]:
    """Where stretches of the text lie after `inserted` code points have replaced those from `start` to `end`."""

    def place(old: int) -> int:
        return old if old <= start else max(old, end) + inserted - (end - start)

    return tuple((place(first), place(last)) for first, last in stretches)


_LISTED: Final = 500  # completions that are kept; the others are only counted
_AT_A_TIME: Final = 32  # completions between two looks at the clock
_LONG_PAUSE: Final = 1 << 15  # completions after which the rest is not even counted


class Review:
    """What is known of a text beside its tokens, worked out in slices while nobody waits for it.

    That is: which tokens at its end are not final, what would swallow them, and what in it trips tokenizers. It must
    hear of every edit.
    """

    def __init__(self, live: LiveText) -> None:
        self.live = live
        self._others: tuple[
            Pitfall, ...
        ] = ()  # the pitfalls of the text as a whole and those at its end
        self.use()

    def use(self) -> None:
        """Begin anew: the same text has other tokens."""
        self._pitfalls = Pitfalls(self.live)
        self.open_from: int | None = (
            None  # code point from which tokens are not final; None: nobody knows
        )
        self._tail: tuple[str, tuple[tuple[int, ...], ...]] | None = (
            None  # the end that was looked at
        )
        self.knows_pitfalls = False  # completions, of which there can be thousands, may still be counted then
        self.settled = False  # whether all is known
        self._complete(None)

    def _complete(self, end: Unstable | None) -> None:
        self.end = end
        self.completions: list[
            Completion
        ] = []  # what would swallow the end of the text; the first few hundred
        self.n_completions = 0  # how many there are, as far as counted
        self._waiting: Iterator[Completion] | None = end.completions() if end else None

    def spliced(self, start: int, end: int, n_inserted: int) -> None:
        """Take note of an edit: `n_inserted` code points took the place of a range."""
        self._pitfalls.splice(start, end, n_inserted)
        if self.open_from is not None and start < self.open_from:
            self.open_from = (
                start
                if end > self.open_from
                else self.open_from + n_inserted - (end - start)
            )
        self.knows_pitfalls = self.settled = False

    def settle(self, seconds: float) -> bool:
        """Work for so many seconds, or a little longer; whether all is known now. Repeated calls come to an end."""
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
            some = [
                *islice(
                    self._waiting, min(_AT_A_TIME, _LONG_PAUSE - self.n_completions)
                )
            ]
            self.n_completions += len(some)
            self.completions += some[: _LISTED - len(self.completions)]
            if len(some) < _AT_A_TIME:
                self._waiting = None
            if perf_counter() >= deadline:
                break
        self.settled = self.knows_pitfalls and self._waiting is None
        return self.settled

    def _look_at_the_end(self) -> None:
        """Ask what of it is not final, unless it is as it was, in a text that may have grown elsewhere."""
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
        """Whether there are more completions than were counted."""
        return self._waiting is not None or self.n_completions >= _LONG_PAUSE

    # Pitfalls: until it knows them all, those around the last edit are missing

    @property
    def n_pitfalls(self) -> int:
        return len([*self._pitfalls, *self._others])

    @property
    def worst(self) -> Pitfall | None:
        known = chain(self._others, self._pitfalls)
        return min(known, key=lambda pitfall: KINDS.index(pitfall.kind), default=None)

    def next_pitfall(self, offset: int, by: int) -> Pitfall | None:
        """The pitfall after a code point (`by` 1) or before it (-1); from the last on to the first, and back."""
        for place in (offset, -1 if by > 0 else self.live.n_characters + 1):
            known = [
                one
                for one in chain(self._pitfalls, self._others)
                if (one.start - place) * by > 0
            ]
            if known:
                return min(known, key=lambda pitfall: pitfall.start * by)
        return None

    def number(self, pitfall: Pitfall) -> int:
        """The number of a pitfall, from 1, in the order of the text."""
        return 1 + sum(
            other.start < pitfall.start for other in chain(self._pitfalls, self._others)
        )
