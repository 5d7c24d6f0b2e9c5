"""The marker at the end of a word, which is a symbol and no text: the tokens that end with it, and their text."""

from bpe_core.vocabulary import Vocabulary


def ends_word(vocabulary: Vocabulary, token: int) -> bool:
    """Whether the token is the marker, or the last symbol it was made of is."""
    end = vocabulary.end_of_word
    if end is None:
        return False
    while parents := vocabulary.parents(token):
        token = parents[1]
    return token == end


def text_bytes(vocabulary: Vocabulary, token: int) -> bytes:
    """The bytes of text that the token stands for: its own, without the marker."""
    own = vocabulary.token_bytes(token)
    end = vocabulary.end_of_word
    return own.removesuffix(vocabulary.token_bytes(end)) if end is not None and ends_word(vocabulary, token) else own
