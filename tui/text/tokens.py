"""The tokens on the rows of a text, and which of them an edit does not change."""

from typing import Final

from bpe_core.live.change import Span, torn
from bpe_core.live.live_text import Change, LiveText
from bpe_core.pictures import choose_colors
from bpe_core.utf8 import utf8
from tui.text.document import LONG_LINE
from tui.text.strips import Columns, OnRow, RowToken, clip

Rows = dict[tuple[int, int, int], OnRow]
"""The tokens of rows, by the start of the row, its length and the number of colors."""

_CONTEXT: Final = 64
"""Characters before a row that are colored too, so that colors do not depend on where a row begins."""


def find_tokens(live: LiveText, start: int, length: int, n_colors: int) -> OnRow:
    """Find the tokens of a row, choose their colors, and find the characters that several tokens share."""
    context = max(start - _CONTEXT, 0) if n_colors > 2 else _anchor(live, start)
    spans = live.spans(context, start + length)
    bytes_of = live.tokenizer.token_bytes
    tokens: list[RowToken] = []
    shared: list[Columns] = []
    for span, color in zip(spans, choose_colors(spans, n_colors), strict=True):
        columns = clip((span.start, span.end), start, length)
        if columns is None:
            continue
        n_before = max(start - span.start, 0)
        n_after = max(span.end - start - length, 0)
        n_bytes: tuple[int, ...] = ()
        if len(span.ids) > 1:
            n_bytes = tuple(len(bytes_of(token)) for token in span.ids)
            clipped = (
                clip(character, start, length) for character in _torn(live, span)
            )
            shared += [columns for columns in clipped if columns]
        first, last = columns
        tokens.append(RowToken(first, last, color, (n_before, n_after), n_bytes))
    return tuple(tokens), tuple(shared)


def rows_after(
    rows: Rows, change: Change, start: int, end: int, n_inserted: int
) -> Rows:
    """Keep the rows that an edit did not change.

    Args:
        rows: The rows before the edit.
        change: The tokens that the edit changed.
        start: The first code point that was replaced.
        end: The code point after the last one that was replaced.
        n_inserted: The number of code points in their place.
    """
    shift = n_inserted - (end - start)
    first = min(start, change.start)
    last = max(end, change.stop - shift)
    kept: Rows = {}
    for (at, length, n_colors), on_row in rows.items():
        if at + length < first:
            kept[at, length, n_colors] = on_row
        elif at - _CONTEXT > last and n_colors > 2:
            kept[at + shift, length, n_colors] = on_row
    return kept


def _anchor(live: LiveText, start: int) -> int:
    """Find where to start alternating between two styles: at the start of a line that also starts a token.

    In a very long line it is the first token within reach.
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
    """Find the characters of a span that begin in one of its tokens and end in another."""
    if span.end - span.start == 1:
        return [(span.start, span.end)]
    text = live.between(span.start, span.end)
    data = b"".join(map(live.tokenizer.token_bytes, span.ids))
    if data != utf8(text):
        # The tokenizer changed the text before encoding it: bytes and characters do not correspond.
        return [(span.start, span.end)]
    return [
        (place, place + 1) for place in torn(span, text, live.tokenizer.token_bytes)
    ]


def moved(
    stretches: tuple[Columns, ...], start: int, end: int, inserted: int
) -> tuple[Columns, ...]:
    """Move stretches of the text, after `inserted` code points replaced the range from `start` to `end`."""

    def place(old: int) -> int:
        return old if old <= start else max(old, end) + inserted - (end - start)

    return tuple((place(first), place(last)) for first, last in stretches)
