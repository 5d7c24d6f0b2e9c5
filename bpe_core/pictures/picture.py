"""What all pictures of a text show: its tokens in order, each with its color, its ids and what can be seen of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from bpe_core.editing.aligned_text import FollowedText, followed
from bpe_core.metrics.compression import bytes_per_token
from bpe_core.pictures.colors import choose_colors
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import CONTROLS, token_label, visible

FIRST_CHARACTERS: Final = 4000
"""Of a long text that a notebook shows."""

_LINE_FEED = 0x0A
_GLYPHS = {code: glyph for code, glyph in CONTROLS.items() if code != _LINE_FEED} | {0x09: "⇥"}


class Chip(NamedTuple):
    """A token of a text, or all tokens of a character that is made of several."""

    lines: tuple[str, ...]
    """What is seen of it, safe to show, cut after each line feed, which is seen as ↵."""
    ids: tuple[int, ...]
    """More than one only if some character is made of several."""
    color: int
    """Number of one of `colors.HUES`; never that of the chip before it."""
    data: bytes
    """Its bytes."""

    @property
    def label(self) -> str:
        """Its ids in decimal, and its bytes in hexadecimal."""
        return f"{' '.join(map(str, self.ids))}  ({self.data.hex(' ')})"


@dataclass(frozen=True, slots=True)
class Picture:
    """A text under one tokenizer."""

    title: str
    """What the tokenizer is called; safe to show."""
    summary: str
    """How many tokens and bytes, and the ratio."""
    chips: tuple[Chip, ...]
    """In the order of the text."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str, title: str = "") -> Self:
        """The picture of a text. Linear in it. Raises what `followed` does."""
        return cls.of_followed(followed(tokenizer, text), title)

    @classmethod
    def of_followed(cls, text: FollowedText, title: str = "", most: int | None = None) -> Self:
        """The picture of a text that is being edited, of at most its `most` first characters."""
        tokenizer = text.tokenizer
        spans = text.spans(0, text.n_characters if most is None else min(most, text.n_characters))
        chips = []
        for span, color in zip(spans, choose_colors(spans), strict=True):
            data = b"".join(map(tokenizer.token_bytes, span.ids))
            shown = text.between(span.start, span.end).translate(_GLYPHS) or token_label(data)
            chips.append(Chip(tuple(_lines(shown)), span.ids, color, data))
        n_bytes = len(text.text.encode())
        n_tokens = text.n_tokens
        summary = f"{counted(n_tokens, 'token')}, {counted(n_bytes, 'byte')}, "
        return cls(
            visible(title or tokenizer.name or tokenizer.pattern),
            f"{summary}{bytes_per_token(n_bytes, n_tokens):.2f} bytes per token",
            tuple(chips),
        )


def _lines(shown: str) -> Iterator[str]:
    """The parts of a text between its line feeds, each of which stays seen at the end of its part."""
    *whole, rest = shown.split("\n")
    for line in whole:
        yield line + "↵"
    yield rest
