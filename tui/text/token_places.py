"""Lines about the places of a token: in the edited text, and in the lines of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
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


def notes_on_place(live: LiveText, under: Span) -> Iterator[InfoLine]:
    """Name the unusual characters of a token in the text, and say if other tokens have some of their bytes."""
    unusual = [
        character
        for character in live.between(under.start, under.end)
        if not " " <= character <= "~"
    ]
    for character in unusual[:_NAMED]:
        name = f"{visible(character)}  {character_name(character)}"
        yield InfoLine(name, f"{ord(character):04X}", "muted")
    n_tokens = len(under.ids)
    if n_tokens > 1:
        n_bytes = sum(len(live.tokenizer.token_bytes(token)) for token in under.ids)
        yield InfoLine(f"{n_tokens} tokens share {n_bytes} bytes", ink="warning")
