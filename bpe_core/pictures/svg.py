"""Pictures as SVG: text on a grid of cells, as in a terminal, in any monospaced font."""

from collections.abc import Sequence
from html import escape
from typing import Final

from bpe_core.cells import cells
from bpe_core.pictures.colors import HUES
from bpe_core.pictures.lanes import Lanes
from bpe_core.pictures.layout import Part, laid_out
from bpe_core.pictures.picture import Picture

COLUMNS: Final = 96
"""Default width of a line, in cells."""

_WIDTH, _HEIGHT, _SIZE, _EDGE = 8.4, 22.0, 14, 20.0
"""Width of a cell, height of a line, font size, and margin, in pixels."""


def drawing(pictures: Sequence[Picture], columns: int = COLUMNS) -> str:
    """The pictures below one another, as one SVG document; lines are wrapped at `columns` cells."""
    body: list[str] = []
    row = 0
    for picture in pictures:
        lines, rows = _body(picture, columns, row)
        body += lines
        row += rows + 1
    return _document(body, columns, row - 1)


def _body(picture: Picture, columns: int, row: int) -> tuple[list[str], int]:
    """The elements of a picture whose title stands at `row`, and the number of its rows."""
    body = [_text(row, 0, picture.title, "t"), _text(row, cells(picture.title) + 2, picture.summary, "q")]
    last = row + 1
    for part in laid_out(picture.chips, columns, row + 1):
        body += _token(part)
        last = max(last, part.row)
    return body, last - row + 1


def lanes_drawing(lanes: Lanes, columns: int = COLUMNS) -> str:
    """A text under several tokenizers, each line once for each, as one SVG document.

    Lines are wrapped at `columns` cells, all tokenizers alike. Tokens of the borders that the first tokenizer's have
    step back, so that those that differ stand out.
    """
    body: list[str] = []
    n_lanes, margin = len(lanes.titles), max(map(cells, lanes.titles)) + 2
    for row, (title, summary) in enumerate(zip(lanes.titles, lanes.summaries, strict=True)):
        body += _text(row, 0, title, "t"), _text(row, margin, summary, "q")
    row = n_lanes + 1
    for line in lanes.lines:
        n_rows = 1
        for lane, chips in enumerate(line):
            body.append(_text(row + lane, 0, lanes.titles[lane], "q"))
            for part in laid_out(chips, max(columns - margin, 2), 0):
                body += _token(part._replace(row=row + part.row * n_lanes + lane, column=margin + part.column))
                n_rows = max(n_rows, part.row + 1)
        row += n_rows * n_lanes
    return _document(body, columns, row)


def _token(part: Part) -> list[str]:
    """The elements of a part of a token."""
    if part.color < 0:
        return [_text(part.row, part.column, part.text, "q")]
    x, y = _EDGE + part.column * _WIDTH, _EDGE + part.row * _HEIGHT
    width, alike = cells(part.text) * _WIDTH, " a" * part.is_alike
    return [
        f'<rect x="{x:.1f}" y="{y + 2:.1f}" width="{width:.1f}" height="{_HEIGHT - 4:.1f}" rx="3" '
        f'class="c{part.color}{alike}"/>',
        _text(part.row, part.column, part.text, f"x{alike}"),
    ]


def _document(body: Sequence[str], columns: int, rows: int) -> str:
    """A document of so many cells, with these elements."""
    width, height = columns * _WIDTH + 2 * _EDGE, rows * _HEIGHT + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">\n'
        f"<style>\n{_style()}</style>\n"
        f'<rect width="100%" height="100%" rx="8" class="p"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


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
        f"text {{ font: {_SIZE}px {font}; white-space: pre; }} .t {{ font-weight: bold; }}\n"
        f".a {{ opacity: .5; }}\n{light}{colors}"
        f"@media (prefers-color-scheme: dark) {{ {dark}}}\n"
    )
