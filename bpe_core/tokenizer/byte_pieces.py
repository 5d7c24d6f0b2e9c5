"""Splitting the bytes of a piece: what tokenizer.json files do that have a Split after ByteLevel.

Such a Split sees the byte alphabet, a printable character for each byte, and may cut inside a character of the text:
"ò" is the bytes C3 B2, and B2 is written "²", which is a number to some patterns.
"""

from bpe_core.patterns import Splitter
from bpe_core.vocabulary.byte_alphabet import meant, written


class BytePieces:
    """Splits the bytes of a piece by several patterns in turn, which are applied to the byte alphabet."""

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
