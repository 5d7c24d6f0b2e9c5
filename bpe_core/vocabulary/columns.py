"""Merges as three columns of numbers: how they are kept in a file, and believed until somebody wants to see each."""

import sys
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Self

from bpe_core.merging.merge_loop import Triple

_CODE: Final = "I"
"""Unsigned 32-bit numbers; in bytes the lowest comes first, on every machine."""
_SIZE: Final = 4


@dataclass(frozen=True, slots=True)
class Columns:
    """Merges in order; iterating makes triples of them."""

    lefts: "array[int]"
    rights: "array[int]"
    tokens: "array[int]"

    @classmethod
    def of(cls, merges: Iterable[Triple]) -> Self:
        """The columns of these triples."""
        lefts, rights, tokens = zip(*merges, strict=True) if (merges := list(merges)) else ((), (), ())
        return cls(array(_CODE, lefts), array(_CODE, rights), array(_CODE, tokens))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The columns that `to_bytes` gave these bytes for. Raises ValueError if their length is none of its."""
        length, rest = divmod(len(data), 3 * _SIZE)
        if rest:
            raise ValueError(f"{len(data)} bytes are not three columns of numbers")
        return cls(*(_read(data[length * _SIZE * n : length * _SIZE * (n + 1)]) for n in range(3)))

    def to_bytes(self) -> bytes:
        """One column after the other, four bytes a number."""
        return b"".join(map(_written, (self.lefts, self.rights, self.tokens)))

    def __len__(self) -> int:
        return len(self.tokens)

    def __iter__(self) -> Iterator[Triple]:
        return zip(self.lefts, self.rights, self.tokens, strict=True)


def _read(data: bytes) -> "array[int]":
    column = array(_CODE)
    column.frombytes(data)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def _written(column: "array[int]") -> bytes:
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()
