"""What a picture shows: a text line by line, as the tokens of one tokenizer or of several, one below the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from bpe_core.live.live_text import LiveText
from bpe_core.live.spans import Span
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.pictures.colors import choose_colors
from bpe_core.plurals import counted
from bpe_core.utf8 import utf8
from bpe_core.visible import CONTROLS, token_label, visible

FIRST_CHARACTERS: Final = 4000
"""Characters of a long text that a notebook shows."""

_GLYPHS: Final = {code: glyph for code, glyph in CONTROLS.items() if code != 0x0A} | {0x09: "⇥"}


class Chip(NamedTuple):
    """The part of a token on one line, or of several tokens that share a character."""

    text: str
    """Safe to show; a line feed is the ↵ at its end."""
    ids: tuple[int, ...]
    """Its id; several only if they share a character, none for what a lossy pattern drops."""
    color: int
    """Index of its color in `colors.HUES`, never that of the token before it; -1 for what is no token."""
    data: bytes
    """The bytes of the whole token or tokens."""
    is_alike: bool = False
    """Under a further tokenizer: whether the first has a token of the same borders here."""
    begins: bool = True
    """Whether the token begins with this part."""
    ends: bool = True
    """Whether it ends with it; behind this part ids are shown."""

    @property
    def label(self) -> str:
        """Its ids in decimal, and its bytes in hexadecimal."""
        return f"{' '.join(map(str, self.ids))}  ({self.data.hex(' ')})"


@dataclass(frozen=True, slots=True)
class TextLanes:
    """A text under one tokenizer or several, ready to be drawn."""

    titles: tuple[str, ...]
    """The name of each tokenizer; safe to show."""
    summaries: tuple[str, ...]
    """The tokens, bytes per token and difference to the first of each, in one line."""
    lines: tuple[tuple[tuple[Chip, ...], ...], ...]
    """For each line of the text and each tokenizer its tokens. A token that has no characters of the text, as the end
    of a word, is not seen under several tokenizers."""

    @classmethod
    def of(cls, texts: Sequence[tuple[str, LiveText]], start: int = 0, end: int | None = None) -> Self:
        """The characters from `start` up to `end` (None: all) of one text; for each tokenizer a title and the text."""
        if end is None:
            end = texts[0][1].n_characters
        lanes, summaries, first = list[list[list[Chip]]](), list[str](), set[object]()
        n_bytes = len(utf8(texts[0][1].between(start, end)))
        n_first = 0
        for number, (_, text) in enumerate(texts):
            spans = text.spans(start, end)
            shapes = [_shape(span, text) for span in spans]
            chips = _chips(text, spans, start, end, [number > 0 and shape in first for shape in shapes])
            lanes.append(_lines(chip for chip in chips if chip.text or len(texts) == 1))
            n_tokens = sum(len(span.ids) for span in spans)
            if number == 0:
                first, n_first = set(shapes), n_tokens
            summaries.append(_summary(n_tokens, n_bytes, n_first if number else None))
        lines = tuple(tuple(map(tuple, line)) for line in zip(*lanes, strict=True))
        return cls(tuple(visible(title) for title, _ in texts), tuple(summaries), lines)


def _shape(span: Span, text: LiveText) -> object:
    """What two spans have in common whose tokens have the same borders, also where these share a character."""
    if len(span.ids) == 1:
        return span[:2]
    return *span[:2], *(len(text.tokenizer.token_bytes(token)) for token in span.ids)


def _chips(text: LiveText, spans: Sequence[Span], start: int, end: int, alike: Sequence[bool]) -> Iterator[Chip]:
    at = start
    for span, color, is_alike in zip(spans, choose_colors(spans), alike, strict=True):
        if at < span.start:
            yield Chip(text.between(at, span.start).translate(_GLYPHS), (), -1, b"")
        at = min(span.end, end)
        data = b"".join(map(text.tokenizer.token_bytes, span.ids))
        yield Chip(text.between(max(span.start, start), at).translate(_GLYPHS), span.ids, color, data, is_alike)
    if at < end:
        yield Chip(text.between(at, end).translate(_GLYPHS), (), -1, b"")


def _lines(chips: Iterator[Chip]) -> list[list[Chip]]:
    """The chips of each line; one that holds line feeds is in several, one without characters has its bytes as text."""
    lines: list[list[Chip]] = [[]]
    for chip in chips:
        if "\n" not in chip.text:
            lines[-1].append(chip if chip.text else chip._replace(text=token_label(chip.data)))
            continue
        *whole, rest = chip.text.split("\n")
        parts = [f"{part}↵" for part in whole] + ([rest] if rest else [])
        for number, part in enumerate(parts):
            lines[-1].append(chip._replace(text=part, begins=number == 0, ends=number == len(parts) - 1))
            if number < len(whole):
                lines.append([])
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _summary(n_tokens: int, n_bytes: int, n_first: int | None) -> str:
    amounts = f"{counted(n_tokens, 'token')}, {bytes_per_token(n_bytes, n_tokens):.2f} bytes per token"
    if not n_first:
        return f"{amounts}, {counted(n_bytes, 'byte')}"
    grown = n_tokens - n_first
    return f"{amounts}, {grown:+,} tokens ({100 * grown / n_first:+.1f} %)".replace("-", "−")
