"""Lines about the places of a token: in the edited text, and in the lines of the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from bpe_core.visible import character_name, counted, token_label, visible
from tui.drawing.lines import InfoLine, sentence

if TYPE_CHECKING:
    from bpe_core.live.change import Span
    from bpe_core.live.live_text import LiveText
    from tui.state import TokenLines

_NAMED: Final = 2
"""Characters of a token whose names are shown."""
_SHARING: Final = 6
"""Tokens of one character that are listed."""


def lines_of_texts(search: TokenLines, width: int) -> Iterator[InfoLine]:
    """List the lines in which a token occurs, by file. The text before the token is cut to a quarter of the width."""
    n_before = max(4, width // 4)
    previous_file = None
    for file, place in search.found:
        if file != previous_file:
            previous_file = file
            yield InfoLine(file.name, ink="accent")
        text = Text("…" if place.column > n_before else "")
        text.append(visible(place.before[-n_before:]))
        text.append(token_label(place.left.encode(errors="replace")), "bold reverse")
        text.append(visible(place.after))
        yield InfoLine(text, lead=f"{place.line:>6,}  ", target=(file, place))
    yield from sentence(_search_status(search), width)


def _search_status(search: TokenLines) -> str:
    if search.progress:
        return f"Searching: {search.progress}." if search.running else search.progress
    if search.found:
        return f"{counted(len(search.found), 'line')}, each listed once."
    if search.searched:
        return "The token does not occur in the chosen texts (F2)."
    return "No text is chosen: press F2 and mark one with the space bar."


def about_place(live: LiveText, under: Span, width: int) -> Iterator[InfoLine]:
    """Describe the place of a token in the text: its characters, and how tokens share their bytes."""
    start, end = under.start, under.end
    where = f"characters {start:,} to {end - 1:,}"
    if end - start == 1:
        where = f"character {start:,}"
    yield InfoLine(where, ink="muted")

    unusual = [one for one in live.between(start, end) if not " " <= one <= "~"]
    for character in unusual[:_NAMED]:
        name = f"{visible(character)}  {character_name(character)}"
        yield InfoLine(name, f"{ord(character):04X}", "muted")

    tokens = [live.tokenizer.token_bytes(token) for token in under.ids]
    if len(tokens) > 1:
        yield from _shared_bytes(under.ids, tokens, width)


def _shared_bytes(
    ids: Sequence[int], tokens: Sequence[bytes], width: int
) -> Iterator[InfoLine]:
    """The bytes of tokens that share characters, with a bracket under each token."""
    n_bytes = sum(map(len, tokens))
    yield InfoLine(f"{len(tokens)} tokens share {n_bytes} bytes", ink="warning")
    if 3 * n_bytes <= width:
        brackets = ["╰" + "─" * (3 * len(token) - 3) + "╯" for token in tokens]
        yield InfoLine(b"".join(tokens).hex(" "))
        yield InfoLine(" ".join(brackets), ink="faint")
    for token, data in list(zip(ids, tokens, strict=True))[:_SHARING]:
        yield InfoLine(data.hex(" "), f"id {token:,}", "muted")
