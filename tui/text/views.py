"""Other views of a text than the text itself: its tokens between borders, their ids, or one token a line. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len

from bpe_core.live.live_text import LiveText
from bpe_core.pictures.colors import choose_colors
from bpe_core.visible import token_label
from bpe_core.vocabulary import Vocabulary

VIEWS: Final = ("text", "borders", "ids", "list")
"""What the key turns through; "text" is the editor itself."""
TITLES: Final = {"borders": "token borders", "ids": "ids", "list": "one token a line"}
AROUND: Final = 8_000
"""Characters before and behind the cursor that are shown."""
BORDER: Final = "│"
_MOST_BYTES: Final = 16
"""Bytes of a token that a line shows."""
_WIDEST: Final = 14
"""Cells that labels are filled up to, so that their bytes stand in a column."""


class ViewToken(NamedTuple):
    """A token as a view shows it."""

    id: int
    bytes: bytes
    color: int
    is_current: bool
    """Whether it is under the cursor."""


class Part(NamedTuple):
    """A stretch of a row."""

    text: str
    color: int = -1
    """The color of its token; -1 for what is not a token."""
    is_current: bool = False


ViewRow = list[Part]


def tokens_around(live: LiveText, offset: int, n_colors: int) -> list[ViewToken]:
    """The tokens around a code point; all of them where the text is not long."""
    spans = live.spans(max(0, offset - AROUND), min(live.n_characters, offset + AROUND))
    at = min(offset, live.n_characters - 1)
    shown: list[ViewToken] = []
    for span, color in zip(spans, choose_colors(spans, n_colors), strict=True):
        current = span.start <= at < span.end
        shown += [ViewToken(token, live.tokenizer.token_bytes(token), color, current) for token in span.ids]
    return shown


def view_rows(kind: str, tokens: Sequence[ViewToken], vocabulary: Vocabulary, width: int) -> list[ViewRow]:
    """The rows of a view, in `width` cells."""
    if kind == "list":
        return list(_listed(tokens, vocabulary))
    return list(_flowing(tokens, width, by_id=kind == "ids"))


def _flowing(tokens: Sequence[ViewToken], width: int, *, by_id: bool) -> Iterator[ViewRow]:
    """Tokens one after the other; a row ends where there is no room, and behind a newline."""
    row: ViewRow = []
    used = 0
    for token in tokens:
        text = str(token.id) if by_id else token_label(token.bytes)
        between = Part(" " if by_id else BORDER)
        size = cell_len(text) + 1
        if row and used + size > width:
            yield row
            row, used = [], 0
        row += [Part(text, token.color, token.is_current), between]
        used += size
        if token.bytes.endswith(b"\n"):
            yield row
            row, used = [], 0
    if row:
        yield row


def _listed(tokens: Sequence[ViewToken], vocabulary: Vocabulary) -> Iterator[ViewRow]:
    """One token a line: id, the step that made it, text, bytes."""
    knows = vocabulary.knows_merges
    specials = set(vocabulary.special_tokens.values())
    steps = [vocabulary.step_of(token.id) if knows and token.id not in specials else 0 for token in tokens]
    id_width = max(map(len, (f"{token.id:,}" for token in tokens)), default=1)
    step_width = max(map(len, map("{:,}".format, steps)), default=1) + len("step ")
    labels = [token_label(token.bytes) for token in tokens]
    label_width = min(_WIDEST, max(map(cell_len, labels), default=1))
    for token, step, label in zip(tokens, steps, labels, strict=True):
        made = f"step {step:,}" if step else ""
        more = " …" if len(token.bytes) > _MOST_BYTES else ""
        yield [
            Part(f"{token.id:>{id_width},}  {made:>{step_width}}  "),
            Part(label, token.color, token.is_current),
            Part(" " * (label_width - cell_len(label)) + "  " + token.bytes[:_MOST_BYTES].hex(" ") + more),
        ]
