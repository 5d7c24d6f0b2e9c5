"""The first symbols of a piece, before any merge: its bytes, or its characters where a vocabulary is made of those."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bpe_core.errors import UnknownTokenError

Tables = tuple[tuple[int | None, ...], int | None, dict[bytes, int] | None]
"""Symbols in the form that the kernel takes: (id or None of each of the 256 bytes, id of the end-of-word marker or
None, {character in UTF-8: id} or, if the symbols are bytes, None)."""


@dataclass(frozen=True, slots=True)
class ByteSymbols:
    """Each byte is a symbol, and perhaps a marker follows the last one: Sennrich's `</w>`."""

    byte_ids: Mapping[int, int]  # byte -> its token; some published files lack bytes
    end: int | None = None  # the token of the marker

    @property
    def is_faithful(self) -> bool:
        """Whether the symbols have the bytes of the piece; not so with an unknown token or an end-of-word marker."""
        return self.end is None

    @property
    def tables(self) -> Tables:
        return tuple(map(self.byte_ids.get, range(256))), self.end, None

    def ids(self, piece: bytes) -> list[int]:
        """The symbols of a piece as ids. Raises `UnknownTokenError` for a byte or character without one."""
        try:
            found = list(map(self.byte_ids.__getitem__, piece))
        except KeyError as error:
            raise UnknownTokenError(
                f"This vocabulary has no token for the byte 0x{error.args[0]:02x}."
            ) from None
        return found if self.end is None or not piece else [*found, self.end]

    def parts(self, piece: bytes) -> list[bytes]:
        """The symbols of a piece as bytes, whether they have ids or not; without an end-of-word marker."""
        return [piece[i : i + 1] for i in range(len(piece))]


@dataclass(frozen=True, slots=True)
class CharacterSymbols:
    """Each character is a symbol; one without a token becomes its bytes or, without those, the unknown token.
    SentencePiece does so, and Hugging Face with `byte_fallback`, `unk_token` and `fuse_unk`."""

    id_of: Mapping[str, int]  # character -> its token
    byte_ids: Mapping[int, int]
    unknown: int | None = None  # the unknown token
    fuse: bool = False  # whether unknown characters in a row become one token
    end = None

    @property
    def is_faithful(self) -> bool:
        return self.unknown is None or len(self.byte_ids) == 256

    @property
    def tables(self) -> Tables:
        characters = {
            character.encode(errors="surrogatepass"): token
            for character, token in self.id_of.items()
        }
        return tuple(map(self.byte_ids.get, range(256))), None, characters

    def ids(self, piece: bytes) -> list[int]:
        """The ids of a piece. Raises `UnknownTokenError` for what has no id if there is no unknown token."""
        found: list[int] = []
        for character in piece.decode(
            errors="surrogateescape"
        ):  # a part of a piece may end inside a character
            token = self.id_of.get(character)
            if token is not None:
                found.append(token)
                continue
            data = character.encode(errors="surrogateescape")
            if all(byte in self.byte_ids for byte in data):
                found += (self.byte_ids[byte] for byte in data)
            elif self.unknown is None:
                raise UnknownTokenError(
                    f"This vocabulary has no token for the character {_named(character)}."
                )
            elif not self.fuse or found[-1:] != [self.unknown]:
                found.append(self.unknown)
        return found

    def parts(self, piece: bytes) -> list[bytes]:
        return [
            character.encode(errors="surrogateescape")
            for character in piece.decode(errors="surrogateescape")
        ]


def _named(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"of which 0x{code - 0xDC00:02x} is a byte"
    return f"U+{code:04X}, and none for the byte 0x{character.encode()[0]:02x}"


Symbols = (
    ByteSymbols | CharacterSymbols
)  # how a piece becomes symbols, before the first merge


def bytes_among(tokens: Mapping[int, bytes]) -> dict[int, int]:
    """Byte -> the lowest token that is just this byte, for `tokens`, which map ids to bytes."""
    single = [token for token, data in tokens.items() if len(data) == 1]
    return {tokens[token][0]: token for token in sorted(single, reverse=True)}


_PRINTABLE: Final = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))

BYTES_IN_ORDER: Final = bytes(
    (*_PRINTABLE, *sorted(set(range(256)).difference(_PRINTABLE)))
)
"""The 256 bytes in the order of their characters; Hugging Face's trainer numbers them so."""

BYTE_OF: Final = dict(
    zip(map(chr, (*_PRINTABLE, *range(0x100, 0x144))), BYTES_IN_ORDER, strict=True)
)
"""GPT-2's byte alphabet, character -> byte: vocab.json, merges.txt and tokenizer.json are written in it. Bytes that are
printable in Latin-1 stand for themselves, the others for the characters from U+0100 on."""
_CHARACTER_OF: Final = {byte: character for character, byte in BYTE_OF.items()}


def written(token: bytes) -> str:
    """The token written in the alphabet, a character for each byte.

    >>> written(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return token.decode("latin-1").translate(_CHARACTER_OF)


def meant(text: str) -> bytes | None:
    """The bytes that a text in the alphabet stands for; None if a character of it is not in the alphabet.

    >>> meant("Ġthe"), meant("a b")
    (b' the', None)
    """
    try:
        return bytes(map(BYTE_OF.__getitem__, text))
    except KeyError:
        return None
