"""The pre-tokenizer steps that make pieces of a part of a text, with the place of each piece in that part."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bpe_core.patterns import Splitter
from bpe_core.vocabulary.symbols import meant, written


class Placed(NamedTuple):
    """A piece with its place in the part of the text that it was made from."""

    text: str
    """The piece."""
    start: int
    """Offset in that part, in code points, of its first character that is from there."""
    n_put: int = 0
    """How many characters at its beginning were inserted by a step, and so are not from there."""


class Step(Protocol):
    """A step: pieces in, pieces out; `begins` says whether the first piece is at the beginning of the whole text."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        """The new pieces."""

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        """The new pieces with their places; their texts are those that calling the step gives."""


@dataclass(frozen=True, slots=True)
class SplitStep:
    """Splits each piece again."""

    splitter: Splitter
    """The pattern."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        split = self.splitter.split
        return [part for piece in pieces for part in split(piece)]

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        return [
            Placed(text[begin:end], start + max(0, begin - n_put), max(0, min(n_put, end) - begin))
            for text, start, n_put in pieces
            for begin, end in self.splitter.places(text)
        ]


@dataclass(frozen=True, slots=True)
class PrefixStep:
    """Puts `prefix` before each piece that does not begin with it."""

    prefix: str
    """The text to be put there."""
    only_first: bool = False
    """Whether only the piece at the beginning of the whole text gets it."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        prefix, n = self.prefix, int(begins) if self.only_first else len(pieces)
        return [piece if piece.startswith(prefix) else prefix + piece for piece in pieces[:n]] + pieces[n:]

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        new = self([text for text, _, _ in pieces], begins)
        return [
            Placed(text, start, n_put + len(text) - len(old))
            for text, (old, start, n_put) in zip(new, pieces, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class ReplaceStep:
    """Replaces every occurrence of one character in the pieces by another."""

    old: str
    """The character to be replaced."""
    new: str
    """The character that replaces it."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        return [piece.replace(self.old, self.new) for piece in pieces]

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        return [piece._replace(text=piece.text.replace(self.old, self.new)) for piece in pieces]


class BytePieces:
    """Splits the bytes of a piece by several patterns in turn, as a tokenizer.json with a Split after ByteLevel does.

    The patterns see the byte alphabet and may cut inside a character: "ò" is the bytes C3 B2, and B2 is written "²",
    which is a number to some of them.
    """

    def __init__(self, splitters: tuple[Splitter, ...]) -> None:
        self._splitters = splitters

    def __call__(self, piece: bytes) -> list[bytes]:
        """The byte strings into which `piece` is split; each is encoded by itself.

        >>> from bpe_core.patterns import splitter
        >>> BytePieces((splitter(r"\\p{N}"),))("ò1a".encode())
        [b'\\xc3', b'\\xb2', b'1', b'a']
        """
        pieces = [written(piece)]
        for splitter in self._splitters:
            pieces = [part for piece in pieces for part in splitter.split(piece)]
        return [data for part in pieces if (data := meant(part))]
