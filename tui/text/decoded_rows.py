"""Decoded ids as rows of text, each token on its color; what is no text is told as such. Pure."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells

from bpe_core.explain.decoding import DecodedSpan
from bpe_core.visible import token_label, visible
from tui.text.views import Part, ViewRow

Placed = tuple[Part, int]
"""A part, and the cells it takes."""

_AT_A_TIME: Final = 300
"""Spans that are laid out between two moments for keys and drawing."""


def lay_out(
    spans: Sequence[DecodedSpan],
    colors: Sequence[int],
    bytes_of: Callable[[int], bytes],
    width: int,
    rows: list[ViewRow],
) -> Generator[None, None, None]:
    r"""Append the rows of `spans`, with a color for each, to `rows`, in `width` cells; pauses now and then.

    Newlines end a row. Bytes that are no text are written as `\xNN` and brought out, ids that there are not as `?id?`;
    where several ids make up one character, their number follows it.
    """
    row: ViewRow = []
    used = 0
    for start in range(0, len(spans), _AT_A_TIME):
        end = start + _AT_A_TIME
        for span, color in zip(spans[start:end], colors[start:end], strict=True):
            for number, line in enumerate(_lines(span, bytes_of)):
                if number:
                    rows.append(row)
                    row, used = [], 0
                for part, size in _parts(span, line, color, width):
                    if row and used + size > width:
                        rows.append(row)
                        row, used = [], 0
                    row.append(part)
                    used += size
        yield
    if row:
        rows.append(row)


def _lines(span: DecodedSpan, bytes_of: Callable[[int], bytes]) -> Sequence[str]:
    """What a span shows, in lines; a newline is seen at the end of its line."""
    if span.kind == "text" and "\n" not in span.text:
        return (span.text,)
    if span.kind == "unknown":
        return [f"?{span.ids[0]}?"]
    if span.kind == "invalid":
        return [token_label(b"".join(map(bytes_of, span.ids)))]
    return span.text.replace("\n", "↵\n").split("\n")


def _parts(span: DecodedSpan, line: str, color: int, width: int) -> list[Placed]:
    if span.kind == "unknown":
        return [(Part(line), len(line))]
    label, size = _label(line)
    is_invalid = span.kind == "invalid"
    if size <= width:
        parts = [(Part(label, color, is_invalid), size)] if label else []
    else:
        parts = [(Part(piece, color, is_invalid), cell_len(piece)) for piece in chop_cells(label, width)]
    if len(span.ids) > 1:
        number = f"×{len(span.ids)}"
        parts.append((Part(number), len(number)))
    return parts


@lru_cache(maxsize=1 << 14)
def _label(line: str) -> tuple[str, int]:
    """A line of a token as it is drawn, and its cells."""
    label = visible(line.replace("\t", "⇥"))
    if label and not cell_len(label[0]):  # an accent gets something to stand on
        label = f"◌{label}"
    return label, cell_len(label)
