"""The end-of-word marker (such as "</w>"), a symbol that stands for no text: which tokens end with it, and their text.

Only some vocabularies have one; see `Vocabulary.end_of_word`.
"""

from bpe_core.vocabulary import Vocabulary


def ends_word(vocabulary: Vocabulary, token: int) -> bool:
    """Whether the token is the end-of-word marker, or its merges end with it. False in a vocabulary without one."""
    end = vocabulary.end_of_word
    if end is None:
        return False
    while parents := vocabulary.parents(token):
        token = parents[1]
    return token == end


def text_bytes(vocabulary: Vocabulary, token: int) -> bytes:
    """The bytes of text that the token stands for: `token_bytes` without the end-of-word marker at its end."""
    own = vocabulary.token_bytes(token)
    end = vocabulary.end_of_word
    return own.removesuffix(vocabulary.token_bytes(end)) if end is not None and ends_word(vocabulary, token) else own
