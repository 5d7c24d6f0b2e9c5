"""Which tokens texts can become, and which tokens are formed on the way."""

from collections.abc import Iterable
from contextlib import suppress

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import NO_RANK, merge
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
    bytes_of = vocabulary.bytes_of
    encoder = vocabulary.encoding.compiled
    n_merges = vocabulary.encoding.n_merges
    made: set[int] = set()
    for token in tokens:
        # A symbol without a token is a LookupError: some published vocabularies lack bytes.
        with suppress(LookupError):
            data = bytes_of[token]
            # The encoder is called directly, which halves the time.
            ids = encoder.part(data, n_merges) if encoder else vocabulary.join(data)
            if ids == (token,):
                made.add(token)
    return made


def formed_tokens(
    vocabulary: Vocabulary, data: bytes, *, looks_up: bool = True
) -> set[int]:
    """Return all tokens that are formed at any time while a piece becomes tokens, with the symbols that it begins as.

    Args:
        vocabulary: Ids, bytes and merges.
        data: The piece.
        looks_up: Whether the piece may be looked up as a whole. False for a part of a longer piece, which is merged.

    Examples:
        >>> from bpe_core import train
        >>> sorted(formed_tokens(train("low low low", vocab_size=259).vocabulary, b"low"))
        [108, 111, 119, 256, 257]
    """
    formed: set[int] = set()
    whole = vocabulary.encoding.whole(data)
    if looks_up and whole is not None:
        return {whole}
    if isinstance(vocabulary, RankedVocabulary):
        tokens = vocabulary.encoding
        parts = tokens.symbols.parts(data)
        formed.update(tokens.id_of[part] for part in parts if part in tokens.id_of)

        def rank_of_joined(left: bytes, right: bytes) -> int:
            return tokens.rank_of.get(left + right, NO_RANK)

        def join_parts(left: bytes, right: bytes, rank: int) -> bytes:
            formed.add(tokens.id_of[left + right])
            return left + right

        merge(parts, rank_of_joined, join_parts)
    else:
        symbols = vocabulary.symbols(data)
        formed.update(symbols)

        def rank_of(left: int, right: int) -> int:
            return vocabulary.ranks.get((left, right), NO_RANK)

        def join(left: int, right: int, rank: int) -> int:
            token = vocabulary.merge_of(rank + 1)[2]
            formed.add(token)
            return token

        merge(symbols, rank_of, join)
    return formed
