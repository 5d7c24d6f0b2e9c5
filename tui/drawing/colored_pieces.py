"""The pieces of a text, each in another color than its neighbors."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from bpe_core.visible import visible
from tui.drawing.palette import Look, make_palette

if TYPE_CHECKING:
    from textual.app import App


def colored_pieces(pieces: Iterable[str], base: Style, app: "App[object]") -> Text:
    """The pieces in the colors of the app's theme, on the ground of `base`; newlines and tabs can be seen."""
    inverse = Style(reverse=True)
    look = Look(
        *(base, inverse, inverse),
        variables=app.theme_variables,
        ansi=app.native_ansi_color,
        colorless=app.no_color,
    )
    styles = [ways.usual for ways in make_palette(look).tokens]
    text = Text(no_wrap=False, end="")
    for number, piece in enumerate(pieces):
        shown = visible(piece.replace("\n", "↵").replace("\t", "⇥")).replace("↵", "↵\n")
        text.append(shown, styles[number % len(styles)])
    return text
