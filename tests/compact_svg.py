"""Small SVG pictures of a terminal, made of those that Textual exports.

An export names a web font, has a clip path per row and repeats its styles. `drawn` keeps the colored cells and the
texts, and uses the reader's own monospace font. Each text has the width of its cells, so rows stay aligned in any font.
"""

import re
from collections import defaultdict
from html import escape
from typing import Final, NamedTuple
from xml.etree import ElementTree

from textual.geometry import Region

CELL: Final = (10, 20)
"""The width and height of a cell in a picture."""
_FONTS: Final = "ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace"
_EXPORTED_CELL: Final = (12.2, 24.4)
_MARGIN: Final = 8
_SHOWN_WIDTH: Final = 8.5
"""The width of a cell on a page, in pixels, if the page has room."""


class Run(NamedTuple):
    """Cells of one row with the same style."""

    x: int
    y: int
    width: int
    style: str
    """Attributes of SVG."""
    text: str


class Screen(NamedTuple):
    """The content of an exported picture."""

    background: str
    colored: list[Run]
    texts: list[Run]


def read_export(svg: str) -> Screen:
    """Read a picture that Textual has exported."""
    styles = {
        name: _attributes(rules)
        for name, rules in re.findall(r"\.(terminal-\d+-r\d+) \{([^}]*)\}", svg)
    }
    colored: list[Run] = []
    texts: list[Run] = []
    frame = ""
    for element in ElementTree.fromstring(svg).iter():
        tag = element.tag.rpartition("}")[2]
        name = element.get("class", "")
        if tag == "rect" and element.get("stroke"):
            frame = element.get("fill", "")
        elif tag == "rect" and element.get("shape-rendering"):
            colored.append(_run(element, "width", element.get("fill", ""), ""))
        elif tag == "text" and name in styles:
            texts.append(_run(element, "textLength", styles[name], element.text or ""))
    return Screen(frame, colored, texts)


def _run(element: ElementTree.Element, width: str, style: str, text: str) -> Run:
    return Run(
        round(float(element.get("x", "0")) / _EXPORTED_CELL[0]),
        int(float(element.get("y", "0")) / _EXPORTED_CELL[1]),
        round(float(element.get(width, "0")) / _EXPORTED_CELL[0]),
        style,
        text.replace("\xa0", " "),
    )


def _attributes(rules: str) -> str:
    """Return CSS rules as attributes: "fill: #fff;font-weight: bold" as 'fill="#fff" font-weight="bold"'."""
    pairs = [rule.split(":") for rule in rules.split(";") if ":" in rule]
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in pairs)


def drawn(screen: Screen, region: Region) -> str:
    """Draw a part of a screen, without the picture around it."""
    paths: dict[str, list[str]] = defaultdict(list)
    for run in screen.colored:
        inside = _inside(run, region)
        if inside is not None and inside.style != screen.background:
            paths[inside.style].append(
                f"M{inside.x * CELL[0]} {inside.y * CELL[1]}h{inside.width * CELL[0]}v{CELL[1]}h-{inside.width * CELL[0]}z"
            )
    groups: dict[str, list[str]] = defaultdict(list)
    for run in screen.texts:
        inside = _inside(_stripped(run), region)
        if inside is not None:
            groups[inside.style].append(_text(inside))
    lines = [
        f'<path fill="{fill}" d="{"".join(parts)}"/>' for fill, parts in paths.items()
    ]
    lines += [f"<g {style}>{''.join(texts)}</g>" for style, texts in groups.items()]
    return "\n".join(lines)


def _inside(run: Run, region: Region) -> Run | None:
    """Return the part of a run in a region, with its place there."""
    first = max(run.x, region.x)
    last = min(run.x + run.width, region.x + region.width)
    if last <= first or not region.y <= run.y < region.y + region.height:
        return None
    text = run.text
    if last - first < run.width:
        # Only borders are cut, and their characters are one cell wide.
        text = text[first - run.x : last - run.x]
    return Run(first - region.x, run.y - region.y, last - first, run.style, text)


def _stripped(run: Run) -> Run:
    """Return a run without the spaces at its ends."""
    n_before = len(run.text) - len(run.text.lstrip(" "))
    text = run.text.strip(" ")
    n_spaces = len(run.text) - len(text)
    return run._replace(x=run.x + n_before, width=run.width - n_spaces, text=text)


def _text(run: Run) -> str:
    x = run.x * CELL[0]
    y = run.y * CELL[1] + 15
    return f'<text x="{x}" y="{y}" textLength="{run.width * CELL[0]}">{escape(run.text, quote=False)}</text>'


def picture(
    content: str, size: tuple[int, int], background: str, style: str = ""
) -> str:
    """Return what is drawn, in the size of a terminal, as an SVG file."""
    width = size[0] * CELL[0] + 2 * _MARGIN
    height = size[1] * CELL[1] + 2 * _MARGIN
    scale = _SHOWN_WIDTH / CELL[0]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}" height="{height * scale:.0f}"'
            f' viewBox="{-_MARGIN} {-_MARGIN} {width} {height}"'
            f' font-family="{_FONTS}" font-size="16.4">',
            f"<style>path{{shape-rendering:crispEdges}}text{{white-space:pre}}{style}</style>",
            f'<rect x="{0.5 - _MARGIN}" y="{0.5 - _MARGIN}" width="{width - 1}" height="{height - 1}" rx="8"'
            f' fill="{background}" stroke="#8886"/>',
            content,
            "</svg>\n",
        ]
    )
