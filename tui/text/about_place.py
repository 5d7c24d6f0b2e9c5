"""What there is to say about the place where a token stands: its characters, and which token owns which byte."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from bpe_core.visible import character_name, visible
from tui.drawing.info_lines import InfoLine
from tui.text.tokens import UnderCursor

_NAMED: Final = 2
"""Characters whose names are told."""
_STRIP: Final = 6
"""Tokens of one character that are listed."""


def about_place(under: UnderCursor, width: int) -> Iterator[InfoLine]:
    """Facts for the inspector, in lines of `width` cells."""
    start, end = under.start, under.end
    where = f"character {start:,}" if end - start == 1 else f"characters {start:,} to {end - 1:,}"
    yield InfoLine(where, ink="muted")
    for character in islice((one for one in under.text if not " " <= one <= "~"), _NAMED):
        yield InfoLine(f"{visible(character)}  {character_name(character)}", f"{ord(character):04X}", "muted")
    if len(under.tokens) > 1:
        yield from _strip(under, width)


def _strip(under: UnderCursor, width: int) -> Iterator[InfoLine]:
    """The bytes in a row, a bracket under those of each token, then the tokens."""
    n_bytes = sum(map(len, under.tokens))
    yield InfoLine(f"{len(under.tokens)} tokens share {n_bytes} bytes", ink="warning")
    if 3 * n_bytes <= width:
        yield InfoLine(b"".join(under.tokens).hex(" "))
        yield InfoLine(" ".join(_bracket(len(token)) for token in under.tokens), ink="lines")
    for token, data in islice(zip(under.ids, under.tokens, strict=True), _STRIP):
        yield InfoLine(data.hex(" "), f"id {token:,}", "muted")


def _bracket(n_bytes: int) -> str:
    return "╰" + "─" * (3 * n_bytes - 3) + "╯"
