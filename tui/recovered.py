"""Recovered merges on disk: a rank file's merges are found once, and read back in a moment the next time."""

import hashlib
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from bpe_core.tokenizer import Tokenizer

Triple = tuple[int, int, int]

_CODE: Final = "I"
"""Unsigned 32-bit numbers: three a merge, 2.4 MB for 200,000 merges."""
_CHECK: Final = hashlib.sha256().digest_size
_VERSION: Final = 1
"""To be raised when merges are recovered in another way."""


def digest_of(tokenizer: Tokenizer) -> str:
    """What tells a vocabulary from all others: a digest of its ids and their bytes, in hexadecimal digits."""
    bytes_of = tokenizer.vocabulary.bytes_of
    digest = hashlib.sha256(b"".join(bytes_of.values()))
    for numbers in bytes_of, map(len, bytes_of.values()):
        digest.update(_written(array(_CODE, numbers)))
    return digest.hexdigest()


def recall(folder: Path, digest: str) -> list[Triple] | None:
    """The merges recovered earlier; None if there are none, or the file is not as it was written."""
    numbers = array(_CODE)
    try:
        data = (folder / digest).read_bytes()
        numbers.frombytes(data[_CHECK:])
    except (OSError, ValueError):
        return None
    if len(numbers) % 3 or data[:_CHECK] != _check(digest, data[_CHECK:]):
        return None
    if sys.byteorder == "big":
        numbers.byteswap()
    return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))


def remember(folder: Path, digest: str, merges: Iterable[Triple]) -> None:
    """Keep merges for the next time. Raises OSError."""
    data = _written(array(_CODE, [number for merge in merges for number in merge]))
    temporary = folder / f"{digest}.part"
    temporary.write_bytes(_check(digest, data) + data)
    temporary.replace(folder / digest)


def _check(digest: str, data: bytes) -> bytes:
    """What stands before the numbers, so that a damaged file, or one of another version, is seen to be that."""
    return hashlib.sha256(f"{_VERSION} {digest} ".encode() + data).digest()


def _written(numbers: "array[int]") -> bytes:
    """The same on every machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
