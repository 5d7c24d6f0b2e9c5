"""Drawings of tokens: the bytes of a token with their characters, and a row of tokens above their ids."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.utf8 import character_length, is_utf8
from bpe_core.visible import token_label
from tui.drawing.lines import InfoLine, cut, in_rows

_WIDEST: Final = 14
"""Cells of a label in a row of tokens, at most."""
_INCOMPLETE: Final = "…"
"""Label of a character of which a token has only some bytes."""


class TokenColumn(NamedTuple):
    """A token in a row of tokens."""

    id: int
    data: bytes
    style: Style
    is_current: bool = False


class _Character(NamedTuple):
    """A character of the strip: its bytes in hexadecimal, each with its style."""

    label: str
    hexadecimal: Sequence[tuple[str, Style]]

    @property
    def width(self) -> int:
        return 3 * len(self.hexadecimal) - 1


def byte_strip(
    tokens: Sequence[bytes], styles: Sequence[Style], width: int, most: int
) -> Iterator[InfoLine]:
    """Draw the bytes of tokens, and below them the characters, in at most `most` rows of two lines.

    Several tokens may share characters; they take turns with the styles. A bracket holds the bytes of a character:

        68 c3 a9
        h  ╰─é─╯
    """
    # Skip the bytes that would not fit.
    room = (width + 1) // 3 * (most + 1)
    data = b"".join(tokens)[:room]
    styles_of_bytes: list[Style] = []
    for token, style in zip(tokens, cycle(styles), strict=False):
        styles_of_bytes += [style] * len(token)
    characters = []
    start = 0
    for character in _characters(data):
        label = token_label(character) if is_utf8(character) else _INCOMPLETE
        hexadecimal = [f"{byte:02x}" for byte in character]
        end = start + len(character)
        styled = list(zip(hexadecimal, styles_of_bytes[start:end], strict=True))
        characters.append(_Character(label, styled))
        start = end

    sizes = [character.width + 1 for character in characters]
    rows = list(in_rows(characters, sizes, width + 1))
    for number, row in enumerate(rows[:most], 1):
        above = Text(" ").join(_bytes_of(character) for character in row)
        below = Text(" ").join(_below(character) for character in row)
        if number == most and len(rows) > most:
            above.append(" …")
        yield InfoLine(above)
        yield InfoLine(below, ink="muted")


def _characters(data: bytes) -> Iterator[bytes]:
    """Divide bytes into characters. Bytes that are only a part of one stay together."""
    start = 0
    while start < len(data):
        end = start + 1
        if data[start] >= 0x80:
            end = start + character_length(data[start])
        if not is_utf8(data[start:end]):
            end = start + 1
            # Continuation bytes of a character.
            while end < len(data) and 0x80 <= data[end] < 0xC0:
                end += 1
        yield data[start:end]
        start = end


def _bytes_of(character: _Character) -> Text:
    text = Text()
    for number, (byte, style) in enumerate(character.hexadecimal):
        if number:
            _, style_before = character.hexadecimal[number - 1]
            text.append(" ", style if style is style_before else "")
        text.append(byte, style)
    return text


def _below(character: _Character) -> Text:
    """The label of a character, as wide as its bytes: below one byte, or in a bracket below several."""
    label = character.label
    if cell_len(label) == 0:
        # An accent without a letter is drawn on a dotted circle.
        label = f"◌{label}"
    _, style = character.hexadecimal[0]
    if any(other is not style for _, other in character.hexadecimal):
        style = Style()  # several tokens share it
    if len(character.hexadecimal) == 1:
        return Text(label + " " * (character.width - cell_len(label)), style)
    room = character.width - 2 - cell_len(label)
    left = room // 2
    return Text(f"╰{'─' * left}{label}{'─' * (room - left)}╯", style)


def token_row(
    tokens: Sequence[TokenColumn], current: int, width: int
) -> Iterator[InfoLine]:
    """Draw tokens above their ids in two lines: the current one, and as many of its neighbors as fit."""
    widths = {current: _column_width(tokens[current])}
    room = width - widths[current]
    following = [current + 1, current - 1]
    """The next token on the right and on the left."""
    while following:
        index = following.pop(0)
        if not 0 <= index < len(tokens):
            continue
        column = _column_width(tokens[index])
        if column < room:
            widths[index] = column
            room -= column + 1
            following.append(index + 1 if index > current else index - 1)
    labels = Text()
    ids = Text()
    for index in sorted(widths):
        token = tokens[index]
        label = _label(token)
        labels.append(label, token.style)
        labels.append(" " * (widths[index] - cell_len(label) + 1))
        ids.append(f"{token.id:<{widths[index]}} ", "bold" if token.is_current else "")
    # After the last one no gap is needed.
    labels.rstrip()
    ids.rstrip()
    yield InfoLine(labels)
    yield InfoLine(ids, ink="muted")


def _label(token: TokenColumn) -> str:
    label = token_label(token.data)
    if cell_len(label[:1]) == 0:
        label = f"◌{label}"
    return cut(label, _WIDEST)


def _column_width(token: TokenColumn) -> int:
    return max(cell_len(_label(token)), len(str(token.id)))
