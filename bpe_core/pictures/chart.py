"""The curves of one or several trainings as a chart in SVG: four panels against the size of the vocabulary."""

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

from bpe_core.metrics.training_curve import CurvePoint
from bpe_core.pictures.colors import HUES
from bpe_core.visible import shortened

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 380, 200, 64, 56, 64
"""Width and height of a panel, margins on the left and above, and space between panels, in pixels."""

MOST_POINTS: Final = 400
"""Points drawn of a curve; of a longer one every so many, and the last."""

Value = Callable[[CurvePoint], float | None]

_PANELS: Final[tuple[tuple[str, Value, bool], ...]] = (
    ("bytes per token", lambda point: point.bytes_per_token, False),
    ("tokens saved by a merge (log scale)", lambda point: point.saved or None, True),
    ("vocabulary use, %", lambda point: None if point.utilization is None else 100 * point.utilization, False),
    ("Rényi efficiency (order 2.5)", lambda point: point.renyi_efficiency, False),
)

_STYLE: Final = """
.p { fill: #ffffff } .g { stroke: #d8d8d8; stroke-width: 1 } .f { fill: none; stroke: #a0a0a0; stroke-width: 1 }
text { font: 12px sans-serif; fill: #303030 }
.h { font-weight: bold } .e { text-anchor: end } .m { text-anchor: middle }
polyline { fill: none; stroke-width: 1.6 }
@media (prefers-color-scheme: dark) {
.p { fill: #1a1a1a } .g { stroke: #383838 } .f { stroke: #606060 } text { fill: #d0d0d0 } }
"""


def chart(curves: Mapping[str, Sequence[CurvePoint]]) -> str:
    """One SVG document with the curves (name -> points), which lie over one another in each panel."""
    drawn = {name: _thinned(points) for name, points in curves.items()}
    sizes = [point.n_vocab for points in drawn.values() for point in points] or [0]
    body = [
        _text(_LEFT + number * 180, 24, shortened(name, 24), f'style="fill: {HUES[number % len(HUES)]}"')
        for number, name in enumerate(drawn)
    ]
    for number, (title, value, is_log) in enumerate(_PANELS):
        x = _LEFT + number % 2 * (_WIDTH + _LEFT)
        y = _TOP + number // 2 * (_HEIGHT + _GAP)
        body += _panel(x, y, title, drawn, value, is_log, (min(sizes), max(sizes)))
    width, height = 2 * (_WIDTH + _LEFT) + 24, _TOP + 2 * (_HEIGHT + _GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect width="100%" height="100%" class="p"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _panel(
    x: int,
    y: int,
    title: str,
    curves: Mapping[str, Sequence[CurvePoint]],
    value: Value,
    is_log: bool,
    sizes: tuple[int, int],
) -> list[str]:
    lines = {
        name: [
            (point.n_vocab, math.log10(at) if is_log else at) for point in points if (at := value(point)) is not None
        ]
        for name, points in curves.items()
    }
    heights = [at for line in lines.values() for _, at in line]
    out = [
        _text(x, y - 8, title, 'class="h"'),
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" class="f"/>',
    ]
    for size, place in zip(sizes, ("", 'class="e"'), strict=True):
        out.append(_text(x if size == sizes[0] else x + _WIDTH, y + _HEIGHT + 16, f"{size:,}", place))
    out.append(_text(x + _WIDTH // 2, y + _HEIGHT + 16, "tokens of the vocabulary", 'class="m"'))
    if not heights:
        return [*out, _text(x + _WIDTH // 2, y + _HEIGHT // 2, "not known", 'class="m"')]
    low, high = min(heights), max(heights)
    for at in (low, (low + high) / 2, high):
        level = _level(at, low, high, y)
        out.append(f'<line x1="{x}" y1="{level:.1f}" x2="{x + _WIDTH}" y2="{level:.1f}" class="g"/>')
        out.append(_text(x - 6, level + 4, _number(10**at if is_log else at), 'class="e"'))
    for number, line in enumerate(lines.values()):
        width = max(sizes[1] - sizes[0], 1)
        dots = " ".join(
            f"{x + (size - sizes[0]) * _WIDTH / width:.1f},{_level(at, low, high, y):.1f}" for size, at in line
        )
        out.append(f'<polyline points="{dots}" style="stroke: {HUES[number % len(HUES)]}"/>')
    return out


def _level(at: float, low: float, high: float, y: int) -> float:
    return y + _HEIGHT - (at - low) / (high - low or 1) * _HEIGHT


def _thinned(points: Sequence[CurvePoint]) -> list[CurvePoint]:
    every = max(1, math.ceil(len(points) / MOST_POINTS))
    return [*points[:-1:every], *points[-1:]]


def _text(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x}" y="{y:.1f}" {attributes}>{escape(text)}</text>'


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
