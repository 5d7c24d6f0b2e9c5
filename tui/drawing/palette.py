"""The colors of tokens: six quiet backgrounds for any theme, dark or light, for 16 colors, and for none.

Six hues of equal lightness and strength are mixed into the theme's own surface, so that they belong to the theme and
no token shouts. A theme may bring others as its variables `token-0` to `token-5`. Text on them is the theme's
foreground, taken towards black or white until it can be read: a contrast of at least `CONTRAST` (WCAG 2.2's ratio).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.style import Style
from rich.text import Text
from textual.color import Color

from bpe_core.pictures import HUES, N_COLORS
from bpe_core.visible import visible

if TYPE_CHECKING:
    from textual.app import App


CONTRAST: Final = 5.0
"""The least contrast of a token's text with its background."""
SHARE: Final = 0.3
"""How much of a token's background is its hue; the rest is the theme's surface."""

_ANSI_HUES: Final = ("ansi_blue", "ansi_green", "ansi_yellow", "ansi_red", "ansi_magenta", "ansi_cyan")
_CHANGED_SHARE: Final = 0.46
_CURRENT_SHARE: Final = 0.68
_ALIKE_SHARE: Final = 0.1
_QUIET: Final = 0.35
"""How far the text of tokens that step back is on its way to the surface, as long as it can be read."""
_SELECTED_SHARE: Final = 0.65
_BLACK: Final = Color(0, 0, 0)
_WHITE: Final = Color(255, 255, 255)


def theme_variables() -> dict[str, str]:
    """`{"token-0": color, ... "token-5": color}`: translucent, so that they suit any surface they are laid on."""
    return {f"token-{number}": Color.parse(hue).with_alpha(SHARE).hex for number, hue in enumerate(HUES)}


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two opaque colors, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable_on(backgrounds: Sequence[Color], preferred: Color) -> Color:
    """The text color nearest to `preferred` that can be read on all of some opaque backgrounds.

    It lies on the way to black or to white; where neither can be read on all of them, it is the better of the two.
    """

    def worst(text: Color) -> float:
        return min(contrast(background, text) for background in backgrounds)

    extreme = max(_BLACK, _WHITE, key=worst)
    steps = (preferred.blend(extreme, tenth / 10, 1) for tenth in range(11))
    return next((text for text in steps if worst(text) >= CONTRAST), extreme)


@dataclass(frozen=True, slots=True)
class PaletteSource:
    """What a `Palette` is made from: the theme as it stands on a widget."""

    base: Style
    """Text without tokens, on the widget's background."""
    cursor: Style
    selection: Style
    variables: Mapping[str, str] = field(default_factory=dict)
    """The theme's variables; its `token-0` to `token-5` are used if it has them."""
    ansi: bool = False
    """Only the terminal's own 16 colors."""
    colorless: bool = False
    """NO_COLOR: attributes only."""
    gutter: Style | None = None
    """Line numbers; as the text if None."""


@dataclass(frozen=True, slots=True)
class Ways:
    """One token color in each of the ways a token may be drawn."""

    usual: Style
    changed: Style
    """Touched by the last edit."""
    current: Style
    """Under the cursor."""
    alike: Style
    """In a further lane, with the borders of a token of the first: it steps back, so that the others stand out."""


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The styles of one editor under one theme. Compared by identity, so that it can be part of a cache's key."""

    base: Style
    cursor: Style
    selection: Style
    gutter: Style
    tokens: tuple[Ways, ...]
    blends: bool
    """True when a selection is mixed into what it covers; False when it replaces it (16 colors or none)."""

    @property
    def underlines(self) -> bool:
        """Whether an underline is free to mean something; without colors it tells the tokens apart."""
        return not self.tokens or not any(ways.usual.underline for ways in self.tokens)


def make_palette(source: PaletteSource) -> Palette:
    """The styles for a look: colors mixed with the surface, or the 16 of a terminal, or underlines."""
    gutter = source.base + source.gutter if source.gutter else source.base
    if source.colorless:
        reverse = Style(reverse=True)
        return Palette(source.base, reverse, reverse, gutter, tuple(_underlined(bool(odd)) for odd in range(2)), False)
    if source.ansi:
        selection = source.selection if source.selection.bgcolor else Style(reverse=True)
        return Palette(source.base, source.cursor, selection, gutter, tuple(map(_sixteen, _ANSI_HUES)), False)
    surface = _background(source.base)
    text = _foreground(source.base)
    variables = {**theme_variables(), **source.variables}
    colors = [surface + Color.parse(variables[f"token-{number}"]) for number in range(N_COLORS)]
    changed = [_deepened(color, surface, _CHANGED_SHARE / SHARE) for color in colors]
    current = [_deepened(color, surface, _CURRENT_SHARE / SHARE) for color in colors]
    alike = [surface.blend(color, _ALIKE_SHARE / SHARE, 1) for color in colors]
    quiet = [_on(faint, readable_on([faint], text.blend(surface, _QUIET, 1))) for faint in alike]
    # One color of text for all tokens is calmer than the best for each; only that under the cursor may have its own.
    text = readable_on([*colors, *changed], text)
    tokens = (
        Ways(_on(usual, text), _on(touched, text) + Style(bold=True), _on(deep, readable_on([deep], text)), faint)
        for usual, touched, deep, faint in zip(colors, changed, current, quiet, strict=True)
    )
    return Palette(source.base, source.cursor, source.selection, gutter, tuple(tokens), True)


class CurrentPalette:
    """The palette for the look of now: the same object as long as the look is the same."""

    def __init__(self) -> None:
        self._look: PaletteSource | None = None
        self._palette: Palette

    def of(self, source: PaletteSource) -> Palette:
        if source != self._look:
            self._look, self._palette = source, make_palette(source)
        return self._palette


def _deepened(color: Color, surface: Color, factor: float) -> Color:
    """The color gone further away from the surface, but never so far that no text could be read on it."""
    while True:
        red, green, blue = (_channel(s + (c - s) * factor) for c, s in zip(color.rgb, surface.rgb, strict=True))
        deeper = Color(red, green, blue)
        if factor <= 1 or max(contrast(deeper, _BLACK), contrast(deeper, _WHITE)) >= CONTRAST:
            return deeper
        factor -= 0.05


def _channel(value: float) -> int:
    return min(max(round(value), 0), 255)


def _on(background: Color, text: Color) -> Style:
    return Style(color=text.rich_color, bgcolor=background.rich_color)


def _foreground(style: Style) -> Color:
    return Color.from_rich_color(style.color) if style.color else _WHITE


def _background(style: Style) -> Color:
    return Color.from_rich_color(style.bgcolor) if style.bgcolor else _BLACK


def _sixteen(hue: str) -> Ways:
    """Black on the hue, which every common palette makes readable but on blue and red: there white."""
    color = Color.parse(hue).rich_color
    text = Color.parse("ansi_bright_white" if hue in ("ansi_blue", "ansi_red", "ansi_magenta") else "ansi_black")
    usual = Style(color=text.rich_color, bgcolor=color)
    return Ways(usual, usual + Style(bold=True), usual + Style(bold=True, reverse=True), Style(color=color))


def _underlined(odd: bool) -> Ways:
    usual = Style(underline=odd)
    return Ways(usual, usual + Style(italic=True), usual + Style(bold=True), usual + Style(dim=True))


@lru_cache(maxsize=4096)
def selected(style: Style, selection: Style) -> Style:
    """A style with a selection mixed in, so that the tokens can still be told apart under it."""
    if style.bgcolor is None or selection.bgcolor is None:
        return style + selection
    own, other, text = _background(style), _background(selection), _foreground(style)
    shares = (_SELECTED_SHARE * tenth / 10 for tenth in range(10, 0, -1))
    mixtures = (own.blend(other, share, 1) for share in shares)
    background = next((mixed for mixed in mixtures if contrast(mixed, text) >= CONTRAST), own)
    return style + _on(background, text)


@lru_cache(maxsize=4096)
def muted(style: Style) -> Style:
    """A style whose text steps back half way to its background: for glyphs that stand for something else."""
    if style.bgcolor is None or style.color is None or not (style.bgcolor.triplet and style.color.triplet):
        return style
    return style + Style(
        color=Color.from_rich_color(style.color).blend(Color.from_rich_color(style.bgcolor), 0.45, 1).rich_color
    )


def colored_pieces(pieces: Iterable[str], base: Style, app: "App[object]") -> Text:
    """The pieces in the colors of the app's theme, on the ground of `base`; newlines and tabs can be seen."""
    inverse = Style(reverse=True)
    source = PaletteSource(
        *(base, inverse, inverse),
        variables=app.theme_variables,
        ansi=app.native_ansi_color,
        colorless=app.no_color,
    )
    styles = [ways.usual for ways in make_palette(source).tokens]
    text = Text(no_wrap=False, end="")
    for number, piece in enumerate(pieces):
        shown = visible(piece.replace("\n", "↵").replace("\t", "⇥")).replace("↵", "↵\n")
        text.append(shown, styles[number % len(styles)])
    return text
