"""Which color a token has: the same one in the app, in a terminal and on a page."""

from collections.abc import Sequence
from typing import Final, Protocol

HUES: Final = ("#3c8ff4", "#00ac5f", "#ca7b00", "#e35b6d", "#af6ddb", "#00abb8")
"""Blue, green, amber, rose, violet, teal: lightness 0.65 and chroma 0.17 in OKLCH."""
N_COLORS: Final = len(HUES)


class Tokens(Protocol):
    """What a color is chosen by; `bpe_core.editing.spans.Span` is one."""

    @property
    def start(self) -> int:
        """First code point."""

    @property
    def end(self) -> int:
        """Code point after the last."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The token, or the tokens of a character that is made of several."""


def choose_colors(spans: Sequence[Tokens], n_colors: int = N_COLORS) -> list[int]:
    """A color number for each of some neighboring spans: by id, and never that of the span before.

    Only where two neighbors would be alike does a color depend on anything but the id, so colors stay put while
    typing, and a part of a text gets the colors that the whole would get (but for its first few spans). A run of one
    token alternates by the place in the text, which is the same wherever the part begins.
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
