"""Labels of tokens and pieces, drawn in their colors; and the ways to write a token."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.live.change import Span
from bpe_core.pictures import choose_colors
from bpe_core.visible import token_label, visible
from tui.drawing.lines import cut
from tui.drawing.palette import Palette, Ways, palette_of

if TYPE_CHECKING:
    from textual.app import App


def colored_pieces(pieces: Iterable[str], base: Style, app: "App[object]") -> Text:
    """Color the pieces with the app's theme on the background of `base`; show newlines and tabs."""
    styles = [ways.usual for ways in palette_of(app, base).tokens]
    text = Text(no_wrap=False, end="")
    for number, piece in enumerate(pieces):
        shown = visible(piece.replace("\n", "↵").replace("\t", "⇥"))
        # The line still ends after the sign.
        shown = shown.replace("↵", "↵\n")
        text.append(shown, styles[number % len(styles)])
    return text


Bytes = Callable[[int], bytes]
"""Returns the bytes of a token."""

_LEAST: Final = 6
"""Cells needed for a label; with fewer, tokens are only counted."""


def _usual(ways: Ways, token: int) -> Style:
    return ways.usual


def token_labels(
    ids: Sequence[int],
    bytes_of: Bytes,
    palette: Palette,
    room: int = 1000,
    style: Callable[[Ways, int], Style] = _usual,
    between: str = " ",
) -> Text:
    """Draw tokens side by side in at most `room` cells, and count those that do not fit."""
    text = Text(no_wrap=True, overflow="ellipsis")
    spans = [Span(place, place + 1, (token,)) for place, token in enumerate(ids[:room])]
    colors = choose_colors(spans, len(palette.tokens))
    for index, (token, color) in enumerate(zip(ids, colors, strict=False)):
        label = token_label(bytes_of(token))
        if cell_len(label[:1]) == 0:
            # An accent without a letter is drawn on a dotted circle.
            label = f"◌{label}"
        gap = between if index else ""
        n_after = len(ids) - index - 1
        count_after = f" +{n_after:,}" if n_after else ""
        free = room - text.cell_len - len(gap) - len(count_after)
        if cell_len(label) > free:
            if index:
                return text.append(f" +{n_after + 1:,}", "dim")
            label = cut(label, max(free, _LEAST))
        text.append(gap).append(label, style(palette.tokens[color], token))
    return text


WRITINGS: Final = ("text", "hex", "decimal", "ids")
"""How tokens can be written, in the order in which a key switches them."""


def writer(writing: str, bytes_of: Bytes) -> Callable[[int], str]:
    """Return a function that writes an id in one of `WRITINGS`."""

    def as_text(token: int) -> str:
        return token_label(bytes_of(token))

    def as_hex(token: int) -> str:
        return bytes_of(token).hex(" ")

    def as_decimal(token: int) -> str:
        return " ".join(map(str, bytes_of(token)))

    writers: dict[str, Callable[[int], str]] = {
        "text": as_text,
        "hex": as_hex,
        "decimal": as_decimal,
        "ids": str,
    }
    return writers[writing]
