"""A text as several tokenizers encode it: each line once for each of them, one below the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from bpe_core.editing.aligned_text import FollowedText
from bpe_core.editing.spans import Span
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.pictures.colors import choose_colors
from bpe_core.pictures.picture import Chip, shown
from bpe_core.plurals import counted
from bpe_core.utf8 import utf8
from bpe_core.visible import visible


@dataclass(frozen=True, slots=True)
class Lanes:
    """A text under several tokenizers, ready to be drawn."""

    titles: tuple[str, ...]
    """The name of each tokenizer; safe to show."""
    summaries: tuple[str, ...]
    """The tokens, bytes per token and difference to the first of each, in one line."""
    lines: tuple[tuple[tuple[Chip, ...], ...], ...]
    """For each line of the text and each tokenizer the tokens, of which each `Chip.lines` has one element.

    A line feed is the ↵ at the end of its line. What a lossy pattern drops is a chip without ids, its color -1; a token
    that has no characters of the text, as the end of a word, is not seen.
    """

    @classmethod
    def of(cls, texts: Sequence[tuple[str, FollowedText]], start: int = 0, end: int | None = None) -> Self:
        """The characters from `start` up to `end` (None: all) of one text; for each tokenizer a title and the text."""
        if end is None:
            end = texts[0][1].n_characters
        lanes, summaries, first = list[list[list[Chip]]](), list[str](), set[object]()
        n_bytes = len(utf8(texts[0][1].between(start, end)))
        n_first = 0
        for number, (_, text) in enumerate(texts):
            spans = text.spans(start, end)
            shapes = [_shape(span, text) for span in spans]
            lanes.append(_lines(_chips(text, spans, start, end, [number > 0 and shape in first for shape in shapes])))
            n_tokens = sum(len(span.ids) for span in spans)
            if number == 0:
                first, n_first = set(shapes), n_tokens
            summaries.append(_summary(n_tokens, n_bytes, n_first if number else None))
        lines = tuple(tuple(map(tuple, line)) for line in zip(*lanes, strict=True))
        return cls(tuple(visible(title) for title, _ in texts), tuple(summaries), lines)


def _shape(span: Span, text: FollowedText) -> object:
    """What two spans have in common whose tokens have the same borders, also where these share a character."""
    if len(span.ids) == 1:
        return span[:2]
    return *span[:2], *(len(text.tokenizer.token_bytes(token)) for token in span.ids)


def _chips(text: FollowedText, spans: Sequence[Span], start: int, end: int, alike: Sequence[bool]) -> Iterator[Chip]:
    at = start
    for span, color, is_alike in zip(spans, choose_colors(spans), alike, strict=True):
        if at < span.start:
            yield Chip((shown(text.between(at, span.start)),), (), -1, b"")
        at = min(span.end, end)
        data = b"".join(map(text.tokenizer.token_bytes, span.ids))
        yield Chip((shown(text.between(max(span.start, start), at)),), span.ids, color, data, is_alike)
    if at < end:
        yield Chip((shown(text.between(at, end)),), (), -1, b"")


def _lines(chips: Iterator[Chip]) -> list[list[Chip]]:
    """The chips of each line; one that holds line feeds is in several."""
    lines: list[list[Chip]] = [[]]
    for chip in chips:
        *whole, rest = chip.lines[0].split("\n")
        for part in whole:
            lines[-1].append(chip._replace(lines=(part + "↵",)))
            lines.append([])
        if rest:
            lines[-1].append(chip._replace(lines=(rest,)))
    return lines if lines[-1] or len(lines) == 1 else lines[:-1]


def _summary(n_tokens: int, n_bytes: int, n_first: int | None) -> str:
    told = f"{counted(n_tokens, 'token')}, {bytes_per_token(n_bytes, n_tokens):.2f} bytes per token"
    if not n_first:
        return f"{told}, {counted(n_bytes, 'byte')}"
    grown = n_tokens - n_first
    return f"{told}, {grown:+,} tokens ({100 * grown / n_first:+.1f} %)".replace("-", "−")
