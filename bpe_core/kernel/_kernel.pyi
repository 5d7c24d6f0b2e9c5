"""What the C sources of this folder define, for type checkers and readers."""

from collections.abc import Callable
from typing import Self

from typing_extensions import Buffer

STAMP: int
"""`stamp()` of the sources from which this was compiled."""

class Scanner:
    """Splits texts in UTF-8 into pieces; safe to use from several threads at once."""

    def __init__(
        self, ranges_of: Callable[[int], Buffer], contractions: int, max_digits: int, lines: bool, end_first: bool
    ) -> None:
        """For the numbers see scan.h, for the sets that are told plane by plane see `grammars`."""

    def ends(self, text: Buffer, /) -> bytes:
        """Where each piece ends, in bytes from the beginning of `text`: an unsigned 64-bit number for each."""

class Encoder:
    """The tables of a vocabulary; safe to use from several threads, which work at a time.

    `limit` is how many merges are in force, None all. A symbol without an id raises LookupError.
    """

    def __init__(
        self,
        byte_ids: tuple[int | None, ...],
        end: int | None,
        characters: dict[bytes, int] | None,
        whole: dict[bytes, int],
        steps: dict[bytes, int],
    ) -> None:
        """No merges yet. A piece begins as its bytes or, where there are `characters`, as those of them that are in
        there; `end` follows. One that is in `whole` becomes the token at once where `limit` is its step or more."""

    @classmethod
    def of_ranks(
        cls,
        byte_ids: tuple[int | None, ...],
        characters: dict[bytes, int] | None,
        ids: dict[bytes, int],
        ranks: dict[bytes, int],
        looks_up: bool,
        /,
    ) -> Self:
        """Two neighbors join if their joined bytes are in `ids`, in the order of which all symbols must be."""

    def extended(self, lefts: Buffer, rights: Buffer, tokens: Buffer, /) -> Self:
        """A copy with merges added, in three columns of unsigned 32-bit numbers."""

    def encode(self, text: str | Buffer, scanner: Scanner | None, limit: int | None, /) -> list[int]:
        """The ids of a text; a buffer is taken for UTF-8. Without a scanner, it is one piece."""

    def encode_bytes(self, text: str | Buffer, scanner: Scanner | None, limit: int | None, /) -> bytes:
        """As `encode`; an unsigned 32-bit number for each id."""

    def count(self, text: str | Buffer, scanner: Scanner | None, limit: int | None, /) -> int:
        """How many ids `encode` gives."""

    def piece(self, piece: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """The ids of a piece."""

    def part(self, data: str | Buffer, limit: int | None, /) -> tuple[int, ...]:
        """The ids of a part of a piece: what merging leaves, and nothing looked up whole."""

    def pieces(self, pieces: list[str], limit: int | None, /) -> tuple[bytes, bytes]:
        """The ids of pieces as 32-bit numbers, and how many there are up to the end of each as 64-bit numbers."""
