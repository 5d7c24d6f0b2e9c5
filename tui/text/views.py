"""Views of a text: its tokens with borders between them, their ids, or one token per line."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len, chop_cells

from bpe_core.explain.decoding import DecodedSpan
from bpe_core.live.live_text import LiveText
from bpe_core.pictures import choose_colors
from bpe_core.visible import token_label, visible
from bpe_core.vocabulary import Vocabulary
from tui.terminal.background import Steps

VIEWS: Final = ("text", "borders", "ids", "list")
"""The views, in the order in which a key switches them; "text" is the editor itself."""
AROUND: Final = 8_000
"""Characters shown before the cursor, and after it."""
_MOST_BYTES: Final = 16
"""Bytes of a token that are listed."""
_WIDEST: Final = 14
"""Cells of the column of labels, at most."""
_AT_A_TIME: Final = 300
"""Spans that are laid out before the app handles keys again."""


class ViewToken(NamedTuple):
    id: int
    bytes: bytes
    color: int
    is_current: bool
    """Whether it is under the cursor."""


class DrawnPart(NamedTuple):
    text: str
    color: int = -1
    """The color of its token; -1 if it does not belong to a token."""
    is_current: bool = False


ViewRow = list[DrawnPart]


class _Flow:
    """Fills rows with parts, and starts a new row if a part does not fit."""

    def __init__(self, width: int) -> None:
        self.rows: list[ViewRow] = []
        self._width = width
        self.room = 0
        """Cells left in the last row; set it to 0 to end the row."""

    def put(self, size: int, *parts: DrawnPart) -> None:
        if size > self.room:
            self.rows.append([])
            self.room = self._width
        self.rows[-1] += parts
        self.room -= size


def tokens_around(
    live: LiveText, offset: int, n_colors: int, reach: int = AROUND
) -> list[ViewToken]:
    """Return the tokens up to `reach` characters from a code point; all of them unless the text is long."""
    spans = live.spans(max(0, offset - reach), min(live.n_characters, offset + reach))
    at = min(offset, live.n_characters - 1)
    return [
        ViewToken(
            token, live.tokenizer.token_bytes(token), color, span.start <= at < span.end
        )
        for span, color in zip(spans, choose_colors(spans, n_colors), strict=True)
        for token in span.ids
    ]


def view_rows(
    kind: str, tokens: Sequence[ViewToken], vocabulary: Vocabulary, width: int
) -> Steps[list[ViewRow]]:
    """Lay out tokens in the rows of a view: one of `VIEWS` except "text". Pause between slices."""
    if kind == "list":
        return list(_listed(tokens, vocabulary))
    flow = _Flow(width)
    for number, token in enumerate(tokens, 1):
        text = str(token.id) if kind == "ids" else token_label(token.bytes)
        between = DrawnPart(" " if kind == "ids" else "│")
        flow.put(
            cell_len(text) + 1, DrawnPart(text, token.color, token.is_current), between
        )
        if token.bytes.endswith(b"\n"):
            flow.room = 0
        if not number % _AT_A_TIME:
            yield
    return flow.rows


def _listed(tokens: Sequence[ViewToken], vocabulary: Vocabulary) -> Iterator[ViewRow]:
    """List one token per line: id, the step that made it, text, and bytes."""
    knows = vocabulary.knows_merges
    specials = set(vocabulary.special_tokens.values())
    steps = [
        vocabulary.step_of(token.id) if knows and token.id not in specials else 0
        for token in tokens
    ]
    id_width = max((len(f"{token.id:,}") for token in tokens), default=1)
    step_width = max((len(f"{step:,}") for step in steps), default=1) + len("step ")
    labels = [token_label(token.bytes) for token in tokens]
    label_width = min(_WIDEST, max(map(cell_len, labels), default=1))
    for token, step, label in zip(tokens, steps, labels, strict=True):
        made = f"step {step:,}" if step else ""
        more = " …" if len(token.bytes) > _MOST_BYTES else ""
        padding = " " * (label_width - cell_len(label))
        data = token.bytes[:_MOST_BYTES].hex(" ")
        yield [
            DrawnPart(f"{token.id:>{id_width},}  {made:>{step_width}}  "),
            DrawnPart(label, token.color, token.is_current),
            DrawnPart(f"{padding}  {data}{more}"),
        ]


def lay_out(
    spans: Sequence[DecodedSpan],
    colors: Sequence[int],
    bytes_of: Callable[[int], bytes],
    width: int,
) -> Steps[list[ViewRow]]:
    r"""Lay out `spans`, with a color for each, in rows of `width` cells.

    A newline ends a row. Invalid bytes are emphasized and written as `\xNN`, unknown ids as `?id?`.
    If several ids make up one character, their number follows it.
    """
    flow = _Flow(width)
    for number, (span, color) in enumerate(zip(spans, colors, strict=True), 1):
        if span.kind == "unknown":
            text = f"?{span.ids[0]}?"
            flow.put(len(text), DrawnPart(text))
        else:
            is_invalid = span.kind == "invalid"
            text = span.text.replace("\n", "↵\n")
            if is_invalid:
                text = token_label(b"".join(map(bytes_of, span.ids)))
            for line_number, line in enumerate(text.split("\n")):
                if line_number:
                    flow.room = 0
                for piece in _pieces(line, width):
                    flow.put(cell_len(piece), DrawnPart(piece, color, is_invalid))
                if len(span.ids) > 1:
                    times = f"×{len(span.ids)}"
                    flow.put(len(times), DrawnPart(times))
        if not number % _AT_A_TIME:
            yield
    return flow.rows


@lru_cache(maxsize=1 << 14)
def _pieces(line: str, width: int) -> list[str]:
    """Cut a line of a token into pieces that fit into a row."""
    label = visible(line.replace("\t", "⇥"))
    if not label:
        return []
    if cell_len(label[0]) == 0:
        # An accent without a letter is drawn on a dotted circle.
        label = f"◌{label}"
    return chop_cells(label, width)
