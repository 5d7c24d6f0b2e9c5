"""The colors of tokens, in the app and in all pictures, which `drawing` makes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bpe_core.explain.decoding import DecodedSpan
    from bpe_core.live.change import Span
    from bpe_core.metrics.sampled import SampledToken

HUES: Final = ("#3c8ff4", "#00ac5f", "#ca7b00", "#e35b6d", "#af6ddb", "#00abb8")
"""Blue, green, amber, rose, violet, teal: lightness 0.65 and chroma 0.17 in OKLCH."""


def choose_colors(
    spans: "Sequence[Span | DecodedSpan | SampledToken]", n_colors: int = len(HUES)
) -> list[int]:
    """Choose a color for each span, never the color of the span before.

    The color is the sum of the ids modulo `n_colors`. Only if that equals the neighbor's color, the
    context decides too. So colors hardly change while a text is edited, and a part of a text has
    the colors of the whole text, except for its first few spans. In a run of equal tokens, colors
    alternate by the offset in the text.

    Args:
        spans: Consecutive spans of a text.
        n_colors: The number of colors, at least 2.

    Returns:
        For each span a color from 0 to `n_colors` - 1.
    """
    colors: list[int] = []
    color_before = -1
    preferred_before = -1
    for span in spans:
        preferred = sum(span.ids) % n_colors
        color = preferred
        if preferred == preferred_before:
            length = max(span.end - span.start, 1)
            color = (preferred + span.start // length % 2) % n_colors
        if color == color_before:
            color = (color + 1) % n_colors
        colors.append(color)
        color_before = color
        preferred_before = preferred
    return colors
