"""Pictures of a text as its tokens, for a terminal and as HTML, SVG and Markdown.

A text may be shown under several tokenizers, one below the other. Pages and drawings fit dark and
light screens, and load nothing from elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from zlib import crc32

from bpe_core.live.change import Span
from bpe_core.live.live_text import LiveText
from bpe_core.metrics import ratio
from bpe_core.pictures import HUES, choose_colors
from bpe_core.utf8 import utf8
from bpe_core.visible import (
    CONTROLS,
    cells,
    code,
    counted,
    plain_markdown,
    token_label,
    visible,
)

if TYPE_CHECKING:
    from rich.text import Text

BORDER: Final = "│"
FIRST_CHARACTERS: Final = 4000
"""Maximum number of characters of a text that a notebook shows."""
_MOST_ROWS: Final = 40
"""Maximum number of rows of a table of tokens. It lists the most frequent tokens."""
_GLYPHS: Final = CONTROLS | {ord("\t"): "⇥", ord("\n"): "\n"}
"""Code point -> what is shown for it. Line feeds are kept, because they end lines."""
_TERMINAL_COLORS: Final = (111, 78, 179, 174, 176, 80)
"""The hues in the palette of 256 colors, mixed with white so that black text is legible."""
_GREYS: Final = ("d2d4d8", "c2c5ca")
"""The backgrounds of tokens with the same borders as under the first tokenizer."""
_PAGE_STYLE: Final = (
    "body { margin: 0; } "
    "body > .bpescope { box-sizing: border-box; min-height: 100vh; }"
)


class Chip(NamedTuple):
    """The part of a token on one line, or of several tokens that share a character."""

    text: str  # safe to show; ends with ↵ for a line feed
    ids: tuple[int, ...]
    """The ids: several only if they share a character; () for text that a lossy pattern drops."""
    color: int  # index in `HUES`, never that of the token before; -1 without ids
    data: bytes  # of the whole token or tokens
    is_alike: bool = False
    """Whether the first tokenizer has the same borders here; False under that one."""
    begins: bool = True  # whether the token begins with this part
    ends: bool = True  # whether the token ends with this part


class TextLanes(NamedTuple):
    """A text under one tokenizer or several, ready to be drawn."""

    titles: tuple[str, ...]  # the name of each tokenizer, safe to show
    summaries: tuple[str, ...]
    """A line for each tokenizer: its tokens, its bytes per token, and the difference from the first
    tokenizer."""
    lines: tuple[tuple[list[Chip], ...], ...]
    """For each line of the text, its tokens under each tokenizer. If there are several tokenizers,
    tokens without characters are left out."""

    @classmethod
    def of(
        cls,
        texts: Sequence[tuple[str, LiveText]],
        start: int = 0,
        end: int | None = None,
    ) -> Self:
        """Prepare a text, or a part of it.

        Args:
            texts: For each tokenizer, its name and the text, which is the same for all.
            start: Where the part begins, in code points.
            end: Where the part ends, in code points; None for the end of the text.
        """
        first_text = texts[0][1]
        if end is None:
            end = first_text.n_characters
        n_bytes = len(utf8(first_text.between(start, end)))
        lanes = list[list[list[Chip]]]()
        summaries = list[str]()
        first_shapes = set[object]()  # empty for the first tokenizer itself
        n_first = 0
        for _, text in texts:
            spans = text.spans(start, end)
            shapes = [_shape(span, text) for span in spans]
            are_alike = [shape in first_shapes for shape in shapes]
            chips = _chips(text, spans, start, end, are_alike)
            if len(texts) > 1:
                chips = (chip for chip in chips if chip.text)
            n_tokens = sum(len(span.ids) for span in spans)
            summaries.append(_summary(n_tokens, n_bytes, n_first))
            if not lanes:
                first_shapes = set(shapes)
                n_first = n_tokens
            lanes.append(_lines(chips))
        return cls(
            titles=tuple(visible(title) for title, _ in texts),
            summaries=tuple(summaries),
            lines=tuple(zip(*lanes, strict=True)),
        )


def _shape(span: Span, text: LiveText) -> object:
    """Return a value that is equal for spans with equal borders, even inside a character."""
    lengths = list[int]()
    if len(span.ids) > 1:
        lengths += (len(text.tokenizer.token_bytes(token)) for token in span.ids)
    return span.start, span.end, tuple(lengths)


def _summary(n_tokens: int, n_bytes: int, n_first: int) -> str:
    """Summarize a lane. `n_first` is the number of tokens of the first lane, or 0 for the first lane."""
    compression = f"{ratio(n_bytes, n_tokens):.2f} bytes per token"
    size = counted(n_bytes, "byte")
    if n_first:
        more = n_tokens - n_first
        size = f"{more:+,} tokens ({100 * more / n_first:+.1f} %)".replace("-", "−")
    return f"{counted(n_tokens, 'token')}, {compression}, {size}"


def _chips(
    text: LiveText,
    spans: Sequence[Span],
    start: int,
    end: int,
    are_alike: Sequence[bool],
) -> Iterator[Chip]:
    """Yield a chip for each span, and for each stretch that a lossy pattern drops."""
    shown = text.between(start, end).translate(_GLYPHS)
    position = start
    for span, color, is_alike in zip(
        spans, choose_colors(spans), are_alike, strict=True
    ):
        if position < span.start:
            yield Chip(shown[position - start : span.start - start], (), -1, b"")
        first = max(span.start, start)
        position = min(span.end, end)
        yield Chip(
            text=shown[first - start : position - start],
            ids=span.ids,
            color=color,
            data=b"".join(map(text.tokenizer.token_bytes, span.ids)),
            is_alike=is_alike,
        )
    if position < end:
        yield Chip(shown[position - start :], (), -1, b"")


def _lines(chips: Iterable[Chip]) -> list[list[Chip]]:
    """Return the chips of each line. A chip with line feeds is divided.

    A chip without characters gets a label of its bytes as its text.
    """
    lines: list[list[Chip]] = [[]]
    for chip in chips:
        if chip.text and "\n" not in chip.text:
            lines[-1].append(chip)
            continue
        text = chip.text or token_label(chip.data)
        parts = text.replace("\n", "↵\n").split("\n")
        if parts[-1] == "":
            parts.pop()
        for number, part in enumerate(parts):
            is_first = number == 0
            is_last = number == len(parts) - 1
            lines[-1].append(chip._replace(text=part, begins=is_first, ends=is_last))
            if not is_last or text.endswith("\n"):
                lines.append([])
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


def in_terminal(lanes: TextLanes, colors: int, *, with_ids: bool = False) -> str:
    """Return the text under a single tokenizer, for a terminal.

    Args:
        lanes: The text under one tokenizer.
        colors: How many colors the terminal has. More than 256 are 24-bit colors. With 0, tokens
            have borders between them instead of colors.
        with_ids: Whether to write the ids of each token after it.
    """
    if colors > 256:
        pastels = [_pastel(hue, 0.5) for hue in range(len(HUES))]
        backgrounds = [f"2;{red};{green};{blue}" for red, green, blue in pastels]
    else:
        backgrounds = [f"5;{number}" for number in _TERMINAL_COLORS]
    rows = []
    for number, (chips,) in enumerate(lanes.lines):
        if colors:
            row = "".join(_colored(chip, backgrounds, with_ids) for chip in chips)
        else:
            row = _bordered(chips, with_ids, is_first=number == 0)
        rows.append(row)
    return "\n".join(rows)


def _colored(chip: Chip, backgrounds: Sequence[str], with_ids: bool) -> str:
    if not chip.ids:
        return chip.text
    colored = f"\x1b[38;5;16;48;{backgrounds[chip.color]}m{chip.text}\x1b[0m"
    if with_ids and chip.ends:
        colored += f"\x1b[2m{_ids(chip)}\x1b[0m "
    return colored


def _bordered(chips: Iterable[Chip], with_ids: bool, *, is_first: bool) -> str:
    """Write the tokens of a line, with a border before each except the first of the text."""
    parts = []
    for number, chip in enumerate(chips):
        begins_text = is_first and number == 0
        if chip.begins and not begins_text:
            parts.append(BORDER)
        parts.append(chip.text)
        if with_ids:
            parts.append(_ids(chip))
    return "".join(parts)


def _ids(chip: Chip) -> str:
    """Write the ids of a token after its last part."""
    if not chip.ends or not chip.ids:
        return ""
    return f"⟨{' '.join(map(str, chip.ids))}⟩"


def _pastel(hue: int, white: float) -> bytes:
    """Return red, green and blue of a hue, mixed with a share of white from 0 to 1."""
    channels = bytes.fromhex(HUES[hue].removeprefix("#"))
    return bytes(round(channel + (255 - channel) * white) for channel in channels)


def colors_of(environment: Mapping[str, str], is_terminal: bool) -> int:
    """Return how many colors to use.

    Args:
        environment: The environment variables. NO_COLOR (no-color.org) and TERM=dumb ask for no
            colors, COLORTERM for 24-bit colors.
        is_terminal: Whether the output is a terminal.

    Returns:
        0 for no colors, 256, or 1 << 24.
    """
    if not is_terminal:
        return 0
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return 0
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return 1 << 24
    return 256


def html_page(title: str, style: str, body: str) -> str:
    """Return an HTML document with a title in plain text, a style sheet, and a body in HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n"
        f"</head>\n<body>\n{body}</body>\n</html>\n"
    )


def page(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """Return the pictures, one below the other, as a complete HTML document.

    Args:
        pictures: The texts.
        with_ids: Whether to show the ids of each token as a subscript.
    """
    title = " · ".join(title for picture in pictures for title in picture.titles)
    return html_page(title, _PAGE_STYLE, fragment(pictures, with_ids=with_ids))


def fragment(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """Return the pictures, one below the other, as a `div` that contains its style sheet.

    A tooltip shows the ids and bytes of each token. Under several tokenizers, tokens with the same
    borders as under the first one are pale, so that others stand out.

    Args:
        pictures: The texts.
        with_ids: Whether to show the ids of each token as a subscript.
    """
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    for number, hue in enumerate(HUES):
        style += f".bpescope .c{number} {{ --hue: {hue}; }}\n"
    parts = "".join(part for picture in pictures for part in _html(picture, with_ids))
    return f'<div class="bpescope"><style>\n{style}</style>\n{parts}</div>\n'


def live_text_fragment(text: LiveText) -> str:
    """Return the tokens of the first characters of a text as HTML, for a notebook."""
    title = text.tokenizer.name or text.tokenizer.pattern
    if text.n_characters > FIRST_CHARACTERS:
        title += f", the first {FIRST_CHARACTERS:,} of {text.n_characters:,} characters"
    end = min(text.n_characters, FIRST_CHARACTERS)
    return fragment([TextLanes.of([(title, text)], 0, end)])


def _html(picture: TextLanes, with_ids: bool) -> Iterator[str]:
    for title, summary in zip(picture.titles, picture.summaries, strict=True):
        yield f"<h2>{escape(title)}</h2>\n<p>{escape(summary)}</p>\n"
    lines = [
        ["".join(_span(chip, with_ids) for chip in chips) for chips in line]
        for line in picture.lines
    ]
    if len(picture.titles) == 1:
        text = "\n".join(spans for (spans,) in lines)
        yield f'<pre dir="auto">{text}</pre>\n'
        return
    for line in lines:
        yield '<div class="line" dir="ltr">\n'
        for title, spans in zip(picture.titles, line, strict=True):
            yield f'<b>{escape(title)}</b><pre dir="auto">{spans}</pre>\n'
        yield "</div>\n"


def _span(chip: Chip, with_ids: bool) -> str:
    text = escape(chip.text)
    if not chip.ids:
        return text
    ids = " ".join(map(str, chip.ids))
    classes = f"c{chip.color}"
    if chip.is_alike:
        classes += " a"
    tooltip = f"{ids}  ({chip.data.hex(' ')})"
    span = f'<span class="{classes}" title="{tooltip}">{text}</span>'
    if with_ids and chip.ends:
        span += f"<sub>{ids}</sub>"
    return span


def drawing(pictures: Sequence[TextLanes], columns: int = 96) -> str:
    """Return the pictures, one below the other, as one SVG document in a monospaced font.

    Under several tokenizers, tokens with the same borders as under the first one are grey, so that
    others stand out.

    Args:
        pictures: The texts.
        columns: The number of cells at which lines are wrapped.
    """
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    out = StringIO()
    console = Console(
        record=True,
        file=out,
        width=columns,
        color_system="truecolor",
        force_terminal=True,
    )
    for number, picture in enumerate(pictures):
        if number > 0:
            console.print(Text(), soft_wrap=True)
        for row in _rows(picture, columns):
            console.print(row, soft_wrap=True)
    # Text that is not a token is grey, which is legible on a light and on a dark page.
    grey = (0x80, 0x88, 0x94)
    white = (255, 255, 255)
    theme = TerminalTheme(white, grey, [grey] * 8, [grey] * 8)
    template = Path(__file__).with_suffix(".svg.template").read_text("utf-8")
    # Style rules need a name of their own, because one page may contain several drawings.
    name = f"p{crc32(out.getvalue().encode())}"
    return console.export_svg(
        title="", theme=theme, code_format=template, unique_id=name
    )


def _rows(picture: TextLanes, columns: int) -> "Iterator[Text]":
    """Yield the title and summary of each lane, then the rows of the text.

    If there are several lanes, their rows alternate. The title is in front of the first row of each.
    """
    from rich.text import Text

    is_single = len(picture.titles) == 1
    margin = 0
    if not is_single:
        margin = max(map(cells, picture.titles)) + 2
    for title, summary in zip(picture.titles, picture.summaries, strict=True):
        gap = " " * max(2, margin - cells(title))
        yield from _wrap(Text.assemble((title, "bold"), gap, summary), columns)
    if not is_single:
        yield Text()
    columns_of_text = max(columns - margin, 2)
    for line in picture.lines:
        lanes = list[list[Text]]()
        for chips in line:
            styled = [(chip.text, _rich_style(chip)) for chip in chips]
            lanes.append(_wrap(Text.assemble(*styled), columns_of_text))
        heads = [" " * margin for _ in lanes]
        if not is_single:
            heads = [title + " " * (margin - cells(title)) for title in picture.titles]
        for rows_of_lanes in zip_longest(*lanes, fillvalue=Text()):
            for head, row in zip(heads, rows_of_lanes, strict=True):
                yield Text(head) + row
            heads = [" " * margin for _ in lanes]


def _wrap(text: "Text", columns: int) -> "list[Text]":
    """Divide a text into rows of at most `columns` cells."""
    row_starts = list[int]()
    n_free = columns
    for offset, character in enumerate(text.plain):
        n_free -= cells(character)
        if n_free < 0:
            row_starts.append(offset)
            n_free = columns - cells(character)
    return list(text.divide(row_starts))


def _rich_style(chip: Chip) -> str:
    if not chip.ids:
        return ""
    background = _pastel(chip.color, 0.6).hex()
    if chip.is_alike:
        background = _GREYS[chip.color % 2]
    return f"#1c1e21 on #{background}"


def document(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """Return the pictures, one below the other, as Markdown.

    The text is in a code block, with borders between its tokens. Under a single tokenizer, a table
    of its tokens follows.

    Args:
        pictures: The texts.
        with_ids: Whether to write the ids of each token after it.
    """
    return "\n".join(_markdown(picture, with_ids) for picture in pictures)


def _markdown(picture: TextLanes, with_ids: bool) -> str:
    heading = " · ".join(map(plain_markdown, picture.titles))
    lines = [f"### {heading}", ""]
    if len(picture.titles) == 1:
        lines.append(picture.summaries[0])
        text = in_terminal(picture, 0, with_ids=with_ids)
        table = ["", _token_table(picture)]
    else:
        lines.append(_summary_table(picture))
        text = _bordered_lanes(picture, with_ids)
        table = []
    # The fence is longer than any run of backticks in the text.
    runs = re.findall("`+", text)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    lines += ["", f"{fence}text", text, fence]
    lines += table
    return "\n".join(lines) + "\n"


def _token_table(picture: TextLanes) -> str:
    """Return a table of the most frequent tokens under a single tokenizer."""
    counts = Counter[tuple[tuple[int, ...], bytes]]()
    for (chips,) in picture.lines:
        counts.update(
            (chip.ids, chip.data) for chip in chips if chip.ids and chip.begins
        )
    lines = ["| id | token | bytes | times |", "|---:|---|---|---:|"]
    for (ids, data), n in counts.most_common(_MOST_ROWS):
        token = code(token_label(data))
        lines.append(
            f"| {' '.join(map(str, ids))} | {token} | `{data.hex(' ')}` | {n:,} |"
        )
    if len(counts) > _MOST_ROWS:
        lines.append(f"\nand {len(counts) - _MOST_ROWS:,} more")
    return "\n".join(lines)


def _summary_table(picture: TextLanes) -> str:
    lines = ["| tokenizer | the text |", "|---|---|"]
    for title, summary in zip(picture.titles, picture.summaries, strict=True):
        lines.append(f"| {code(title)} | {summary} |")
    return "\n".join(lines)


def _bordered_lanes(picture: TextLanes, with_ids: bool) -> str:
    """Return each line under each tokenizer, with the name of the tokenizer before it."""
    width = max(map(cells, picture.titles)) + 2
    rows = []
    for line in picture.lines:
        for title, chips in zip(picture.titles, line, strict=True):
            space = " " * (width - cells(title))
            bordered = _bordered(chips, with_ids, is_first=True)
            rows.append(f"{title}{space}{bordered}".rstrip())
        rows.append("")
    return "\n".join(rows).rstrip()
