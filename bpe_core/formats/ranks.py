"""Read and write vocabularies of ranks: two neighbors join if their joined bytes are a token, lowest rank first.

A vocabulary of merges can be written as ranks if they give the same ids for every text.
"""

from binascii import a2b_base64
from collections.abc import Mapping
from itertools import zip_longest
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.patterns.pattern import Else
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary
from bpe_core.vocabulary.symbols import ByteSymbols

_TARGET: Final = "as ranks"


def from_base64(word: str | bytes) -> bytes | None:
    """Decode a token from base64; return None if `word` is not valid base64.

    A published file writes the empty token as "=", which is accepted too.
    """
    if word in ("=", b"="):
        return b""
    try:
        return a2b_base64(word, strict_mode=True)
    except ValueError:
        return None


def vocabulary_of(
    file: TokenizerFile,
    tokens: Mapping[int, bytes],
    special_tokens: Mapping[str, int],
    id_of: Mapping[bytes, int] | None = None,
    first: int = 0,
) -> RankedVocabulary:
    """Return the vocabulary of the tokens in a file.

    Args:
        file: The file, for errors.
        tokens: Id -> bytes.
        special_tokens: Text -> id.
        id_of: The inverse of `tokens`, if no two tokens have the same bytes and `tokens` is
            ascending by id. None if that is not known.
        first: The id of the token with rank 0.

    Raises:
        FormatError: Two tokens have the same bytes, or a byte has no token.
        OptionError: A special token is invalid.
    """
    if id_of is None:
        tokens = dict(sorted(tokens.items()))
        id_of = {}
        for token, data in tokens.items():
            other = id_of.setdefault(data, token)
            if other != token:
                file.broken(
                    f"the ranks {other - first} and {token - first} have the same bytes"
                )
    byte_ids: dict[int, int] = {}
    for byte in range(256):
        byte_id = id_of.get(bytes([byte]))
        if byte_id is None:
            file.broken(
                f"it has no token for the byte 0x{byte:02x}, so it is incomplete"
            )
        byte_ids[byte] = byte_id
    return RankedVocabulary(
        tokens, special_tokens, symbols=ByteSymbols(byte_ids), id_of=id_of
    )


def ranks_of(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Return id -> bytes of all ordinary tokens, ascending by id.

    Raises:
        FormatError: Merging by ranks gives some text other ids, or is not all that the tokenizer
            does to a text.
    """
    vocabulary = tokenizer.vocabulary
    if not vocabulary.is_bytewise:
        refuse(_TARGET, "it is not made of bytes alone")
    if tokenizer.preparation and not tokenizer.preparation.only_splits:
        refuse(
            _TARGET,
            "it does more to a text than split it, which ranks can't express",
        )
    if isinstance(tokenizer.splitter.tree, Else):
        refuse(
            _TARGET,
            "it looks for some tokens before it splits a text, which ranks can't express",
        )
    tokens = dict(sorted(vocabulary.bytes_of.items()))
    if not isinstance(vocabulary, RankedVocabulary):
        _check_equivalence(vocabulary, tokens)
    return tokens


def _check_equivalence(vocabulary: Vocabulary, tokens: Mapping[int, bytes]) -> None:
    """Refuse a vocabulary unless ranks make the same merges of its tokens, and each token becomes itself."""
    id_of = {data: token for token, data in tokens.items()}
    for token, data in tokens.items():
        if id_of[data] != token:
            refuse(_TARGET, f"the tokens {token} and {id_of[data]} have the same bytes")
    for byte in range(256):
        if bytes([byte]) not in id_of:
            refuse(_TARGET, f"it has no token for the byte 0x{byte:02x}")
    # The merge of a token is missing if only ranks make it.
    by_rank = RankedVocabulary(tokens).as_merges().merges
    different = [
        (by_ranks or ours)[2]
        for ours, by_ranks in zip_longest(vocabulary.merges, by_rank)
        if ours != by_ranks
    ]
    different += [
        token for token, data in tokens.items() if vocabulary.encode(data) != (token,)
    ]
    if different:
        label = token_label(tokens[different[0]])
        refuse(
            _TARGET,
            f"ranks would not make the token {different[0]} '{label}' as its merges do",
        )


def merges_of(vocabulary: Vocabulary, target: str) -> Vocabulary:
    """Return a vocabulary of merges that gives every piece the same ids, to write it to a file.

    Args:
        vocabulary: A vocabulary of merges, which is returned itself, or of ranks.
        target: The format, as for `refuse`.

    Raises:
        FormatError: There are no such merges.
    """
    try:
        return vocabulary.as_merges()
    except OptionError as error:
        refuse(target, str(error).rstrip("."))
