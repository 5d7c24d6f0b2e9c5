"""The tokens of a text where a screen asks for them: on one row, and under the cursor."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from bpe_core.live.live_text import Change, LiveText
from bpe_core.live.spans import Span, parts
from bpe_core.pictures.colors import choose_colors
from bpe_core.utf8 import utf8
from tui.text.document import LONG_LINE
from tui.text.strips import Columns, OnRow, RowToken, clip

_Stretch = tuple[int, int, int]
_START, _END = attrgetter("start"), attrgetter("end")
_ROWS: Final = 512
"""Rows whose tokens are remembered."""
_TOGETHER: Final = 1024
"""Characters whose tokens are looked up together, about half a screen."""
_CONTEXT: Final = 64
"""Characters before a row whose tokens are looked at too, so that colors do not depend on where a row begins."""


@dataclass(frozen=True, slots=True)
class UnderCursor:
    """The token under the cursor; at the end of the text, the last one."""

    offset: int
    """Where the cursor stands, in code points."""
    start: int
    """The first code point of the token."""
    end: int
    """The code point after its last."""
    text: str
    """The characters from `start` to `end`."""
    ids: tuple[int, ...]
    """The token; several where only together they make up whole characters."""
    tokens: tuple[bytes, ...]
    """The bytes of each of them."""
    piece: tuple[int, int]
    """Where the piece begins and ends that the pattern split off here; `LiveText.between` gives its text."""


class TokensOfRows:
    """The tokens of the rows drawn lately; an edit forgets only the rows that it touched.

    Where all rows are to be drawn anew, as at another step, the tokens of several are looked up together.
    """

    def __init__(self) -> None:
        self._rows: dict[_Stretch, OnRow] = {}
        self._colored: _Colored | None = None
        self._is_all_new = True

    def on_row(self, live: LiveText, start: int, length: int, n_colors: int) -> OnRow:
        key = (start, length, n_colors)
        found = self._rows.get(key)
        if found is None:
            if len(self._rows) >= _ROWS:
                self._rows.clear()
            if self._is_all_new and n_colors > 2:
                colored = self._colored
                if colored is None or not colored.holds(start, length, n_colors):
                    last = min(start + max(length, _TOGETHER), live.n_characters)
                    colored = self._colored = _Colored(live, start, last, n_colors)
                found = self._rows[key] = colored.on_row(live, start, length)
            else:
                found = self._rows[key] = find_tokens(live, start, length, n_colors)
        return found

    def forget(self) -> None:
        """Forget all rows: any may have other tokens."""
        self._rows.clear()
        self._colored, self._is_all_new = None, True

    def edited(self, change: Change, start: int, end: int, n_inserted: int) -> None:
        """Take note of an edit: `n_inserted` code points came in the place of those from `start` to `end`."""
        self._colored, self._is_all_new = None, False
        shift = n_inserted - (end - start)
        start, end = min(start, change.start), max(end, change.stop - shift)
        self._rows = {
            (at if at + length < start else at + shift, length, n_colors): found
            for (at, length, n_colors), found in self._rows.items()
            if at + length < start or (at - _CONTEXT > end and n_colors > 2)
        }


class _Colored:
    """The tokens of a part of a text with their colors."""

    def __init__(self, live: LiveText, start: int, end: int, n_colors: int) -> None:
        self._start, self._end, self._n_colors = start, end, n_colors
        context = max(start - _CONTEXT, 0) if n_colors > 2 else _anchor(live, start)
        self._spans = live.spans(context, end)
        self._colors = choose_colors(self._spans, n_colors)

    def holds(self, start: int, length: int, n_colors: int) -> bool:
        """Whether a row is in it, in as many colors."""
        return self._start <= start and start + length <= self._end and n_colors == self._n_colors

    def on_row(self, live: LiveText, start: int, length: int) -> OnRow:
        first = bisect_right(self._spans, start, key=_END)
        last = bisect_left(self._spans, start + length, first, key=_START)
        return _on_row(live, zip(self._spans[first:last], self._colors[first:last], strict=True), start, length)


def find_tokens(live: LiveText, start: int, length: int, n_colors: int) -> OnRow:
    """The tokens on a row of `length` code points from `start`, and the characters on it that several tokens share."""
    return _Colored(live, start, start + length, n_colors).on_row(live, start, length)


def _on_row(live: LiveText, colored: Iterable[tuple[Span, int]], start: int, length: int) -> OnRow:
    tokens: list[RowToken] = []
    shared: list[Columns] = []
    for span, color in colored:
        if stretch := clip((span.start, span.end), start, length):
            outside = max(start - span.start, 0), max(span.end - start - length, 0)
            is_shared = len(span.ids) > 1
            inside = tuple(len(live.tokenizer.token_bytes(token)) for token in span.ids) if is_shared else ()
            tokens.append(RowToken(*stretch, color, outside, inside))
            if is_shared:
                shared += [seen for torn in _torn(live, span) if (seen := clip(torn, start, length))]
    return tuple(tokens), tuple(shared)


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
    if b"".join(map(live.tokenizer.token_bytes, span.ids)) != utf8(text):  # it was changed before it was encoded
        return [(span.start, span.end)]
    return [(part.start, part.start + 1) for part in parts(span, text, live.tokenizer.token_bytes) if part.head]


def find_under(live: LiveText, offset: int) -> UnderCursor | None:
    """What stands at a code point; at the end of the text, what stands before it."""
    place = min(offset, live.n_characters - 1)
    span = live.span_at(place) if place >= 0 else None
    piece = live.piece_at(place) if place >= 0 else None
    if span is None or piece is None:
        return None
    tokens = tuple(map(live.tokenizer.token_bytes, span.ids))
    return UnderCursor(offset, span.start, span.end, live.between(span.start, span.end), span.ids, tokens, piece)


def moved(stretches: tuple[Columns, ...], start: int, end: int, inserted: int) -> tuple[Columns, ...]:
    """Where stretches of the text lie after `inserted` code points have replaced those from `start` to `end`."""

    def place(old: int) -> int:
        return old if old <= start else max(old, end) + inserted - (end - start)

    return tuple((place(first), place(last)) for first, last in stretches)
