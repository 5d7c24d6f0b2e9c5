"""The steps in which a part of a text becomes pieces, and where in the part each piece lies."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bpe_core.patterns import Splitter


class Placed(NamedTuple):
    """A piece and its place."""

    text: str
    """The piece."""
    start: int
    """Where it begins in the part of the text."""
    n_put: int = 0
    """How many characters at its beginning were put there, and so have no place."""


class Step(Protocol):
    """Pieces into other pieces; `begins` says that the first of the old ones begins the whole text."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        """The new pieces."""

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        """The new pieces and their places."""


@dataclass(frozen=True, slots=True)
class SplitStep:
    """Each piece is split again."""

    splitter: Splitter
    """By this pattern."""

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
    """A text is put before each piece that does not begin with it, or only before a piece that begins the text."""

    prefix: str
    """The text."""
    only_first: bool = False
    """Whether it is put only there."""

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
    """A character takes the place of every other."""

    old: str
    """The one that goes."""
    new: str
    """The one that comes."""

    def __call__(self, pieces: list[str], begins: bool) -> list[str]:
        return [piece.replace(self.old, self.new) for piece in pieces]

    def placed(self, pieces: list[Placed], begins: bool) -> list[Placed]:
        return [piece._replace(text=piece.text.replace(self.old, self.new)) for piece in pieces]
