"""Sizes and a digest of the texts that are counted."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bpe_core.weighted import Count


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or texts, whose pieces are counted."""

    name: str
    """The name of the file on the screen, or "text"."""
    bytes: int
    """The size of its documents in UTF-8, unpacked, without byte order mark."""
    characters: int
    sha256: str
    """SHA-256 of its documents in UTF-8, with 0xFF between two of them, in hexadecimal."""
    weight: Count = 1
    """How many times each of its pieces is counted."""
    documents: int = 1


class Measure:
    """Computes the total sizes and the digest of documents that come in blocks."""

    def __init__(self) -> None:
        self.bytes = 0
        self.characters = 0
        self.documents = 0
        self.digest = hashlib.sha256()

    def document(self, blocks: Iterable[str]) -> Iterator[bytes]:
        """Yield the blocks of the next document in UTF-8."""
        if self.documents:
            self.digest.update(b"\xff")  # no UTF-8 contains this byte
        self.documents += 1
        return map(self._encoded, blocks)

    def _encoded(self, block: str) -> bytes:
        data = block.encode()
        self.bytes += len(data)
        self.characters += len(block)
        self.digest.update(data)
        return data

    def source(self, name: str) -> Source:
        """Return what was measured."""
        return Source(
            name=name,
            bytes=self.bytes,
            characters=self.characters,
            sha256=self.digest.hexdigest(),
            documents=self.documents,
        )
