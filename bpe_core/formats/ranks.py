"""Vocabularies of ranks, where any two neighbors join whose bytes together are a token, the lowest rank first.

A vocabulary of merges can be written so if ranks give the same ids for every text.
"""

from binascii import a2b_base64
from collections.abc import Mapping

from bpe_core.errors import OptionError
from bpe_core.formats.file import TokenizerFile, refuse
from bpe_core.patterns.pattern import Else
from bpe_core.tokenizer import Tokenizer
from bpe_core.visible import token_label
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.ranked import RankedVocabulary, recovered
from bpe_core.vocabulary.symbols import ByteSymbols, bytes_among


def from_base64(word: str | bytes) -> bytes | None:
    """The bytes of a token in base64; None if it is not that. "=", as a published file has it, is an empty token."""
    try:
        return b"" if word in ("=", b"=") else a2b_base64(word, strict_mode=True)
    except ValueError:
        return None


def vocabulary_of(
    file: TokenizerFile,
    tokens: Mapping[int, bytes],
    special_tokens: Mapping[str, int],
    id_of: Mapping[bytes, int] | None = None,
    first: int = 0,
) -> RankedVocabulary:
    """The vocabulary of the tokens (id -> bytes) in a file, where rank 0 has the id `first`. `id_of` is the inverse of
    `tokens`; if it is given, `tokens` must be ascending by id and without equal bytes."""
    if id_of is None:
        tokens, id_of = dict(sorted(tokens.items())), {}
        for token, data in tokens.items():
            if (other := id_of.setdefault(data, token)) != token:
                file.broken(
                    f"the ranks {other - first} and {token - first} stand for the same bytes"
                )
    symbols = {
        byte: id_of[data] for byte in range(256) if (data := bytes([byte])) in id_of
    }
    if lacking := sorted(set(range(256)) - symbols.keys()):
        file.broken(
            f"there is no token for the byte 0x{lacking[0]:02x}, so the file is not complete"
        )
    return RankedVocabulary(
        tokens, special_tokens, symbols=ByteSymbols(symbols), id_of=id_of
    )


def ranks_of(tokenizer: Tokenizer) -> dict[int, bytes]:
    """Id -> bytes of all ordinary tokens, ascending by id; refused if merging by ranks gives some text other ids."""
    vocabulary = tokenizer.vocabulary
    if not vocabulary.is_bytewise:
        refuse("as ranks", "it is not made of bytes alone")
    if tokenizer.preparation and not tokenizer.preparation.only_splits:
        refuse(
            "as ranks", "it does more to a text than split it, which ranks cannot tell"
        )
    if isinstance(tokenizer.splitter.tree, Else):
        refuse(
            "as ranks",
            "it looks for some tokens before it splits a text, which ranks can't tell",
        )
    if isinstance(vocabulary, RankedVocabulary):
        return dict(sorted(vocabulary.bytes_of.items()))
    ordinary = vocabulary.base.keys() | {
        token for _, _, token in vocabulary.merges
    }  # some are special as well
    tokens = {token: vocabulary.token_bytes(token) for token in sorted(ordinary)}
    _check(vocabulary, tokens)
    return tokens


def _check(vocabulary: Vocabulary, tokens: dict[int, bytes]) -> None:
    """Refuse a vocabulary unless merging by ranks is equivalent to its merges: ids ascend in their order, and the merge
    recovered for each token from the ranks is the one that made it; `recovered` says why."""
    id_of = {data: token for token, data in tokens.items()}
    if len(id_of) < len(tokens):
        twice = next(token for token, data in tokens.items() if id_of[data] != token)
        refuse(
            "as ranks",
            f"the tokens {twice} and {id_of[tokens[twice]]} have the same bytes",
        )
    if lacking := [byte for byte in range(256) if bytes([byte]) not in id_of]:
        refuse("as ranks", f"there is no token for the byte 0x{lacking[0]:02x}")
    if vocabulary.has_repeats:
        refuse("as ranks", "some of its tokens are made by more than one merge")
    last = 0
    for token, data in tokens.items():
        if step := vocabulary.step_of(token):
            if step < last:
                refuse(
                    "as ranks",
                    f"the token {token} '{token_label(data)}' is made before some of a lower id",
                )
            last = step
    found = recovered(ByteSymbols(bytes_among(tokens)), id_of)
    whole = vocabulary.whole_pieces
    for (token, data), merge in zip(tokens.items(), found, strict=True):
        is_alike = (
            merge[:2] == vocabulary.parents(token)
            if merge
            else len(data) < 2 or whole.get(data) == token
        )
        if not is_alike:
            refuse(
                "as ranks",
                f"the token {token} '{token_label(data)}' would be made in another way there",
            )
    for _, _, token in RankedVocabulary(tokens).late_merges():
        label = token_label(tokens[token])
        refuse(
            "as ranks",
            f"the token {token} '{label}' would be joined by its rank, and no merge makes it",
        )


def merges_of(vocabulary: Vocabulary, target: str) -> Vocabulary:
    """The vocabulary of merges that a file can be written from, which gives every piece the same ids as `vocabulary`.
    Refused if there is none; `target` is as in `refuse`."""
    try:
        return vocabulary.as_merges()
    except OptionError as error:
        refuse(target, str(error).rstrip("."))
