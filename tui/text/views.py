"""Other views of a text than the text itself: its tokens between borders, their ids, or one token a line. Pure."""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.cells import cell_len, chop_cells

from bpe_core.explain.decoding import DecodedSpan
from bpe_core.live.live_text import LiveText
from bpe_core.pictures import choose_colors
from bpe_core.visible import token_label, visible
from bpe_core.vocabulary import Vocabulary

VIEWS: Final = ("text", "borders", "ids", "list")  # what the key turns through; "text" is the editor itself
TITLES: Final = {"borders": "token borders", "ids": "ids", "list": "one token a line"}
AROUND: Final = 8_000  # characters before and behind the cursor that are shown
BORDER: Final = "│"
_MOST_BYTES: Final = 16  # bytes of a token that a line shows
_WIDEST: Final = 14  # cells that labels are filled up to, so that their bytes stand in a column


class ViewToken(NamedTuple):
    """A token as a view shows it."""

    id: int
    bytes: bytes
    color: int
    is_current: bool  # whether it is under the cursor


class Part(NamedTuple):
    text: str
    color: int = -1  # the color of its token; -1 for what is not a token
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


Placed = tuple[Part, int]  # a part, and the cells it takes

_AT_A_TIME: Final = 300  # spans that are laid out between two moments for keys and drawing


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
