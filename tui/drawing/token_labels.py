"""Tokens as text: labels on the color of their token, the four ways to write one, marks of severities, measures."""

from collections.abc import Callable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.auditing.findings import Severity
from bpe_core.live.spans import Span
from bpe_core.pictures import choose_colors
from bpe_core.visible import token_label
from tui.drawing.palette import Palette, Ways

Bytes = Callable[[int], bytes]
"""The bytes of a token."""

REMOVED: Final = Style(strike=True)
"""Laid over tokens that are no longer there."""
_LEAST: Final = 6
"""Cells that are worth a label; in fewer, tokens are only counted."""


def usual(ways: Ways) -> Style:
    return ways.usual


def changed(ways: Ways) -> Style:
    """A token as it is drawn in the text right after an edit made it."""
    return ways.changed


def token_labels(
    ids: Sequence[int],
    bytes_of: Bytes,
    palette: Palette,
    *,
    way: Callable[[Ways], Style] = usual,
    over: Style | None = None,
    room: int = 1000,
) -> Text:
    """Tokens with a space between them in at most `room` cells; those that find no place are counted at the end."""
    shown = ids[:room]
    text = Text(no_wrap=True, overflow="ellipsis")
    for index, (token, color) in enumerate(zip(shown, _colors(shown, palette), strict=True)):
        label = _label(bytes_of(token))
        n_left = len(ids) - index
        after = cell_len(f" +{n_left - 1:,}") if n_left > 1 else 0
        if text.cell_len + bool(index) + cell_len(label) + after > room:
            if index:
                return text.append(f" +{n_left:,}", "dim")
            cut = Text(label)
            cut.truncate(max(room - after, _LEAST), overflow="ellipsis")
            label = cut.plain
        text.append(" " if index else "").append(label, _style(palette, color, way, over))
    return text


def joined(ids: Sequence[int], bytes_of: Bytes, palette: Palette, made: int | None = None) -> Text:
    """Tokens side by side as they stand in a text, `made` brought out; with dots between where there are no colors."""
    text = Text(no_wrap=True)
    between = "·" if not palette.underlines else ""
    for index, (token, color) in enumerate(zip(ids, _colors(ids, palette), strict=True)):
        style = _style(palette, color, changed if token == made else usual, None)
        text.append(between if index else "").append(_label(bytes_of(token)), style)
    return text


def _label(token: bytes) -> str:
    """A label begins with a color of its own: an accent that begins it gets something to stand on."""
    label = token_label(token)
    return label if cell_len(label[:1]) else f"◌{label}"


def _colors(ids: Sequence[int], palette: Palette) -> list[int]:
    return choose_colors([Span(i, i + 1, (token,)) for i, token in enumerate(ids)], len(palette.tokens))


def _style(palette: Palette, color: int, way: Callable[[Ways], Style], over: Style | None) -> Style:
    style = way(palette.tokens[color])
    return style + over if over else style


MARKS: Final = {Severity.PROBLEM: "▲", Severity.WARNING: "●", Severity.NOTE: "○"}
INKS: Final = {Severity.PROBLEM: "warning", Severity.WARNING: "accent", Severity.NOTE: "muted"}


def number(measure: str, value: float) -> str:
    """What was measured, as it is shown.

    >>> number("count", 12345), number("largest_share", 0.625), number("indicator", 0.123456)
    ('12,345', '62 %', '0.123')
    """
    if measure == "largest_share":
        return f"{100 * value:.0f} %"
    return f"{value:,.0f}" if measure != "indicator" else f"{value:.3g}"


WRITINGS: Final = ("text", "hex", "decimal", "ids")
"""Their names, in the order in which a key turns to them."""


def writer(writing: str, bytes_of: Callable[[int], bytes]) -> Callable[[int], str]:
    """A function that writes an id in one of `WRITINGS`; `bytes_of` gives the bytes of an id."""
    if writing == "hex":
        return lambda token: bytes_of(token).hex(" ")
    if writing == "decimal":
        return lambda token: " ".join(map(str, bytes_of(token)))
    if writing == "ids":
        return str
    return lambda token: token_label(bytes_of(token))
