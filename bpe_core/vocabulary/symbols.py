"""Divide a piece into the symbols that merging begins with: its bytes, or its characters in some vocabularies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from bpe_core.errors import UnknownTokenError


class Tables(NamedTuple):
    """Symbols in the form that the kernel takes."""

    byte_ids: tuple[int | None, ...]  # the id of each of the 256 bytes
    end_of_word: int | None  # the id of the marker
    characters: (
        dict[bytes, int] | None
    )  # character in UTF-8 -> id; None if symbols are bytes


@dataclass(frozen=True, slots=True)
class ByteSymbols:
    """Each byte is a symbol. An end-of-word marker, Sennrich's `</w>`, may follow the last byte."""

    byte_ids: Mapping[int, int]  # byte -> its token; some published files lack bytes
    end: int | None = None  # the token of the marker
    unknown = None

    @property
    def token_ids(self) -> set[int]:
        """The tokens that a piece may begin as."""
        ends = set() if self.end is None else {self.end}
        return ends.union(self.byte_ids.values())

    @property
    def is_faithful(self) -> bool:
        """Whether the symbols have the bytes of the piece. A marker or an unknown token makes it False."""
        return self.end is None

    @property
    def tables(self) -> Tables:
        byte_ids = tuple(self.byte_ids.get(byte) for byte in range(256))
        return Tables(byte_ids, self.end, characters=None)

    def ids(self, piece: bytes) -> list[int]:
        """Return the ids of the symbols. Raises `UnknownTokenError` for a byte without a token."""
        try:
            ids = list(map(self.byte_ids.__getitem__, piece))
        except KeyError as error:
            raise UnknownTokenError(
                f"This vocabulary has no token for the byte 0x{error.args[0]:02x}."
            ) from None
        if self.end is not None and piece:
            ids.append(self.end)
        return ids

    def parts(self, piece: bytes) -> list[bytes]:
        """Return the bytes of the symbols, whether they have ids or not, without an end-of-word marker."""
        return [piece[i : i + 1] for i in range(len(piece))]


@dataclass(frozen=True, slots=True)
class CharacterSymbols:
    """Each character is a symbol. A character without a token becomes its bytes or, without those, the unknown token.

    SentencePiece does this, and Hugging Face with `byte_fallback`, `unk_token` and `fuse_unk`.
    """

    id_of: Mapping[str, int]  # character -> its token
    byte_ids: Mapping[int, int]
    unknown: int | None = None  # the unknown token
    fuse: bool = False  # whether adjacent unknown characters become one token
    end = None

    @property
    def token_ids(self) -> set[int]:
        """The tokens that a piece may begin as."""
        unknown = set() if self.unknown is None else {self.unknown}
        return unknown.union(self.id_of.values(), self.byte_ids.values())

    @property
    def is_faithful(self) -> bool:
        return self.unknown is None or len(self.byte_ids) == 256

    @property
    def tables(self) -> Tables:
        byte_ids = tuple(self.byte_ids.get(byte) for byte in range(256))
        characters = {
            character.encode(errors="surrogatepass"): token
            for character, token in self.id_of.items()
        }
        return Tables(byte_ids, None, characters)

    def ids(self, piece: bytes) -> list[int]:
        """Return the ids of the symbols.

        Raises:
            UnknownTokenError: A character has no token, and the vocabulary has no unknown token.
        """
        ids: list[int] = []
        # A part of a piece may end inside a character. Such bytes become surrogates here.
        for character in piece.decode(errors="surrogateescape"):
            token = self.id_of.get(character)
            if token is not None:
                ids.append(token)
                continue
            data = character.encode(errors="surrogateescape")
            if all(byte in self.byte_ids for byte in data):
                ids += (self.byte_ids[byte] for byte in data)
            elif self.unknown is None:
                raise UnknownTokenError(
                    f"This vocabulary has no token for the character {_named(character)}."
                )
            elif not self.fuse or ids[-1:] != [self.unknown]:
                ids.append(self.unknown)
        return ids

    def parts(self, piece: bytes) -> list[bytes]:
        text = piece.decode(errors="surrogateescape")
        return [character.encode(errors="surrogateescape") for character in text]


def _named(character: str) -> str:
    """Name a character in an error. A byte that is only a part of a character is a surrogate here."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"that contains the byte 0x{code - 0xDC00:02x}"
    return f"U+{code:04X}, and none for the byte 0x{character.encode()[0]:02x}"


Symbols = ByteSymbols | CharacterSymbols
"""How a piece becomes symbols, before the first merge."""


def bytes_among(tokens: Mapping[int, bytes]) -> dict[int, int]:
    """Return byte -> the lowest token that is just this byte; `tokens` maps ids to bytes."""
    byte_ids: dict[int, int] = {}
    for token in sorted(token for token, data in tokens.items() if len(data) == 1):
        byte_ids.setdefault(tokens[token][0], token)
    return byte_ids


_PRINTABLE: Final = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS: Final = tuple(sorted(set(range(256)).difference(_PRINTABLE)))

BYTES_IN_ORDER: Final = bytes(_PRINTABLE + _OTHERS)
"""The 256 bytes in the order of their characters in GPT-2's alphabet. Hugging Face's trainer numbers them this way."""

_CHARACTERS: Final = "".join(map(chr, _PRINTABLE + tuple(range(0x100, 0x144))))

BYTE_OF: Final = dict(zip(_CHARACTERS, BYTES_IN_ORDER, strict=True))
"""GPT-2's byte alphabet, character -> byte. vocab.json, merges.txt and tokenizer.json are written in it. Bytes that are
printable in Latin-1 are written as themselves, the others as the characters from U+0100 on."""
_CHARACTER_OF: Final = {byte: character for character, byte in BYTE_OF.items()}


def name_of_bytes(token: bytes) -> str:
    """Write a token in the byte alphabet, one character per byte.

    >>> name_of_bytes(b" caf\\xc3\\xa9")
    'ĠcafÃ©'
    """
    return token.decode("latin-1").translate(_CHARACTER_OF)


def bytes_of_name(text: str) -> bytes | None:
    """Return the bytes of a text in the byte alphabet; None if a character of it is not in the alphabet.

    >>> bytes_of_name("Ġthe"), bytes_of_name("a b")
    (b' the', None)
    """
    try:
        return bytes(map(BYTE_OF.__getitem__, text))
    except KeyError:
        return None
