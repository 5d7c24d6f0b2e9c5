"""The tie rules: which of several equally frequent pairs is merged first.

Each rule is known from a program that uses it. "first": the pair that stands earliest in the corpus now (minbpe).
"lowest": the smallest (left id, right id), bytes numbered by value (rustbpe). "lowest-hf": the same with the bytes
numbered as Hugging Face does. "largest": the largest (left bytes, right bytes) (Sennrich et al. 2016, Algorithm 1).
"""

from typing import Final, Literal, get_args

from bpe_core.vocabulary.symbols import BYTES_IN_ORDER

Ties = Literal["first", "lowest", "lowest-hf", "largest"]
TIES: Final[tuple[str, ...]] = get_args(Ties)
"""The names of the tie rules."""

BYTES_BY_VALUE: Final = bytes(range(256))
"""The 256 bytes, ascending."""

_INVERTED: Final = bytes(reversed(range(256)))
_END: Final = "\u0100"


def alphabet(ties: str) -> bytes:
    """The 256 bytes in the order in which the tie rule numbers them as symbols: `alphabet(ties)[symbol]` is a byte."""
    return BYTES_IN_ORDER if ties == "lowest-hf" else BYTES_BY_VALUE


def descending(token: bytes) -> str:
    """A sort key by which tokens come in descending order of their bytes.

    Every byte is inverted, and an end marker greater than any byte is appended, so that a token comes after those that
    it is a prefix of. Keys may be compared in tuples.

    >>> descending(b"ab") < descending(b"a") < descending(b"Z")
    True
    """
    return token.translate(_INVERTED).decode("latin-1") + _END
