"""The tie rules: which of several equally frequent pairs is merged first.

Each rule is known from a program that uses it. "first": the pair that stands earliest in the corpus now (minbpe).
"lowest": the smallest (left id, right id), bytes numbered by value (rustbpe). "lowest-hf": the same with the bytes
numbered as Hugging Face does. "largest": the largest (left bytes, right bytes) (Sennrich et al. 2016, Algorithm 1).
"""

from typing import Final

from bpe_core.kernel.fallback_learner import FIRST, LARGEST, LOWEST
from bpe_core.vocabulary.symbols import BYTES_IN_ORDER

NUMBER_OF: Final = {"first": FIRST, "lowest": LOWEST, "lowest-hf": LOWEST, "largest": LARGEST}
"""Tie rule -> what a learner calls it; the two "lowest" rules differ only in the alphabet."""

BYTES_BY_VALUE: Final = bytes(range(256))
"""The 256 bytes, ascending."""


def alphabet(ties: str) -> bytes:
    """The 256 bytes in the order in which the tie rule numbers them as symbols: `alphabet(ties)[symbol]` is a byte."""
    return BYTES_IN_ORDER if ties == "lowest-hf" else BYTES_BY_VALUE
