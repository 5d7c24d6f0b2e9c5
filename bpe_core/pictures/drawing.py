"""Pictures of a text as the tokens of one tokenizer or of several, one below the other: for a terminal, as HTML, SVG
and Markdown; pages and drawings are for dark and light, and nothing in them is loaded from elsewhere."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from io import StringIO
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
FIRST_CHARACTERS: Final = 4000  # of a long text that a notebook shows
_ROWS: Final = 40  # of a table of tokens at most; the most frequent are listed
_GLYPHS: Final = {code: glyph for code, glyph in CONTROLS.items() if code != 0x0A} | {
    0x09: "⇥"
}


class Chip(NamedTuple):
    """The part of a token on one line, or of several tokens that share a character."""

    text: str  # safe to show; a line feed is the ↵ at its end
    ids: tuple[
        int, ...
    ]  # several only if they share a character, none for what a lossy pattern drops
    color: int  # index in `HUES`, never that of the token before it; -1 for what is no token
    data: bytes  # of the whole token or tokens
    is_alike: bool = False  # under a further tokenizer: whether the first has a token of the same borders here
    begins: bool = True  # whether the token begins with this part
    ends: bool = True  # whether it ends with it; behind that part ids are shown


class TextLanes(NamedTuple):
    """A text under one tokenizer or several, ready to be drawn."""

    titles: tuple[str, ...]  # the name of each tokenizer; safe to show
    summaries: tuple[
        str, ...
    ]  # the tokens, bytes per token and difference to the first of each, in one line
    lines: tuple[tuple[list[Chip], ...], ...]
    """The tokens of each line under each tokenizer; of several without those that have no characters of the text."""

    @classmethod
    def of(
        cls,
        texts: Sequence[tuple[str, LiveText]],
        start: int = 0,
        end: int | None = None,
    ) -> Self:
        """The characters from `start` up to `end` (None: all) of one text; for each tokenizer a title and the text."""
        text = texts[0][1]
        end = text.n_characters if end is None else end
        n_bytes = len(utf8(text.between(start, end)))
        lanes, summaries, first, n_first = (
            list[list[list[Chip]]](),
            list[str](),
            set[object](),
            0,
        )
        for _, text in texts:
            spans = text.spans(start, end)
            shapes = [_shape(span, text) for span in spans]
            chips = _chips(
                text, spans, start, end, [shape in first for shape in shapes]
            )
            lanes.append(_lines(chip for chip in chips if chip.text or len(texts) == 1))
            n = sum(len(span.ids) for span in spans)
            last = counted(n_bytes, "byte")
            if n_first:
                last = f"{n - n_first:+,} tokens ({100 * (n - n_first) / n_first:+.1f} %)".replace(
                    "-", "−"
                )
            summaries.append(
                f"{counted(n, 'token')}, {ratio(n_bytes, n):.2f} bytes per token, {last}"
            )
            if len(lanes) == 1:
                first, n_first = set(shapes), n
        return cls(
            tuple(visible(title) for title, _ in texts),
            tuple(summaries),
            tuple(zip(*lanes, strict=True)),
        )


def _shape(span: Span, text: LiveText) -> object:
    """What two spans have in common whose tokens have the same borders, also where these share a character."""
    return *span[:2], *(
        len(text.tokenizer.token_bytes(token))
        for token in span.ids
        if len(span.ids) > 1
    )


def _chips(
    text: LiveText, spans: Sequence[Span], start: int, end: int, alike: Sequence[bool]
) -> Iterator[Chip]:
    whole = text.between(
        start, end
    )  # once: a text of a megabyte is asked for its characters slowly
    at = start
    for span, color, is_alike in zip(spans, choose_colors(spans), alike, strict=True):
        if at < span.start:
            yield Chip(
                whole[at - start : span.start - start].translate(_GLYPHS), (), -1, b""
            )
        first, at = max(span.start, start) - start, min(span.end, end)
        data = b"".join(map(text.tokenizer.token_bytes, span.ids))
        yield Chip(
            whole[first : at - start].translate(_GLYPHS),
            span.ids,
            color,
            data,
            is_alike,
        )
    if at < end:
        yield Chip(whole[at - start :].translate(_GLYPHS), (), -1, b"")


def _lines(chips: Iterator[Chip]) -> list[list[Chip]]:
    """The chips of each line; one that holds line feeds is in several, one without characters has its bytes as text."""
    lines: list[list[Chip]] = [[]]
    for chip in chips:
        if chip.text and "\n" not in chip.text:
            lines[-1].append(chip)
            continue
        *whole, rest = (chip.text or token_label(chip.data)).split("\n")
        parts = [f"{part}↵" for part in whole] + [rest] * bool(rest)
        for number, part in enumerate(parts):
            lines[-1].append(
                chip._replace(
                    text=part, begins=number == 0, ends=number == len(parts) - 1
                )
            )
            if number < len(whole):
                lines.append([])
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


_OF_256: Final = (
    111,
    78,
    179,
    174,
    176,
    80,
)  # the hues mixed with white, so that black text is legible


def in_terminal(lanes: TextLanes, colors: int, *, with_ids: bool = False) -> str:
    """The text of one lane, its tokens colored for a terminal of `colors` colors, 24-bit ones above 256; with borders
    between them if 0. `with_ids` writes the ids of each token after it."""
    if not colors:
        return "\n".join(
            _bordered(chips, with_ids, is_first=not row)
            for row, (chips,) in enumerate(lanes.lines)
        )
    backgrounds = [f"5;{number}" for number in _OF_256]
    if colors > 256:
        backgrounds = [
            "2;{};{};{}".format(*_pastel(color, 0.5)) for color in range(len(HUES))
        ]

    def colored(chip: Chip) -> str:
        ids = f"\x1b[2m{_ids(chip)}\x1b[0m " if with_ids and chip.ends else ""
        return (
            f"\x1b[38;5;16;48;{backgrounds[chip.color]}m{chip.text}\x1b[0m{ids}"
            if chip.ids
            else chip.text
        )

    return "\n".join("".join(map(colored, chips)) for (chips,) in lanes.lines)


def _bordered(chips: Iterable[Chip], with_ids: bool, *, is_first: bool) -> str:
    """The tokens of a line, a border before each but the first of the text."""
    return "".join(
        BORDER * (chip.begins and not (is_first and number == 0))
        + chip.text
        + _ids(chip) * with_ids
        for number, chip in enumerate(chips)
    )


def _ids(chip: Chip) -> str:
    return f"⟨{' '.join(map(str, chip.ids))}⟩" if chip.ends and chip.ids else ""


def _pastel(color: int, white: float) -> bytes:
    """Red, green and blue of a hue that is mixed with so much white, from 0 to 1."""
    return bytes(
        round(channel + (255 - channel) * white)
        for channel in bytes.fromhex(HUES[color].removeprefix("#"))
    )


def colors_of(environment: Mapping[str, str], is_terminal: bool) -> int:
    """How many colors to use, by the environment variables: 0 for what is no terminal, with NO_COLOR (no-color.org) and
    with TERM=dumb; 1 << 24 if COLORTERM says so; else 256."""
    has_none = (
        not is_terminal
        or environment.get("NO_COLOR")
        or environment.get("TERM") == "dumb"
    )
    return (
        0
        if has_none
        else 1 << 24
        if environment.get("COLORTERM") in ("truecolor", "24bit")
        else 256
    )


_PAGE: Final = "body { margin: 0; } body > .bpescope { box-sizing: border-box; min-height: 100vh; }"


def html_page(title: str, style: str, body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def page(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """The pictures below one another, as a complete HTML document; `with_ids` shows ids as subscripts."""
    title = " · ".join(title for picture in pictures for title in picture.titles)
    return html_page(title, _PAGE, fragment(pictures, with_ids=with_ids))


def fragment(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """The pictures below one another, as a `div` that contains its style sheet; `with_ids` shows ids as subscripts.

    Tokens have their ids and bytes as tooltips. Under several tokenizers those with the borders of the first one's step
    back, so that others stand out.
    """
    hues = "".join(
        f".bpescope .c{number} {{ --hue: {hue}; }}\n" for number, hue in enumerate(HUES)
    )
    parts = "".join(part for picture in pictures for part in _html(picture, with_ids))
    style = Path(__file__).with_suffix(".css").read_text("utf-8")
    return f'<div class="bpescope"><style>\n{style}{hues}</style>\n{parts}</div>\n'


def live_text_fragment(text: LiveText) -> str:
    """HTML of the tokens of the first characters of a text, as a notebook displays it."""
    title = text.tokenizer.name or text.tokenizer.pattern
    if text.n_characters > FIRST_CHARACTERS:
        title += f", the first {FIRST_CHARACTERS:,} of {text.n_characters:,} characters"
    return fragment(
        [TextLanes.of([(title, text)], 0, min(text.n_characters, FIRST_CHARACTERS))]
    )


def _html(picture: TextLanes, with_ids: bool) -> Iterator[str]:
    for title, summary in zip(picture.titles, picture.summaries, strict=True):
        yield f"<h2>{escape(title)}</h2>\n<p>{escape(summary)}</p>\n"
    lines = [
        ["".join(_span(chip, with_ids) for chip in chips) for chips in line]
        for line in picture.lines
    ]
    if len(picture.titles) == 1:
        yield '<pre dir="auto">{}</pre>\n'.format(
            "\n".join(spans for (spans,) in lines)
        )
        return
    for line in lines:
        yield '<div class="line" dir="ltr">\n'
        for title, spans in zip(picture.titles, line, strict=True):
            yield f'<b>{escape(title)}</b><pre dir="auto">{spans}</pre>\n'
        yield "</div>\n"


def _span(chip: Chip, with_ids: bool) -> str:
    ids = " ".join(map(str, chip.ids))
    kind = f'class="c{chip.color}{" a" * chip.is_alike}" title="{ids}  ({chip.data.hex(" ")})"'
    span = f"<span {kind}>{escape(chip.text)}</span>" + f"<sub>{ids}</sub>" * (
        with_ids and chip.ends
    )
    return span if ids else escape(chip.text)  # without ids: what a lossy pattern drops


def drawing(pictures: Sequence[TextLanes], columns: int = 96) -> str:
    """The pictures below one another as one SVG document, in any monospaced font; lines are wrapped at `columns` cells.

    Under several tokenizers those with the borders of the first one's are grey, so that others stand out.
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
        for row in (*[Text()] * (number > 0), *_rows(picture, columns)):
            console.print(row, soft_wrap=True)
    grey = (0x80, 0x88, 0x94)
    theme = TerminalTheme(
        (255, 255, 255), grey, [grey] * 8, [grey] * 8
    )  # text that is no token, on either page
    template = Path(__file__).with_suffix(".svg.template").read_text("utf-8")
    name = f"p{crc32(out.getvalue().encode())}"  # of style rules: several drawings may stand in one page
    return console.export_svg(
        title="", theme=theme, code_format=template, unique_id=name
    )


def _rows(picture: TextLanes, columns: int) -> "Iterator[Text]":
    """The title and summary of each lane; its rows, those of several lanes one of each after the other."""
    from rich.text import Text

    is_single = len(picture.titles) == 1
    margin = 0 if is_single else max(map(cells, picture.titles)) + 2
    for title, summary in zip(picture.titles, picture.summaries, strict=True):
        yield from _wrapped(
            Text.assemble(
                (title, "bold"), " " * max(2, margin - cells(title)), summary
            ),
            columns,
        )
    if not is_single:
        yield Text()
    for line in picture.lines:
        texts = [
            Text.assemble(*((chip.text, _rich_style(chip)) for chip in chips))
            for chips in line
        ]
        lanes = [_wrapped(text, max(columns - margin, 2)) for text in texts]
        for place in range(max(map(len, lanes))):
            for title, rows in zip(picture.titles, lanes, strict=True):
                head = "" if is_single else title * (place == 0)
                row = rows[place] if place < len(rows) else Text()
                yield Text(head + " " * (margin - cells(head))) + row


def _wrapped(text: "Text", columns: int) -> "list[Text]":
    offsets, room = list[int](), columns
    for offset, character in enumerate(text.plain):
        room -= cells(character)
        if room < 0:
            offsets.append(offset)
            room = columns - cells(character)
    return list(text.divide(offsets))


def _rich_style(chip: Chip) -> str:
    if chip.color < 0:
        return ""
    hue = (
        ("d2d4d8", "c2c5ca")[chip.color % 2]
        if chip.is_alike
        else _pastel(chip.color, 0.6).hex()
    )
    return f"#1c1e21 on #{hue}"


def document(pictures: Sequence[TextLanes], *, with_ids: bool = False) -> str:
    """The pictures below one another as Markdown: the text with borders between its tokens in a code block, for one
    tokenizer with a table of its tokens; `with_ids` writes the ids of each token after it."""
    return "\n".join(_markdown(picture, with_ids) for picture in pictures)


def _markdown(picture: TextLanes, with_ids: bool) -> str:
    if len(picture.titles) == 1:
        head, body = [picture.summaries[0]], in_terminal(picture, 0, with_ids=with_ids)
        counts = Counter(
            (chip.ids, chip.data)
            for (chips,) in picture.lines
            for chip in chips
            if chip.begins
        )
        del counts[(), b""]  # what is no token
        tail = ["", "| id | token | bytes | times |", "|---:|---|---|---:|"]
        for (ids, data), n in counts.most_common(_ROWS):
            tail.append(
                f"| {' '.join(map(str, ids))} | {code(token_label(data))} | `{data.hex(' ')}` | {n:,} |"
            )
        tail += [f"\nand {len(counts) - _ROWS:,} more"] * (len(counts) > _ROWS)
    else:
        pairs = zip(picture.titles, picture.summaries, strict=True)
        head = [
            "| tokenizer | the text |",
            "|---|---|",
            *(f"| {code(title)} | {total} |" for title, total in pairs),
        ]
        width, rows, tail = max(map(cells, picture.titles)), list[str](), list[str]()
        for line in picture.lines:
            for title, chips in zip(picture.titles, line, strict=True):
                bordered = _bordered(chips, with_ids, is_first=True)
                rows.append(
                    f"{title}{' ' * (width - cells(title) + 2)}{bordered}".rstrip()
                )
            rows.append("")
        body = "\n".join(rows).rstrip()
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", body)), default=0))
    heading = " · ".join(map(plain_markdown, picture.titles))
    return "\n".join(
        [f"### {heading}", "", *head, "", f"{fence}text", body, fence, *tail, ""]
    )
