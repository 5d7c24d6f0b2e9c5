"""A witness: a text in which a token really occurs, found by trying texts and encoding them."""

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from bpe_core.auditing.end_of_word import ends_word, text_bytes
from bpe_core.auditing.partial_utf8 import completed
from bpe_core.errors import UnknownTokenError
from bpe_core.tokenizer import Tokenizer

LONGEST_EXAMPLE: Final = 200
"""Characters; a longer piece of the corpus is no good as an example, because nobody would find the token in it."""

_NEIGHBORS: Final = ("a", "A", "1", " ", "=", ".", "/", "'", "\n", "é", "の")
"""One character of each class that the usual split patterns treat differently."""
_SIDES: Final = sorted(("", *_NEIGHBORS, *map("".join, product(_NEIGHBORS, repeat=2))), key=len)
_CONTEXTS: Final = sorted(
    ((before, after) for before in _SIDES for after in _SIDES if len(before) + len(after) <= 2),
    key=lambda sides: len(sides[0]) + len(sides[1]),
)

_MOST_CHARACTERS: Final = 1 << 17
"""Characters of all texts that are tried around one token. Real tokens have a few dozen, and are tried in all contexts;
in a small file that makes a token of two others each time, some have millions."""
_FEWEST_CONTEXTS: Final = 1 + 2 * len(_NEIGHBORS)
"""Contexts that are always tried: nothing, and a character at one side."""


def witness(tokenizer: Tokenizer, token: int, example: str | None = None) -> str | None:
    """A text whose encoding holds `token`, None if none was found; `example`, a piece of a corpus, is tried first.

    Every text that comes back was encoded and does hold the token. None is no proof that there is no such text.
    """
    if example is not None and len(example) <= LONGEST_EXAMPLE and _holds(tokenizer, example, token):
        return example
    return next((text for text in _candidates(tokenizer, token) if _holds(tokenizer, text, token)), None)


def is_mergeable(tokenizer: Tokenizer, token: int) -> bool:
    """Whether the token's bytes, as one piece, become the token. If they do not, no text holds it.

    For what merges make of a stretch of bytes does not depend on what surrounds it, as long as no token crosses its
    ends. Where a marker stands at the end of each word, that says nothing of a token without it: it may be, then.
    """
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word is not None and not ends_word(vocabulary, token):
        return True
    try:
        return vocabulary.encode(text_bytes(vocabulary, token)) == (token,) or token == vocabulary.end_of_word
    except UnknownTokenError:
        return False


def _candidates(tokenizer: Tokenizer, token: int) -> Iterator[str]:
    """Texts that contain the bytes of `token`, the shortest first."""
    token_bytes = text_bytes(tokenizer.vocabulary, token)
    if not is_mergeable(tokenizer, token):
        return iter(())
    try:
        text = token_bytes.decode()
    except UnicodeDecodeError:
        return completed(token_bytes)
    n_tried = max(_FEWEST_CONTEXTS, _MOST_CHARACTERS // max(1, len(text)))
    return (before + text + after for before, after in islice(_CONTEXTS, n_tried))


def _holds(tokenizer: Tokenizer, text: str, token: int) -> bool:
    try:
        return token in tokenizer.encode_ordinary(text)
    except UnknownTokenError:  # a published vocabulary without all 256 bytes
        return False
