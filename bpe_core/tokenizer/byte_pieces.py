"""Pieces split again as bytes: what a few published pipelines do after they have turned a text into its byte alphabet.

A pattern then sees a printable character for each byte, and may cut between the bytes of one character of the text: of
"ò", C3 B2, the second is written "²", which is a number to some patterns. So this happens inside of a piece.
"""

from bpe_core.patterns import Splitter
from bpe_core.vocabulary.byte_alphabet import meant, written


class BytePieces:
    """Splits the bytes of a piece by patterns, one after another, that see them in the byte alphabet."""

    def __init__(self, splitters: tuple[Splitter, ...]) -> None:
        self._splitters = splitters

    def __call__(self, piece: bytes) -> list[bytes]:
        """The parts that are encoded each by itself.

        >>> from bpe_core.patterns import splitter
        >>> BytePieces((splitter(r"\\p{N}"),))("ò1a".encode())
        [b'\\xc3', b'\\xb2', b'1', b'a']
        """
        pieces = [written(piece)]
        for splitter in self._splitters:
            pieces = [part for piece in pieces for part in splitter.split(piece)]
        return [data for part in pieces if (data := meant(part))]
