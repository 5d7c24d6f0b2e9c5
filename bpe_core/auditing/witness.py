"""A witness: a text in which a token really occurs, found by trying texts and encoding them."""

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from itertools import filterfalse, islice, product
from typing import Final, NamedTuple

from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import completed, is_utf8

LONGEST_EXAMPLE: Final = 200
"""The longest piece of a corpus, in characters, that is tried as a witness."""

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
_FEWEST_CONTEXTS: Final = 1 + 2 * len(_NEIGHBORS)
"""Contexts that are always tried: none, and one character at one side."""


class WitnessSearch(NamedTuple):
    """The result of a search for a witness."""

    text: str | None  # the first text found whose encoding contains the token
    n_tried: int


def witness(tokenizer: Tokenizer, token: int, example: str = "") -> WitnessSearch:
    """Search for a text whose encoding contains `token`.

    It tries `example`, a piece of a corpus. Then it tries the token's text, alone and with up to two characters around
    it that patterns treat differently, the shortest first; or the token's bytes with the incomplete characters at its
    ends completed. If it finds nothing, that proves that no text contains the token only if it is not `is_mergeable`.
    """
    n_tried = 0
    for text in _candidates(tokenizer, token, example):
        n_tried += 1
        with suppress(UnknownTokenError):  # some published vocabularies lack bytes
            if token in tokenizer.encode_ordinary(text):
                return WitnessSearch(text, n_tried)
    return WitnessSearch(None, n_tried)


def _candidates(tokenizer: Tokenizer, token: int, example: str) -> Iterable[str]:
    if 0 < len(example) <= LONGEST_EXAMPLE:
        yield example
    if not is_mergeable(tokenizer, token):
        return
    data = tokenizer.vocabulary.text_bytes(token)
    if not is_utf8(data):
        yield from filter(_is_in_old_unicode, completed(data))
        yield from filterfalse(_is_in_old_unicode, completed(data))
        return
    text = data.decode()
    n_contexts = max(_FEWEST_CONTEXTS, _CHARACTER_BUDGET // max(1, len(text)))
    for before, after in islice(_CONTEXTS, n_contexts):
        yield before + text + after


def _is_in_old_unicode(text: str) -> bool:
    """Whether all characters were assigned in Unicode 3.2, so that other programs agree which of them are letters.

    U+0558, for example, is a letter in the newest Unicode only.
    """
    category = unicodedata.ucd_3_2_0.category
    return all(category(character) != "Cn" for character in text)


def is_mergeable(tokenizer: Tokenizer, token: int) -> bool:
    """Whether the token's bytes, encoded as one piece, become the token. If not, no text contains it.

    The merges inside a byte string do not depend on its surroundings as long as no token crosses its ends. In a
    vocabulary with an end-of-word marker it is also True for a token that does not end with the marker, about which
    this proves nothing.
    """
    vocabulary = tokenizer.vocabulary
    if token == vocabulary.end_of_word:
        return True
    if vocabulary.end_of_word is not None and not vocabulary.ends_word(token):
        return True
    try:
        return vocabulary.encode(vocabulary.text_bytes(token)) == (token,)
    except UnknownTokenError:
        return False
