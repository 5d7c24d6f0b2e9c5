"""Recovered merges on disk: a rank file's merges are found once, and read back in a moment the next time."""

import hashlib
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path

from bpe_core.tokenizer import Tokenizer

Triple = tuple[int, int, int]

_CODE = "I"
"""Unsigned 32-bit numbers: three a merge, 2.4 MB for 200,000 merges."""


def digest_of(tokenizer: Tokenizer) -> str:
    """What tells a vocabulary from all others: a digest of its ids and their bytes, in hexadecimal digits."""
    digest = hashlib.sha256()
    for token, data in tokenizer.vocabulary.base.items():
        digest.update(b"%d:%d:" % (token, len(data)))
        digest.update(data)
    return digest.hexdigest()


def recall(folder: Path, digest: str) -> list[Triple] | None:
    """The merges recovered earlier; None if there are none, or the file is not whole."""
    numbers = array(_CODE)
    try:
        numbers.frombytes((folder / digest).read_bytes())
    except (OSError, ValueError):
        return None
    if sys.byteorder == "big":
        numbers.byteswap()
    if len(numbers) % 3:
        return None
    return list(zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True))


def remember(folder: Path, digest: str, merges: Iterable[Triple]) -> None:
    """Keep merges for the next time. Raises OSError."""
    numbers = array(_CODE, [number for merge in merges for number in merge])
    if sys.byteorder == "big":
        numbers.byteswap()
    temporary = folder / f"{digest}.part"
    temporary.write_bytes(numbers.tobytes())
    temporary.replace(folder / digest)
