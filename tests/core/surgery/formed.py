"""Which tokens are formed while a piece is merged, on vocabularies of any size."""

from bpe_core.vocabulary.merge_loop import NO_RANK, merge
from bpe_core.vocabulary.ranked import RankedVocabulary


def formed_tokens(vocabulary, data):
    """All tokens that are formed at any time while a piece becomes tokens, with the symbols that it begins as."""
    whole = vocabulary.encoding.whole(data)
    if whole is not None:
        return {whole}
    symbols = vocabulary.symbols(data)
    formed = set(symbols)
    bytes_of = vocabulary.bytes_of

    def rank_by_bytes(left, right):
        return vocabulary.encoding.rank_of.get(
            bytes_of[left] + bytes_of[right], NO_RANK
        )

    def join_bytes(left, right, rank):
        token = vocabulary.encoding.id_of[bytes_of[left] + bytes_of[right]]
        formed.add(token)
        return token

    def rank_of(left, right):
        return vocabulary.ranks.get((left, right), NO_RANK)

    def join(left, right, rank):
        token = vocabulary.merge_of(rank + 1)[2]
        formed.add(token)
        return token

    if isinstance(vocabulary, RankedVocabulary):
        merge(symbols, rank_by_bytes, join_bytes)
    else:
        merge(symbols, rank_of, join)
    return formed
