"""A witness: a text in which a token really occurs, found by trying texts and encoding them."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import completed

LONGEST_EXAMPLE: Final = 200  # characters of a piece of a corpus that may be a witness

# One character of each class that the usual split patterns treat differently, and those that a pattern for any case
# takes for s, k and i, although they are other bytes: U+017F, U+212A, U+0130.
_NEIGHBORS: Final = ("a", "A", "1", " ", "=", ".", "/", "'", "\n", "é", "の", "ſ", "\u212a", "İ")
_SIDES: Final = ("", *_NEIGHBORS, *map("".join, product(_NEIGHBORS, repeat=2)))
_CONTEXTS: Final = sorted(
    ((before, after) for before in _SIDES for after in _SIDES if len(before) + len(after) <= 2),
    key=lambda sides: len(sides[0]) + len(sides[1]),
)

# Characters of all texts that are tried around one token. Real tokens have a few dozen, but in a small file that makes
# a token of two others each time, some have millions.
_CHARACTER_BUDGET: Final = 1 << 17
_MIN_CONTEXTS: Final = 1 + 2 * len(_NEIGHBORS)  # that are always tried: nothing, and a character at one side


def witness(tokenizer: Tokenizer, token: int, example: str | None = None) -> str | None:
    """A text whose encoding contains `token`, verified by encoding it; None if none was found.

    `example`, a piece of a corpus, is tried first. None proves that no text contains the token only if it is not
    `is_mergeable`.
    """
    if example is not None and len(example) <= LONGEST_EXAMPLE and _holds(tokenizer, example, token):
        return example
    return search(tokenizer, token)[0]


def search(tokenizer: Tokenizer, token: int) -> tuple[str | None, int]:
    """(the first text found whose encoding contains `token`, or None; how many texts were tried), the shortest first.

    Tried are the token's text alone, then with up to two characters around it, of those that patterns treat
    differently; or its bytes with the characters at its torn ends completed.
    """
    tried = 0
    for tried, text in enumerate(_candidates(tokenizer, token), 1):
        if _holds(tokenizer, text, token):
            return text, tried
    return None, tried


def is_mergeable(tokenizer: Tokenizer, token: int) -> bool:
    """Whether the token's bytes, encoded as one piece, become the token. If not, no text contains it.

    This holds because merges inside a byte string do not depend on its surroundings as long as no token crosses its
    ends. With an end-of-word marker, True for a token that does not end with it, about which this proves nothing.
    """
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word is not None and not vocabulary.ends_word(token):
        return True
    try:
        return vocabulary.encode(vocabulary.text_bytes(token)) == (token,) or token == vocabulary.end_of_word
    except UnknownTokenError:
        return False


def _candidates(tokenizer: Tokenizer, token: int) -> Iterator[str]:
    """Texts that contain the bytes of `token`, the shortest first; none if it is not mergeable."""
    if not is_mergeable(tokenizer, token):
        return iter(())
    token_bytes = tokenizer.vocabulary.text_bytes(token)
    try:
        text = token_bytes.decode()
    except UnicodeDecodeError:
        return completed(token_bytes)
    n_tried = max(_MIN_CONTEXTS, _CHARACTER_BUDGET // max(1, len(text)))
    return (before + text + after for before, after in islice(_CONTEXTS, n_tried))


def _holds(tokenizer: Tokenizer, text: str, token: int) -> bool:
    try:
        return token in tokenizer.encode_ordinary(text)
    except UnknownTokenError:  # a published vocabulary without all 256 bytes
        return False
