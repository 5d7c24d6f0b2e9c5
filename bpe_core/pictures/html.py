"""Pictures as HTML, a whole page or a fragment: without scripts and external files, for dark and light themes."""

from collections.abc import Sequence
from html import escape
from typing import Final

from bpe_core.pictures.colors import HUES
from bpe_core.pictures.lanes import Lanes
from bpe_core.pictures.picture import Chip, Picture
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import visible

_STYLE: Final = """\
.bpescope { --text: #1c1e21; --quiet: #5c6370; --page: #ffffff; color: var(--text); background: var(--page);
  font: 15px/1.7 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; padding: 1em 1.2em; }
.bpescope h2 { font: 600 1em system-ui, sans-serif; margin: 0 0 .1em; }
.bpescope h2 + p { font: .85em system-ui, sans-serif; color: var(--quiet); margin: 0 0 .6em; }
.bpescope pre { font: inherit; margin: 0 0 1.6em; white-space: pre-wrap; overflow-wrap: anywhere; }
.bpescope span { border-radius: 3px; padding: .12em 0; }
.bpescope .line { display: grid; grid-template-columns: max-content 1fr; gap: 0 1em; margin: 0 0 .4em; }
.bpescope .line pre { margin: 0; }
.bpescope .line b { font-weight: normal; color: var(--quiet); user-select: none; }
.bpescope .a { opacity: .5; }
.bpescope sub { color: var(--quiet); font-size: .65em; padding: 0 .35em 0 .1em; }
"""
_DARK: Final = ".bpescope { --text: #e4e6eb; --quiet: #9aa2af; --page: #15171a; }\n"
_PAGE: Final = "body { margin: 0; } body > .bpescope { box-sizing: border-box; min-height: 100vh; }"
"""Style rules of a whole page: the background of the pictures fills it."""


def _colors(share: float) -> str:
    """The style rules of the token backgrounds: each hue with the opacity `share`, from 0 to 1."""
    alpha = f"{round(share * 255):02x}"
    return "".join(f".bpescope .c{number} {{ background: {hue}{alpha}; }}\n" for number, hue in enumerate(HUES))


def style() -> str:
    """The style sheet of all pictures; dark or light by `prefers-color-scheme`."""
    return f"{_STYLE}{_colors(0.3)}@media (prefers-color-scheme: dark) {{\n{_DARK}{_colors(0.42)}}}\n"


def fragment(pictures: Sequence[Picture], *, with_ids: bool = False) -> str:
    """The pictures below one another, as a `div` that contains its style sheet; `with_ids` shows ids as subscripts."""
    parts = "".join(_part(picture, with_ids) for picture in pictures)
    return _framed(parts)


def _framed(parts: str) -> str:
    return f'<div class="bpescope"><style>\n{style()}</style>\n{parts}</div>\n'


def page(pictures: Sequence[Picture], *, with_ids: bool = False) -> str:
    """The pictures below one another, as a complete HTML document; `with_ids` shows ids as subscripts."""
    return _document(" · ".join(picture.title for picture in pictures), fragment(pictures, with_ids=with_ids))


def _document(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{_PAGE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def lanes_page(lanes: Lanes) -> str:
    """A text under several tokenizers, each line once for each, as a complete HTML document.

    Tokens of the borders that the first tokenizer's have step back, so that those that differ stand out.
    """
    heads = "".join(
        f"<h2>{escape(title)}</h2>\n<p>{escape(summary)}</p>\n"
        for title, summary in zip(lanes.titles, lanes.summaries, strict=True)
    )
    lines = "".join(
        '<div class="line" dir="ltr">\n'
        + "".join(
            f'<b>{escape(title)}</b><pre dir="auto">{"".join(_chip(chip, False) for chip in lane)}</pre>\n'
            for title, lane in zip(lanes.titles, line, strict=True)
        )
        + "</div>\n"
        for line in lanes.lines
    )
    return _document(" · ".join(lanes.titles), _framed(heads + lines))


def tokenizer_table(tokenizer: Tokenizer) -> str:
    """An HTML table of a tokenizer's name, size, pattern and special tokens, for notebooks."""
    rows = {
        "tokens": f"{tokenizer.n_vocab:,}",
        "merges": f"{tokenizer.step:,}",
        "pattern": visible(tokenizer.pattern) or "none",
        "special tokens": ", ".join(map(visible, tokenizer.special_tokens)) or "none",
    }
    body = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    title = escape(visible(tokenizer.name or "Tokenizer"))
    return f"<table><caption>{title}</caption>{body}</table>"


def _part(picture: Picture, with_ids: bool) -> str:
    chips = "".join(_chip(chip, with_ids) for chip in picture.chips)
    return f'<h2>{escape(picture.title)}</h2>\n<p>{escape(picture.summary)}</p>\n<pre dir="auto">{chips}</pre>\n'


def _chip(chip: Chip, with_ids: bool) -> str:
    """One `span` for each line of the chip, with its ids and bytes as a tooltip."""
    if not chip.ids:  # what a lossy pattern drops
        return escape("\n".join(chip.lines))
    told = f'class="c{chip.color}{" a" * chip.is_alike}" title="{escape(chip.label)}"'
    spans = [f"<span {told}>{escape(line)}</span>" if line else "" for line in chip.lines]
    if with_ids:
        spans[chip.last_line] += f"<sub>{' '.join(map(str, chip.ids))}</sub>"
    return "\n".join(spans)
