"""Other views of a text than the text itself: its tokens between borders, their ids, or one token a line. Pure."""

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

VIEWS: Final = (
    "text",
    "borders",
    "ids",
    "list",
)  # what the key turns through; "text" is the editor itself
AROUND: Final = 8_000  # characters before and behind the cursor that are shown
_MOST_BYTES: Final = 16  # bytes of a token that a line shows
_WIDEST: Final = (
    14  # cells that labels are filled up to, so that their bytes stand in a column
)
_AT_A_TIME: Final = (
    300  # spans that are laid out between two moments for keys and drawing
)


class ViewToken(NamedTuple):
    id: int
    bytes: bytes
    color: int
    is_current: bool  # whether it is under the cursor


class DrawnPart(NamedTuple):
    text: str
    color: int = -1  # the color of its token; -1 for what is not a token
    is_current: bool = False


ViewRow = list[DrawnPart]


class _Flow:
    """Fills rows with what comes, one after the other; a row ends where there is no room."""

    def __init__(self, width: int) -> None:
        self.rows: list[ViewRow] = []
        self._width = width
        self.room = 0  # cells that are left in the last row; set to 0, that row ends

    def put(self, size: int, *parts: DrawnPart) -> None:
        if size > self.room:
            self.rows.append([])
            self.room = self._width
        self.rows[-1] += parts
        self.room -= size


def tokens_around(live: LiveText, offset: int, n_colors: int) -> list[ViewToken]:
    """The tokens around a code point; all of them where the text is not long."""
    spans = live.spans(max(0, offset - AROUND), min(live.n_characters, offset + AROUND))
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
    """One token a line: id, the step that made it, text, bytes."""
    knows = vocabulary.knows_merges
    specials = set(vocabulary.special_tokens.values())
    steps = [
        vocabulary.step_of(token.id) if knows and token.id not in specials else 0
        for token in tokens
    ]
    id_width = max(map(len, (f"{token.id:,}" for token in tokens)), default=1)
    step_width = max(map(len, map("{:,}".format, steps)), default=1) + len("step ")
    labels = [token_label(token.bytes) for token in tokens]
    label_width = min(_WIDEST, max(map(cell_len, labels), default=1))
    for token, step, label in zip(tokens, steps, labels, strict=True):
        made = f"step {step:,}" if step else ""
        more = " …" if len(token.bytes) > _MOST_BYTES else ""
        yield [
            DrawnPart(f"{token.id:>{id_width},}  {made:>{step_width}}  "),
            DrawnPart(label, token.color, token.is_current),
            DrawnPart(
                " " * (label_width - cell_len(label))
                + "  "
                + token.bytes[:_MOST_BYTES].hex(" ")
                + more
            ),
        ]


def lay_out(
    spans: Sequence[DecodedSpan],
    colors: Sequence[int],
    bytes_of: Callable[[int], bytes],
    width: int,
) -> Steps[list[ViewRow]]:
    r"""The rows of `spans`, with a color for each, in `width` cells.

    Newlines end a row. Bytes that are no text are written as `\xNN` and brought out, ids that there are not as `?id?`;
    where several ids make up one character, their number follows it.
    """
    flow = _Flow(width)
    for number, (span, color) in enumerate(zip(spans, colors, strict=True), 1):
        if span.kind == "unknown":
            flow.put(len(text := f"?{span.ids[0]}?"), DrawnPart(text))
        else:
            is_invalid = span.kind == "invalid"
            text = (
                token_label(b"".join(map(bytes_of, span.ids)))
                if is_invalid
                else span.text.replace("\n", "↵\n")
            )
            for line_number, line in enumerate(text.split("\n")):
                if line_number:
                    flow.room = 0
                for piece in _pieces(line, width):
                    flow.put(cell_len(piece), DrawnPart(piece, color, is_invalid))
                if len(span.ids) > 1:
                    flow.put(len(times := f"×{len(span.ids)}"), DrawnPart(times))
        if not number % _AT_A_TIME:
            yield
    return flow.rows


@lru_cache(maxsize=1 << 14)
def _pieces(line: str, width: int) -> list[str]:
    """A line of a token as it is drawn, in as many pieces as rows of so many cells need."""
    label = visible(line.replace("\t", "⇥"))
    if label and not cell_len(label[0]):  # an accent gets something to stand on
        label = f"◌{label}"
    return chop_cells(label, width) if label else []
