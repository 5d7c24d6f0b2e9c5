"""The contents of a picture: the tokens of a text in order, each with its text, color, ids and bytes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from bpe_core.editing.aligned_text import FollowedText, followed
from bpe_core.metrics.formulas import bytes_per_token
from bpe_core.pictures.colors import choose_colors
from bpe_core.plurals import counted
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import CONTROLS, token_label, visible

FIRST_CHARACTERS: Final = 4000
"""Characters of a long text that a notebook shows."""

_LINE_FEED = 0x0A
_GLYPHS = {code: glyph for code, glyph in CONTROLS.items() if code != _LINE_FEED} | {0x09: "⇥"}


class Chip(NamedTuple):
    """A token of a text, or several that share a character."""

    lines: tuple[str, ...]
    """Its text, safe to show, as lines; a line feed is shown as ↵ at the end of its line."""
    ids: tuple[int, ...]
    """Its id; several only if they share a character."""
    color: int
    """Index of its color in `colors.HUES`; never that of the chip before it."""
    data: bytes
    """The bytes of the token or tokens."""
    is_alike: bool = False
    """Under a further tokenizer: whether the first has a token of the same borders here."""

    @property
    def last_line(self) -> int:
        """The index of the last line that is not empty, behind which ids are shown: before the line feed that ends it.

        >>> Chip(("↵", ""), (198,), 0, b"\\n").last_line
        0
        """
        return max((place for place, line in enumerate(self.lines) if line), default=0)

    @property
    def label(self) -> str:
        """Its ids in decimal, and its bytes in hexadecimal."""
        return f"{' '.join(map(str, self.ids))}  ({self.data.hex(' ')})"


@dataclass(frozen=True, slots=True)
class Picture:
    """A text as one tokenizer encodes it, ready to be drawn."""

    title: str
    """The name of the tokenizer; safe to show."""
    summary: str
    """The numbers of tokens and bytes and their ratio, in one line."""
    chips: tuple[Chip, ...]
    """The tokens, in the order of the text."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, text: str, title: str = "") -> Self:
        """The picture of `text`; errors are those of `bpe_core.editing.aligned_text.followed`."""
        return cls.of_followed(followed(tokenizer, text), title)

    @classmethod
    def of_followed(cls, text: FollowedText, title: str = "", most: int | None = None) -> Self:
        """The picture of the first `most` characters (None: all) of a text being edited; the summary is of all."""
        tokenizer = text.tokenizer
        spans = text.spans(0, text.n_characters if most is None else min(most, text.n_characters))
        chips = []
        for span, color in zip(spans, choose_colors(spans), strict=True):
            data = b"".join(map(tokenizer.token_bytes, span.ids))
            part = shown(text.between(span.start, span.end)) or token_label(data)
            chips.append(Chip(tuple(_lines(part)), span.ids, color, data))
        n_bytes = len(text.text.encode())
        n_tokens = text.n_tokens
        summary = f"{counted(n_tokens, 'token')}, {counted(n_bytes, 'byte')}, "
        return cls(
            visible(title or tokenizer.name or tokenizer.pattern),
            f"{summary}{bytes_per_token(n_bytes, n_tokens):.2f} bytes per token",
            tuple(chips),
        )


def shown(text: str) -> str:
    """A text with a glyph for each control character but the line feed, as many characters as before."""
    return text.translate(_GLYPHS)


def _lines(shown: str) -> Iterator[str]:
    """The lines of a text, with ↵ for the line feed at the end of each but the last."""
    *whole, rest = shown.split("\n")
    for line in whole:
        yield line + "↵"
    yield rest
