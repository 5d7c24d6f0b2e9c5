"""Tokens as text: labels on the color of their token, the four ways to write one, marks of severities, measures."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from bpe_core.auditing.findings import Severity
from bpe_core.live.spans import Span
from bpe_core.pictures import choose_colors
from bpe_core.visible import token_label
from tui.drawing.cells import cut
from tui.drawing.palette import Palette, Ways

Bytes = Callable[[int], bytes]  # the bytes of a token

REMOVED: Final = Style(strike=True)  # laid over tokens that are no longer there
_LEAST: Final = 6  # cells that are worth a label; in fewer, tokens are only counted


def token_labels(
    ids: Sequence[int],
    bytes_of: Bytes,
    palette: Palette,
    *,
    way: Literal["usual", "changed"] = "usual",
    over: Style | None = None,
    room: int = 1000,
) -> Text:
    """Tokens with a space between them in at most `room` cells; those that find no place are counted at the end.

    `way` is one of `Ways`, and `over` a style laid over it.
    """
    text = Text(no_wrap=True, overflow="ellipsis")
    for index, (label, ways) in enumerate(_labels(ids[:room], bytes_of, palette)):
        n_left = len(ids) - index
        after = cell_len(f" +{n_left - 1:,}") if n_left > 1 else 0
        if text.cell_len + bool(index) + cell_len(label) + after > room:
            if index:
                return text.append(f" +{n_left:,}", "dim")
            label = cut(label, max(room - after, _LEAST))
        style: Style = getattr(ways, way)
        text.append(" " if index else "").append(label, style + over if over else style)
    return text


def joined(ids: Sequence[int], bytes_of: Bytes, palette: Palette, made: int | None = None) -> Text:
    """Tokens side by side as they stand in a text, `made` brought out; with dots between where there are no colors."""
    text = Text(no_wrap=True)
    between = "·" if not palette.underlines else ""
    for index, (label, ways) in enumerate(_labels(ids, bytes_of, palette)):
        text.append(between if index else "").append(label, ways.changed if ids[index] == made else ways.usual)
    return text


def _labels(ids: Sequence[int], bytes_of: Bytes, palette: Palette) -> Iterator[tuple[str, Ways]]:
    """Each token and its color. An accent that begins a label gets something to stand on."""
    colors = choose_colors([Span(i, i + 1, (token,)) for i, token in enumerate(ids)], len(palette.tokens))
    for token, color in zip(ids, colors, strict=True):
        label = token_label(bytes_of(token))
        yield label if cell_len(label[:1]) else f"◌{label}", palette.tokens[color]


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


WRITINGS: Final = ("text", "hex", "decimal", "ids")  # their names, in the order in which a key turns to them


def writer(writing: str, bytes_of: Bytes) -> Callable[[int], str]:
    """A function that writes an id in one of `WRITINGS`."""
    ways: dict[str, Callable[[int], str]] = {
        "text": lambda token: token_label(bytes_of(token)),
        "hex": lambda token: bytes_of(token).hex(" "),
        "decimal": lambda token: " ".join(map(str, bytes_of(token))),
        "ids": str,
    }
    return ways[writing]
