"""Which vocabularies can be changed, and which tokens merging makes."""

from collections.abc import Iterable
from contextlib import suppress

from bpe_core.errors import OptionError, UnknownTokenError
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import CharacterSymbols


def check_changeable(tokenizer: Tokenizer) -> None:
    """Raise `OptionError` if the vocabulary of a tokenizer can't be changed."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.end_of_word is not None:
        raise OptionError(
            "This tokenizer marks the ends of words, and only vocabularies without such a marker can be changed."
        )
    has_characters = isinstance(vocabulary.alphabet, CharacterSymbols)
    if isinstance(vocabulary, RankedVocabulary) and has_characters:
        raise OptionError(
            "This is a SentencePiece model, whose merges can't be known and which can't be written; "
            "convert it to a tokenizer.json first."
        )


def merged_tokens(vocabulary: Vocabulary, tokens: Iterable[int]) -> set[int]:
    """Return those of `tokens` that merging makes: their bytes, merged alone, become the token.

    Merging makes no other token in any text, since the bytes of a token are joined in the same order wherever they
    become that token (`bpe_core.vocabulary.merge_loop` has the proof).
    """
    made: set[int] = set()
    for token in tokens:
        with suppress(UnknownTokenError):  # some published vocabularies lack bytes
            if vocabulary.join(vocabulary.bytes_of[token]) == (token,):
                made.add(token)
    return made
