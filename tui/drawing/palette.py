"""The colors of tokens: six hues for any theme, the 16 colors of a terminal, or underlines.

Six hues of equal lightness and strength are mixed into the surface of the theme, so that tokens suit it. A theme can
define others as its variables `token-0` to `token-5`. Text on them is the foreground of the theme, moved towards black
or white until its contrast (the ratio of WCAG 2.2) is at least `CONTRAST`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.style import Style
from textual.color import Color

from bpe_core.pictures import HUES

if TYPE_CHECKING:
    from textual.app import App

CONTRAST: Final = 5.0
"""The least contrast between the text of a token and its background."""
SHARE: Final = 0.3
"""The share of the hue in the background of a token; the rest is the surface of the theme."""

_ANSI_HUES: Final = (
    "ansi_blue",
    "ansi_green",
    "ansi_yellow",
    "ansi_red",
    "ansi_magenta",
    "ansi_cyan",
)
_CHANGED_SHARE: Final = 0.46
_CURRENT_SHARE: Final = 0.68
_ALIKE_SHARE: Final = 0.1
_SELECTED_SHARE: Final = 0.65
_FAINT_TEXT_SHARE: Final = 0.35
"""How far the text of faint tokens is blended into the background, if it stays readable."""
_BLACK: Final = Color(0, 0, 0)
_WHITE: Final = Color(255, 255, 255)
_REVERSE: Final = Style(reverse=True)
TOKEN_COLORS: Final = {
    f"token-{number}": Color.parse(hue).with_alpha(SHARE).hex
    for number, hue in enumerate(HUES)
}
"""Variables of a theme. They are translucent, so they suit any surface."""


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two opaque colors, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    def linear(channel: float) -> float:
        if channel <= 0.04045:
            return channel / 12.92
        return float(((channel + 0.055) / 1.055) ** 2.4)

    red, green, blue = map(linear, color.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable_on(backgrounds: Sequence[Color], preferred: Color) -> Color:
    """Return the color nearest to `preferred` that is readable on all backgrounds."""

    def worst(text: Color) -> float:
        return min(contrast(background, text) for background in backgrounds)

    extreme = max(_BLACK, _WHITE, key=worst)
    for tenth in range(11):
        text = preferred.blend(extreme, tenth / 10, 1)
        if worst(text) >= CONTRAST:
            return text
    return extreme


class Ways(NamedTuple):
    """The styles of one token color."""

    usual: Style
    changed: Style
    """For tokens changed by the last edit."""
    current: Style
    """For the token under the cursor."""
    alike: Style
    """In a further lane, for a token with the same borders as one in the first lane: faint."""


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The styles of one editor under one theme. It is compared by identity, for use as a key in caches."""

    base: Style
    cursor: Style
    selection: Style
    gutter: Style
    tokens: tuple[Ways, ...]
    blends: bool
    """Whether a selection is mixed into the colors it covers. With 16 colors or none it replaces them."""

    @property
    def underlines(self) -> bool:
        """Whether underlines are free to mark tokens. Without colors, they separate tokens."""
        return not any(ways.usual.underline for ways in self.tokens)


def palette_of(
    app: "App[object]",
    base: Style,
    cursor: Style = _REVERSE,
    selection: Style = _REVERSE,
    gutter: Style | None = None,
) -> Palette:
    """Return the palette of the app's theme for text in the style `base`; it is cached."""
    hues = tuple(
        app.theme_variables.get(name, color) for name, color in TOKEN_COLORS.items()
    )
    return make_palette(
        base,
        cursor,
        selection,
        gutter,
        hues=hues,
        ansi=app.native_ansi_color,
        colorless=app.no_color,
    )


@lru_cache(maxsize=32)
def make_palette(
    base: Style,
    cursor: Style = _REVERSE,
    selection: Style = _REVERSE,
    gutter: Style | None = None,
    *,
    hues: tuple[str, ...] = tuple(TOKEN_COLORS.values()),
    ansi: bool = False,
    colorless: bool = False,
) -> Palette:
    """Make a palette of mixed colors, of the 16 colors of a terminal (`ansi`), or of underlines (`colorless`)."""
    gutter = base + gutter if gutter else base
    if colorless:
        return Palette(
            base,
            _REVERSE,
            _REVERSE,
            gutter,
            (_underlined(False), _underlined(True)),
            False,
        )
    if ansi:
        selection = selection if selection.bgcolor else _REVERSE
        return Palette(
            base, cursor, selection, gutter, tuple(map(_sixteen, _ANSI_HUES)), False
        )
    surface, text = _background(base), _foreground(base)
    colors = [surface + Color.parse(hue) for hue in hues]
    changed = [_deepened(color, surface, _CHANGED_SHARE / SHARE) for color in colors]
    current = [_deepened(color, surface, _CURRENT_SHARE / SHARE) for color in colors]
    alike_colors = [surface.blend(color, _ALIKE_SHARE / SHARE, 1) for color in colors]
    faint_text = text.blend(surface, _FAINT_TEXT_SHARE, 1)
    alike_styles = [
        _on(color, _readable_on([color], faint_text)) for color in alike_colors
    ]
    # One text color for all tokens is calmer than the best for each; only the token under the cursor has its own.
    text = _readable_on([*colors, *changed], text)
    tokens = (
        Ways(
            _on(usual, text),
            _on(touched, text) + Style(bold=True),
            _on(deep, _readable_on([deep], text)),
            alike,
        )
        for usual, touched, deep, alike in zip(
            colors, changed, current, alike_styles, strict=True
        )
    )
    return Palette(base, cursor, selection, gutter, tuple(tokens), True)


def _deepened(color: Color, surface: Color, factor: float) -> Color:
    """Move a color away from the surface, but keep text on it readable."""
    while True:
        channels = []
        for own, other in zip(color.rgb, surface.rgb, strict=True):
            channel = round(other + (own - other) * factor)
            channels.append(min(max(channel, 0), 255))
        red, green, blue = channels
        deeper = Color(red, green, blue)
        best = max(contrast(deeper, _BLACK), contrast(deeper, _WHITE))
        if factor <= 1 or best >= CONTRAST:
            return deeper
        factor -= 0.05


def _on(background: Color, text: Color) -> Style:
    return Style(color=text.rich_color, bgcolor=background.rich_color)


def _foreground(style: Style) -> Color:
    return Color.from_rich_color(style.color) if style.color else _WHITE


def _background(style: Style) -> Color:
    return Color.from_rich_color(style.bgcolor) if style.bgcolor else _BLACK


def _sixteen(hue: str) -> Ways:
    """Black text on the hue; on dark hues (blue, red, magenta) white, which is readable in common palettes."""
    color = Color.parse(hue)
    text = Color.parse(
        "ansi_bright_white"
        if hue in ("ansi_blue", "ansi_red", "ansi_magenta")
        else "ansi_black"
    )
    usual = _on(color, text)
    bold = usual + Style(bold=True)
    return Ways(usual, bold, bold + _REVERSE, Style(color=color.rich_color))


def _underlined(odd: bool) -> Ways:
    usual = Style(underline=odd)
    return Ways(
        usual,
        usual + Style(italic=True),
        usual + Style(bold=True),
        usual + Style(dim=True),
    )


def selected(style: Style, selection: Style) -> Style:
    """Mix a selection into a style, so that tokens are still distinguishable."""
    if style.bgcolor is None or selection.bgcolor is None:
        return style + selection
    background = _background(style)
    text = _foreground(style)
    for tenth in range(10, 0, -1):
        share = _SELECTED_SHARE * tenth / 10
        mixed = background.blend(_background(selection), share, 1)
        if contrast(mixed, text) >= CONTRAST:
            return style + _on(mixed, text)
    return style + _on(background, text)


def muted(style: Style) -> Style:
    """Move the text color half way to the background, for glyphs that replace invisible characters."""
    if (
        style.bgcolor is None
        or style.color is None
        or not (style.bgcolor.triplet and style.color.triplet)
    ):
        return style
    return style + Style(
        color=_foreground(style).blend(_background(style), 0.45, 1).rich_color
    )
