"""A witness: a text in which a token really occurs, found by trying texts and encoding them."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple

from bpe_core.errors import UnknownTokenError
from bpe_core.explain.contexts import texts_with
from bpe_core.tokenizer import Tokenizer

LONGEST_EXAMPLE: Final = 200
"""The longest piece of a corpus, in characters, that is tried as a witness."""


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
    if is_mergeable(tokenizer, token):
        yield from texts_with(tokenizer.vocabulary.text_bytes(token))


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
