"""Pictures for terminals: colored backgrounds, or borders between tokens where there are no colors."""

from collections.abc import Iterator, Mapping
from typing import Final

from bpe_core.pictures.colors import HUES
from bpe_core.pictures.picture import Picture

BORDER: Final = "│"

_PASTEL: Final = 0.5
"""How much white each hue is mixed with, from 0 to 1, so that black text is legible on it in any terminal."""
_OF_256: Final = (111, 78, 179, 174, 176, 80)
"""The nearest colors of these in the palette of 256 colors."""


def in_terminal(picture: Picture, colors: int, *, with_ids: bool = False) -> str:
    """The text with its tokens colored for a terminal of `colors` colors, or with borders between them if that is 0.

    Up to 256 the palette is used, above that 24-bit colors. `with_ids` writes the ids of each token after it.
    """
    return "".join(_colored(picture, colors, with_ids) if colors else _bordered(picture, with_ids))


def _bordered(picture: Picture, with_ids: bool) -> Iterator[str]:
    before = ""
    for chip in picture.chips:
        lines = list(chip.lines)
        if with_ids:
            lines[chip.last_line] += _ids(chip.ids)
        yield before + "\n".join(lines)
        before = BORDER


def _colored(picture: Picture, colors: int, with_ids: bool) -> Iterator[str]:
    for chip in picture.chips:
        code = f"\x1b[38;5;16;{_background(chip.color, colors)}m"
        lines = [f"{code}{line}\x1b[0m" if line else "" for line in chip.lines]
        if with_ids:
            lines[chip.last_line] += f"\x1b[2m{_ids(chip.ids)}\x1b[0m "
        yield "\n".join(lines)


def _ids(ids: tuple[int, ...]) -> str:
    return f"⟨{' '.join(map(str, ids))}⟩"


def _background(color: int, colors: int) -> str:
    if colors <= 256:
        return f"48;5;{_OF_256[color]}"
    channels = bytes.fromhex(HUES[color].removeprefix("#"))
    red, green, blue = (round(channel + (255 - channel) * _PASTEL) for channel in channels)
    return f"48;2;{red};{green};{blue}"


def colors_of(environment: Mapping[str, str], is_terminal: bool) -> int:
    """How many colors to use, by the environment variables: 0, 256 or 1 << 24.

    0 for what is no terminal, with NO_COLOR (no-color.org), and with TERM=dumb; 1 << 24 if COLORTERM says so.
    """
    if not is_terminal or environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return 0
    return 1 << 24 if environment.get("COLORTERM") in ("truecolor", "24bit") else 256
