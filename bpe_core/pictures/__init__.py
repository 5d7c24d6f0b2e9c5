"""Tokenized texts to look at: the color of each token, equal in the app and in all pictures, which `drawing` makes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bpe_core.explain.decoding import DecodedSpan
    from bpe_core.live.change import Span

HUES: Final = ("#3c8ff4", "#00ac5f", "#ca7b00", "#e35b6d", "#af6ddb", "#00abb8")
"""Blue, green, amber, rose, violet, teal: lightness 0.65 and chroma 0.17 in OKLCH."""


def choose_colors(
    spans: "Sequence[Span | DecodedSpan]", n_colors: int = len(HUES)
) -> list[int]:
    """For each of consecutive spans a color from 0 to `n_colors` - 1, never that of the span before.

    The color is the sum of the ids modulo `n_colors`; only where that equals its neighbor's does it depend on the
    context. So colors hardly change while a text is edited, and those of a part are those of the whole text, except for
    its first few spans. In a run of equal tokens, colors alternate by the offset in the text.
    """
    chosen: list[int] = []
    last_color = last_own = -1
    for span in spans:
        own = color = sum(span.ids) % n_colors
        if own == last_own:
            color = (own + span.start // max(span.end - span.start, 1) % 2) % n_colors
        if color == last_color:
            color = (color + 1) % n_colors
        chosen.append(color)
        last_color, last_own = color, own
    return chosen
