"""The byte alphabet of GPT-2: a printable character for each byte, so that tokens can be written as text.

Bytes that are printable in Latin-1 stand for themselves; the others, the space among them, for the characters from
U+0100 on. vocab.json, merges.txt and tokenizer.json are written in it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_PRINTABLE: Final = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS: Final = tuple(byte for byte in range(256) if byte not in _PRINTABLE)

BYTES_IN_ORDER: Final = bytes((*_PRINTABLE, *_OTHERS))
"""The 256 bytes in the order of their characters; Hugging Face's trainer numbers them so."""

BYTE_OF: Final[Mapping[str, int]] = MappingProxyType(
    {chr(byte): byte for byte in _PRINTABLE} | {chr(256 + n): byte for n, byte in enumerate(_OTHERS)}
)
"""Character -> byte."""

_CHARACTERS: Final = "".join(sorted(BYTE_OF, key=BYTE_OF.__getitem__))


def written(token: bytes) -> str:
    """The token written in the alphabet, a character for each byte.

    >>> written(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return token.decode("latin-1").translate(_TABLE)


def meant(text: str) -> bytes | None:
    """The bytes that a text in the alphabet stands for; None if a character of it is not in the alphabet.

    >>> meant("Ġthe"), meant("a b")
    (b' the', None)
    """
    try:
        return bytes(map(_BYTE_OF, text))
    except KeyError:
        return None


_BYTE_OF: Final = dict(BYTE_OF).__getitem__
_TABLE: Final = {byte: character for byte, character in enumerate(_CHARACTERS)}
