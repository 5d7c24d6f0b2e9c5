"""What is kept of a document once its pieces are counted: its name, its sizes and its digest."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BETWEEN_TEXTS = b"\xff"
"""Goes between texts into their common digest: a byte that no UTF-8 holds."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is kept of a document after its pieces are counted."""

    name: str
    bytes: int
    """Its size in UTF-8, unpacked, without byte order mark."""
    characters: int
    sha256: str
    """Of the text in UTF-8, in hexadecimal."""


class Measure:
    """Sizes and digest of a text that is read in blocks, in one pass."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self._digest = hashlib.sha256()

    def over(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yield `blocks`, adding each to the sizes and the digest."""
        for block in blocks:
            data = block.encode()
            self.bytes += len(data)
            self.characters += len(block)
            self._digest.update(data)
            yield block

    def part(self, data: Iterable[bytes], characters: int) -> None:
        """Add a part of a text in UTF-8, which has so many `characters`."""
        for block in data:
            self.bytes += len(block)
            self._digest.update(block)
        self.characters += characters

    def next_text(self) -> None:
        """Begin another text of the same source; the digest tells where."""
        self._digest.update(_BETWEEN_TEXTS)

    def source(self, name: str) -> Source:
        """The source with what was measured so far."""
        return Source(name, self.bytes, self.characters, self._digest.hexdigest())
