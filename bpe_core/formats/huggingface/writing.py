"""Writing a tokenizer.json, parts of it for other formats, and the library's own object."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bpe_core.formats.expressions import SOURCES, check_read_alike
from bpe_core.formats.file import refuse
from bpe_core.formats.ranks import merges_of
from bpe_core.patterns.pattern import Else, Pattern, Split, Then
from bpe_core.process import installed
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import AddedToken
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.symbols import name_of_bytes

if TYPE_CHECKING:
    import tokenizers

_BYTE_LEVEL: Final = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
"""The pre-tokenizer after the splits, and the decoder, of every tokenizer of bytes."""
_STRIP: Final = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
"""The decoder that drops a space at the beginning of a text."""
_FLAGS: Final = ("single_word", "lstrip", "rstrip", "normalized", "special")
"""The fields of an added token that are flags in the file."""
_TARGET: Final = "as a tokenizer.json"


class NamedTokens(NamedTuple):
    """The tokens and merges of a vocabulary, with names in the byte alphabet."""

    ids: dict[str, int]
    """Name -> id."""
    merges: list[list[str]]
    """[left name, right name] of each merge, in order."""


class WrittenPipeline(NamedTuple):
    """The parts of a tokenizer.json other than the model."""

    components: dict[str, Any]
    """The values of "normalizer", "pre_tokenizer" and "decoder"."""
    added: tuple[AddedToken, ...]


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the text of a tokenizer.json.

    Raises:
        FormatError: Hugging Face's library would encode some text differently.
    """
    pipeline = _pipeline(tokenizer)
    looks_up_whole = _looks_up_whole(tokenizer, pipeline.added)
    tokens = named(tokenizer, pipeline.added)
    content = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_described(token) for token in pipeline.added],
        **pipeline.components,
        "post_processor": None,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": looks_up_whole,
            "vocab": tokens.ids,
            "merges": tokens.merges,
        },
    }
    yield json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _described(token: AddedToken) -> dict[str, Any]:
    flags = {flag: getattr(token, flag) for flag in _FLAGS}
    return {"id": token.token, "content": token.text, **flags}


def _pipeline(tokenizer: Tokenizer) -> WrittenPipeline:
    pattern = tokenizer.splitter.tree
    preparation = tokenizer.preparation
    if preparation:
        if not preparation.description:
            refuse(
                _TARGET,
                "it changes a text before it splits it in a way that the file can't describe",
            )
        components = {
            "pre_tokenizer": None,
            **preparation.description,
            "decoder": _BYTE_LEVEL,
        }
        if preparation.drops_space:
            decoders = [_BYTE_LEVEL, _STRIP]
            components["decoder"] = {"type": "Sequence", "decoders": decoders}
        if "pre_tokenizer" not in preparation.description:
            components["pre_tokenizer"] = pre_tokenizer(pattern)
        return WrittenPipeline(components, preparation.added)
    added = specials_of(tokenizer.vocabulary)
    if isinstance(pattern, Else):
        added += _found_first(pattern, tokenizer.vocabulary)
        pattern = pattern.rest
    components = {
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer(pattern),
        "decoder": _BYTE_LEVEL,
    }
    return WrittenPipeline(components, added)


def _found_first(pattern: Else, vocabulary: Vocabulary) -> tuple[AddedToken, ...]:
    """Return the tokens whose texts the pattern finds first, as the library finds added tokens."""
    texts = set(pattern.first if isinstance(pattern.first, tuple) else ())
    tokens: list[AddedToken] = []
    for data, token in vocabulary.whole_pieces.items():
        text = data.decode(errors="replace")
        if text in texts:
            tokens.append(AddedToken(text, token))
    if not texts or texts != {token.text for token in tokens}:
        refuse(
            _TARGET,
            "its pattern first cuts out text that is not a token, which the file cannot express",
        )
    return tuple(tokens)


def _looks_up_whole(tokenizer: Tokenizer, added: Iterable[AddedToken]) -> bool:
    """Return the flag `ignore_merges`: whether a piece that is a token becomes it without merging.

    In the file it is true for all pieces or for none. A tokenizer with only some is refused.
    """
    vocabulary = tokenizer.vocabulary
    ordinary = {token.text.encode() for token in added if not token.special}
    if not vocabulary.whole_pieces.keys() - ordinary:
        return False
    for text in vocabulary.special_tokens:
        if tokenizer.splitter.split(text) == [text]:
            refuse(_TARGET, "the text of a special token is a piece by its pattern")
    for token, data in vocabulary.bytes_of.items():
        if token in vocabulary and vocabulary.encode(data) != (token,):
            refuse(
                _TARGET,
                f"the library would look up the token {token} as a whole piece, and bpescope does not",
            )
    return True


def specials_of(vocabulary: Vocabulary) -> tuple[AddedToken, ...]:
    """Return the special tokens of a vocabulary as added tokens."""
    return tuple(
        AddedToken(text, token, special=True)
        for text, token in vocabulary.special_tokens.items()
    )


def named(tokenizer: Tokenizer, added: Iterable[AddedToken]) -> NamedTokens:
    """Return the tokens and merges of a tokenizer by their names.

    Added tokens are among them, by their texts: the library gives new ids to added tokens that are
    not in the vocabulary.

    Raises:
        FormatError: Two tokens have the same bytes, a token is empty, or a token is not made of
            bytes.
    """
    vocabulary = tokenizer.vocabulary
    if not vocabulary.is_bytewise:
        refuse(_TARGET, "it is not made of bytes alone")
    merges = merges_of(vocabulary, _TARGET).merges
    made = {token for _, _, token in merges}
    ids = {token.text: token.token for token in added}
    named_by_text = set(ids.values()) - made
    names = {
        token: name_of_bytes(vocabulary.token_bytes(token))
        for token in vocabulary.ids()
    }
    for token, name in names.items():
        if token in named_by_text:
            continue
        other = ids.setdefault(name, token)
        if other != token:
            refuse(_TARGET, f"the tokens {other} and {token} have the same bytes")
        if not name:
            refuse(_TARGET, f"the token {token} is empty")
    return NamedTokens(ids, [[names[left], names[right]] for left, right, _ in merges])


def pre_tokenizer(pattern: Pattern) -> dict[str, Any]:
    """Return the pre-tokenizer of a tokenizer.json that splits by a pattern.

    Raises:
        FormatError: The library would split some text differently.
    """
    splits: list[Split] = []
    while isinstance(pattern, Then):
        splits.append(pattern.first)
        pattern = pattern.rest
    if isinstance(pattern, Else):
        refuse(
            _TARGET,
            "its pattern first cuts out text that is not a token, which the file cannot express",
        )
    splits.append(pattern)
    parts: list[dict[str, Any]] = []
    for split in splits:
        if not split.source and not split.drops_rest:
            continue  # it makes one piece of the whole text
        check_read_alike(split, _TARGET)
        parts.append(
            {
                "type": "Split",
                "pattern": {"Regex": SOURCES.get(split.name, split.source)},
                "behavior": "Removed" if split.drops_rest else "Isolated",
                "invert": split.drops_rest,
            }
        )
    if not parts:
        return _BYTE_LEVEL
    return {"type": "Sequence", "pretokenizers": [*parts, _BYTE_LEVEL]}


def to_tokenizers(tokenizer: Tokenizer) -> "tokenizers.Tokenizer":
    """Return a tokenizer of Hugging Face's library with the same ids.

    The tokenizer encodes special tokens wherever they occur in a text.

    Raises:
        FormatError: A tokenizer.json can't express the tokenizer.
        FetchError: The library is not installed.
    """
    library = installed("tokenizers", "to_tokenizers", "dev")
    content = "".join(write(tokenizer))
    converted: tokenizers.Tokenizer = library.Tokenizer.from_str(content)
    return converted
