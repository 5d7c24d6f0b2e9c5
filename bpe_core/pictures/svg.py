"""Pictures as SVG: text on a grid of cells, as in a terminal, in any monospaced font."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

from bpe_core.cells import cells
from bpe_core.pictures.colors import HUES
from bpe_core.pictures.picture import Picture

COLUMNS: Final = 96
"""Default width of a line, in cells."""

_WIDTH, _HEIGHT, _SIZE, _EDGE = 8.4, 22.0, 14, 20.0
"""Width of a cell, height of a line, font size, and margin, in pixels."""


class _Part(NamedTuple):
    """The part of a token on one line: `text` at `row` and `column`, in cells."""

    row: int
    column: int
    text: str
    color: int


def drawing(pictures: Sequence[Picture], columns: int = COLUMNS) -> str:
    """The pictures below one another, as one SVG document; lines are wrapped at `columns` cells."""
    body: list[str] = []
    row = 0
    for picture in pictures:
        body.append(_text(row, 0, picture.title, "t"))
        body.append(_text(row, cells(picture.title) + 2, picture.summary, "q"))
        row += 1
        for part in _laid_out(picture, columns, row):
            x, y = _EDGE + part.column * _WIDTH, _EDGE + part.row * _HEIGHT
            width = cells(part.text) * _WIDTH
            body.append(
                f'<rect x="{x:.1f}" y="{y + 2:.1f}" width="{width:.1f}" height="{_HEIGHT - 4:.1f}" rx="3" '
                f'class="c{part.color}"/>'
            )
            body.append(_text(part.row, part.column, part.text, "x"))
            row = max(row, part.row)
        row += 2
    width, height = columns * _WIDTH + 2 * _EDGE, (row - 1) * _HEIGHT + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">\n'
        f"<style>\n{_style()}</style>\n"
        f'<rect width="100%" height="100%" rx="8" class="p"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _laid_out(picture: Picture, columns: int, row: int) -> Iterator[_Part]:
    """The tokens placed on lines from `row` on, wrapped at `columns` cells."""
    column = 0
    for chip in picture.chips:
        for number, line in enumerate(chip.lines):
            if number:
                row, column = row + 1, 0
            while line:
                fits = _fitting(line, columns - column)
                if fits:
                    yield _Part(row, column, line[:fits], chip.color)
                    column += cells(line[:fits])
                    line = line[fits:]
                if line:
                    row, column = row + 1, 0


def _fitting(line: str, room: int) -> int:
    """How many of the first characters of `line` fit into `room` cells."""
    for index, character in enumerate(line):
        room -= cells(character)
        if room < 0:
            return index
    return len(line)


def _text(row: int, column: int, text: str, kind: str) -> str:
    x, y = _EDGE + column * _WIDTH, _EDGE + row * _HEIGHT + _HEIGHT * 0.7
    length = cells(text) * _WIDTH
    fit = f' textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs"' if length else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{fit} xml:space="preserve">{escape(text)}</text>'


def _style() -> str:
    font = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace'
    light = ".p { fill: #ffffff; } .x, .t { fill: #1c1e21; } .q { fill: #5c6370; }\n"
    dark = ".p { fill: #15171a; } .x, .t { fill: #e4e6eb; } .q { fill: #9aa2af; }\n"
    colors = "".join(f".c{number} {{ fill: {hue}; fill-opacity: .33; }}\n" for number, hue in enumerate(HUES))
    return (
        f"text {{ font: {_SIZE}px {font}; white-space: pre; }} .t {{ font-weight: bold; }}\n{light}{colors}"
        f"@media (prefers-color-scheme: dark) {{ {dark}}}\n"
    )
