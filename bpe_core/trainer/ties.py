"""The tie rules: which of several equally frequent pairs is merged first.

Each rule is known from a program that uses it. "first": the pair that stands earliest in the corpus now (minbpe).
"lowest": the smallest (left id, right id), bytes numbered by value (rustbpe). "lowest-hf": the same with the bytes
numbered as Hugging Face does. "largest": the largest (left bytes, right bytes) (Sennrich et al. 2016, Algorithm 1).
"""

from typing import Final, Literal, get_args

from bpe_core.vocabulary.byte_alphabet import BYTES_IN_ORDER

Ties = Literal["first", "lowest", "lowest-hf", "largest"]
TIES: Final[tuple[str, ...]] = get_args(Ties)

BYTES_BY_VALUE: Final = bytes(range(256))

_INVERTED: Final = bytes(reversed(range(256)))
_END: Final = "\u0100"


def alphabet(ties: str) -> bytes:
    """The 256 bytes in the order in which the rule numbers them."""
    return BYTES_IN_ORDER if ties == "lowest-hf" else BYTES_BY_VALUE


def descending(token: bytes) -> str:
    """A text that sorts the other way round than `token`, also when another one is joined to it.

    Every byte is inverted, and the end counts as greater than any byte, so that a token comes after its continuations.

    >>> descending(b"ab") < descending(b"a") < descending(b"Z")
    True
    """
    return token.translate(_INVERTED).decode("latin-1") + _END
