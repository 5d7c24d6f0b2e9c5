"""Make texts that contain given bytes. Encoding them shows whether a token occurs in one."""

import unicodedata
from collections.abc import Iterator
from itertools import filterfalse, islice, product
from typing import Final

from bpe_core.utf8 import completed, is_utf8

# One character of each class that the usual split patterns treat differently. The last three are what a pattern that
# ignores case takes for s, k and i, although they have other bytes: U+017F, U+212A, U+0130.
_NEIGHBORS: Final = "aA1 =./'\né" + "の" + "ſ\u212aİ"
_PAIRS: Final = [first + second for first, second in product(_NEIGHBORS, repeat=2)]
_SIDES: Final = ["", *_NEIGHBORS, *_PAIRS]
"""The texts tried at one side of a token."""


def _contexts() -> list[tuple[str, str]]:
    """Return all texts before and after a token with at most two characters in all, the shortest first."""
    pairs = product(_SIDES, repeat=2)
    contexts = [pair for pair in pairs if len(pair[0]) + len(pair[1]) <= 2]
    contexts.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
    return contexts


_CONTEXTS: Final = _contexts()
_CHARACTER_BUDGET: Final = 1 << 17
"""Characters of all texts that are tried around one token. Real tokens have a few dozen characters. But in a small file
in which each token joins two others, some have millions."""
FEWEST_CONTEXTS: Final = 1 + 2 * len(_NEIGHBORS)
"""Contexts that are always tried: none, and one character at one side."""


def texts_with(data: bytes) -> Iterator[str]:
    """Yield texts that contain `data`, a token's bytes, the shortest first.

    If the bytes are a text, it comes alone and with up to two characters around it that patterns treat differently.
    Otherwise the incomplete characters at its ends are completed. No text contains bytes that can't be completed.
    """
    if not is_utf8(data):
        yield from filter(_is_in_old_unicode, completed(data))
        yield from filterfalse(_is_in_old_unicode, completed(data))
        return
    text = data.decode()
    n_contexts = max(FEWEST_CONTEXTS, _CHARACTER_BUDGET // max(1, len(text)))
    for before, after in islice(_CONTEXTS, n_contexts):
        yield before + text + after


def _is_in_old_unicode(text: str) -> bool:
    """Whether all characters were assigned in Unicode 3.2, so that other programs agree which of them are letters.

    U+0558, for example, is a letter in the newest Unicode only.
    """
    category = unicodedata.ucd_3_2_0.category
    return all(category(character) != "Cn" for character in text)
