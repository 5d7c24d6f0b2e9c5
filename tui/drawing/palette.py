"""Tokens as they are drawn: six quiet colors for any theme, for 16 colors and for none; and labels on these.

Six hues of equal lightness and strength are mixed into the theme's own surface, so that they belong to the theme and
no token shouts. A theme may bring others as its variables `token-0` to `token-5`. Text on them is the theme's
foreground, taken towards black or white until it can be read: a contrast of at least `CONTRAST` (WCAG 2.2's ratio).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual.color import Color

from bpe_core.live.change import Span
from bpe_core.pictures import HUES, choose_colors
from bpe_core.visible import token_label, visible
from tui.drawing.lines import cut

if TYPE_CHECKING:
    from textual.app import App

CONTRAST: Final = 5.0  # the least contrast of a token's text with its background
SHARE: Final = (
    0.3  # how much of a token's background is its hue; the rest is the theme's surface
)

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
_QUIET: Final = 0.35  # how far the text of tokens that step back goes towards the surface, as far as it can be read
_BLACK: Final = Color(0, 0, 0)
_WHITE: Final = Color(255, 255, 255)
_REVERSE: Final = Style(reverse=True)
TOKEN_COLORS: Final = {
    f"token-{number}": Color.parse(hue).with_alpha(SHARE).hex
    for number, hue in enumerate(HUES)
}
"""Variables of a theme; translucent, so that they suit any surface they are laid on."""


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two opaque colors, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable_on(backgrounds: Sequence[Color], preferred: Color) -> Color:
    """The color nearest to `preferred`, towards black or white, that can be read on all of some opaque backgrounds."""

    def worst(text: Color) -> float:
        return min(contrast(background, text) for background in backgrounds)

    extreme = max(_BLACK, _WHITE, key=worst)
    steps = (preferred.blend(extreme, tenth / 10, 1) for tenth in range(11))
    return next((text for text in steps if worst(text) >= CONTRAST), extreme)


class Ways(NamedTuple):
    """One token color in each of the ways a token may be drawn: `changed` by the last edit, `current` under the cursor.

    `alike` has, in a further lane, the borders of a token of the first: it steps back, so that the others stand out.
    """

    usual: Style
    changed: Style
    current: Style
    alike: Style


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The styles of one editor under one theme. Compared by identity, so that it can be part of a cache's key.

    `blends`: a selection is mixed into what it covers; otherwise it replaces it (16 colors or none).
    """

    base: Style
    cursor: Style
    selection: Style
    gutter: Style
    tokens: tuple[Ways, ...]
    blends: bool

    @property
    def underlines(self) -> bool:
        """Whether an underline is free to mean something; without colors it tells the tokens apart."""
        return not any(ways.usual.underline for ways in self.tokens)


def palette_of(
    app: "App[object]",
    base: Style,
    cursor: Style = _REVERSE,
    selection: Style = _REVERSE,
    gutter: Style | None = None,
) -> Palette:
    """The styles for text that is `base` without tokens, under the app's theme; the same object while all stays."""
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
    """Colors mixed with the surface; `ansi`: those of a terminal's 16; `colorless`: underlines (NO_COLOR)."""
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
    alike = [surface.blend(color, _ALIKE_SHARE / SHARE, 1) for color in colors]
    quiet = [
        _on(faint, _readable_on([faint], text.blend(surface, _QUIET, 1)))
        for faint in alike
    ]
    # One color of text for all tokens is calmer than the best for each; only that under the cursor may have its own.
    text = _readable_on([*colors, *changed], text)
    tokens = (
        Ways(
            _on(usual, text),
            _on(touched, text) + Style(bold=True),
            _on(deep, _readable_on([deep], text)),
            faint,
        )
        for usual, touched, deep, faint in zip(
            colors, changed, current, quiet, strict=True
        )
    )
    return Palette(base, cursor, selection, gutter, tuple(tokens), True)


def _deepened(color: Color, surface: Color, factor: float) -> Color:
    """The color gone further away from the surface, but never so far that no text could be read on it."""
    while True:
        channels = (
            round(s + (c - s) * factor)
            for c, s in zip(color.rgb, surface.rgb, strict=True)
        )
        red, green, blue = (min(max(channel, 0), 255) for channel in channels)
        deeper = Color(red, green, blue)
        if (
            factor <= 1
            or max(contrast(deeper, _BLACK), contrast(deeper, _WHITE)) >= CONTRAST
        ):
            return deeper
        factor -= 0.05


def _on(background: Color, text: Color) -> Style:
    return Style(color=text.rich_color, bgcolor=background.rich_color)


def _foreground(style: Style) -> Color:
    return Color.from_rich_color(style.color) if style.color else _WHITE


def _background(style: Style) -> Color:
    return Color.from_rich_color(style.bgcolor) if style.bgcolor else _BLACK


def _sixteen(hue: str) -> Ways:
    """Black on the hue, which every common palette makes readable but on blue and red: there white."""
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
    """A style with a selection mixed in, so that the tokens can still be told apart under it."""
    if style.bgcolor is None or selection.bgcolor is None:
        return style + selection
    own, other, text = _background(style), _background(selection), _foreground(style)
    mixtures = (
        own.blend(other, _SELECTED_SHARE * tenth / 10, 1) for tenth in range(10, 0, -1)
    )
    return style + _on(
        next((mixed for mixed in mixtures if contrast(mixed, text) >= CONTRAST), own),
        text,
    )


def muted(style: Style) -> Style:
    """A style whose text steps back half way to its background: for glyphs that stand for something else."""
    if (
        style.bgcolor is None
        or style.color is None
        or not (style.bgcolor.triplet and style.color.triplet)
    ):
        return style
    return style + Style(
        color=_foreground(style).blend(_background(style), 0.45, 1).rich_color
    )


def colored_pieces(pieces: Iterable[str], base: Style, app: "App[object]") -> Text:
    """The pieces in the colors of the app's theme, on the ground of `base`; newlines and tabs can be seen."""
    styles = [ways.usual for ways in palette_of(app, base).tokens]
    text = Text(no_wrap=False, end="")
    for number, piece in enumerate(pieces):
        shown = visible(piece.replace("\n", "↵").replace("\t", "⇥")).replace("↵", "↵\n")
        text.append(shown, styles[number % len(styles)])
    return text


Bytes = Callable[[int], bytes]  # the bytes of a token

_LEAST: Final = 6  # cells that are worth a label; in fewer, tokens are only counted


def token_labels(
    ids: Sequence[int],
    bytes_of: Bytes,
    palette: Palette,
    room: int = 1000,
    style: Callable[[Ways, int], Style] = lambda ways, token: ways.usual,
    between: str = " ",
) -> Text:
    """Tokens side by side in at most `room` cells; those that find no place are counted at the end."""
    text = Text(no_wrap=True, overflow="ellipsis")
    colors = choose_colors(
        [Span(i, i + 1, (token,)) for i, token in enumerate(ids[:room])],
        len(palette.tokens),
    )
    for index, (token, color) in enumerate(zip(ids, colors, strict=False)):
        label = token_label(bytes_of(token))
        label = (
            label if cell_len(label[:1]) else f"◌{label}"
        )  # an accent gets something to stand on
        n_left = len(ids) - index
        after = cell_len(f" +{n_left - 1:,}") if n_left > 1 else 0
        if text.cell_len + len(between) * bool(index) + cell_len(label) + after > room:
            if index:
                return text.append(f" +{n_left:,}", "dim")
            label = cut(label, max(room - after, _LEAST))
        text.append(between if index else "").append(
            label, style(palette.tokens[color], token)
        )
    return text


WRITINGS: Final = (
    "text",
    "hex",
    "decimal",
    "ids",
)  # their names, in the order in which a key turns to them


def writer(writing: str, bytes_of: Bytes) -> Callable[[int], str]:
    """A function that writes an id in one of `WRITINGS`."""
    ways: Sequence[Callable[[int], str]] = (
        lambda token: token_label(bytes_of(token)),
        lambda token: bytes_of(token).hex(" "),
        lambda token: " ".join(map(str, bytes_of(token))),
        str,
    )
    return ways[WRITINGS.index(writing)]
