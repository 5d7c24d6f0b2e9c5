"""Name, sizes and digest of each document, which identify the texts of a training."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BETWEEN_TEXTS = b"\xff"
"""Separates the texts that have a common digest; no UTF-8 contains this byte."""


@dataclass(frozen=True, slots=True)
class Source:
    """Name, sizes and digest of a document, kept after its pieces are counted."""

    name: str
    """As the file is called on the screen, or "text"."""
    bytes: int
    """Its size in UTF-8, unpacked, without byte order mark."""
    characters: int
    """Code points."""
    sha256: str
    """Digest of the text in UTF-8, in hexadecimal."""
    weight: int = 1
    """How many times each of its pieces is counted."""


class Measure:
    """Adds up the sizes and the digest of a text that comes in blocks."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self._digest = hashlib.sha256()

    def over(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yield `blocks`, adding each to the sizes and the digest."""
        for block in blocks:
            self._add(block)
            yield block

    def encoded(self, blocks: Iterable[str]) -> Iterator[bytes]:
        """Yield `blocks` in UTF-8, adding each to the sizes and the digest."""
        return map(self._add, blocks)

    def _add(self, block: str) -> bytes:
        data = block.encode()
        self.bytes += len(data)
        self.characters += len(block)
        self._digest.update(data)
        return data

    def next_text(self) -> None:
        """Begin another text of the same source; a separator goes into the digest."""
        self._digest.update(_BETWEEN_TEXTS)

    def source(self, name: str) -> Source:
        """The `Source` of what was added so far."""
        return Source(name, self.bytes, self.characters, self._digest.hexdigest())
