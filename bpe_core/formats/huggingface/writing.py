"""Writing tokenizer.json, what other formats share of it, and converting to objects of other libraries."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from bpe_core.errors import PatternError
from bpe_core.formats.file import refuse
from bpe_core.formats.ranks import merges_of
from bpe_core.patterns import splitter
from bpe_core.patterns.automaton import automaton_of
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Else, Pattern, Split, Then
from bpe_core.process import installed
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import AddedToken
from bpe_core.visible import visible
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.symbols import written

if TYPE_CHECKING:
    import tokenizers

_CONTRACTION: Final = "'(?i:[sdmt]|ll|ve|re)"
SOURCES: Final = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "gpt4": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
}
"""Published patterns that Oniguruma would understand differently -> an equivalent that it and `regex` agree on."""

_OTHERWISE: Final = re.compile(
    r"\{\d*,?\d*\}\+|(?<![\[\\])\^|(?<!\\)\$|\\[wWbBzZAGKRXhH]|\(\?(?![:=!>]|i:|<[=!])|\(\*|\[\[|&&|--|~~|\|\|"
)
"""Constructs on which Oniguruma and `regex` disagree, or may disagree."""

_BYTE_LEVEL: Final = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
"""As a pre-tokenizer after the splits, and as the decoder of every tokenizer of bytes, whatever the file read has."""

_TARGET: Final = "as a tokenizer.json"


def write(tokenizer: Tokenizer) -> Iterator[str]:
    """The text of tokenizer.json. Raises `FormatError` if Hugging Face's library would encode some text differently."""
    vocabulary, preparation = tokenizer.vocabulary, tokenizer.preparation
    pattern = tokenizer.splitter.tree
    if preparation:
        if not preparation.description:
            refuse(
                _TARGET,
                "what it does to a text before it splits it cannot be said there",
            )
        added = preparation.added
        pipeline = {
            "pre_tokenizer": None,
            **preparation.description,
            "decoder": _BYTE_LEVEL,
        }
        if "pre_tokenizer" not in preparation.description:
            pipeline["pre_tokenizer"] = pre_tokenizer(pattern)
    else:
        added = specials_of(vocabulary)
        if isinstance(pattern, Else):  # its texts are found first, as added tokens are
            texts = frozenset(pattern.first if isinstance(pattern.first, tuple) else ())
            whole = (
                (data.decode(errors="replace"), token)
                for data, token in vocabulary.whole_pieces.items()
            )
            found = tuple(
                AddedToken(text, token) for text, token in whole if text in texts
            )
            if not texts or texts != {token.text for token in found}:
                refuse(_TARGET, "its pattern finds something first that is no token")
            added, pattern = added + found, pattern.rest
        pipeline = {
            "normalizer": None,
            "pre_tokenizer": pre_tokenizer(pattern),
            "decoder": _BYTE_LEVEL,
        }
    ordinary = {token.text.encode() for token in added if not token.special}
    looks_up_whole = bool(vocabulary.whole_pieces.keys() - ordinary)
    if looks_up_whole and any(
        tokenizer.splitter.split(text) == [text] for text in vocabulary.special_tokens
    ):
        refuse(_TARGET, "the text of a special token is a piece by its pattern")
    for token, data in vocabulary.bytes_of.items() if looks_up_whole else ():
        if token in vocabulary and vocabulary.encode(data) != (
            token,
        ):  # `ignore_merges` means all or none
            refuse(
                _TARGET,
                f"the token {token} would be looked up as a whole there, and is not here",
            )
    model = {
        "type": "BPE",
        **dict.fromkeys(
            ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        ),
        **{"fuse_unk": False, "byte_fallback": False, "ignore_merges": looks_up_whole},
        **dict(zip(("vocab", "merges"), named(tokenizer, added), strict=True)),
    }
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    described = [
        {"id": one.token, "content": one.text}
        | {flag: getattr(one, flag) for flag in flags}
        for one in added
    ]
    head = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": described,
    }
    yield (
        json.dumps(
            head | pipeline | {"post_processor": None, "model": model},
            ensure_ascii=False,
            indent=1,
        )
        + "\n"
    )


def specials_of(vocabulary: Vocabulary) -> tuple[AddedToken, ...]:
    return tuple(
        AddedToken(text, token, special=True)
        for text, token in vocabulary.special_tokens.items()
    )


def named(
    tokenizer: Tokenizer, added: Iterable[AddedToken]
) -> tuple[dict[str, int], list[list[str]]]:
    """(name -> id of all tokens, in the byte alphabet; [left name, right name] of each merge, in order). Added tokens
    are there, by their texts, because the library gives new ids to those that it does not find in the vocabulary."""
    vocabulary = tokenizer.vocabulary
    if not vocabulary.is_bytewise:
        refuse(_TARGET, "it is not made of bytes alone")
    merges = merges_of(vocabulary, _TARGET).merges
    ids = {token.text: token.token for token in added}
    by_text = set(ids.values()) - {token for _, _, token in merges}
    names = {
        token: written(vocabulary.token_bytes(token)) for token in vocabulary.ids()
    }
    for token, name in names.items():
        if token not in by_text:
            if (other := ids.setdefault(name, token)) != token:
                refuse(_TARGET, f"the tokens {other} and {token} have the same bytes")
            if not name:
                refuse(_TARGET, f"the token {token} is empty")
    return ids, [[names[left], names[right]] for left, right, _ in merges]


def pre_tokenizer(pattern: Pattern) -> dict[str, Any]:
    splits: list[dict[str, Any]] = []
    rest: Pattern | None = pattern
    while rest:
        split, rest = (
            (rest.first, rest.rest) if isinstance(rest, Then) else (rest, None)
        )
        if isinstance(split, Else):
            refuse(_TARGET, "its pattern finds something first that is no token")
        if split.source or split.drops_rest:
            check_read_alike(split)
            source, behavior = (
                SOURCES.get(split.name, split.source),
                "Removed" if split.drops_rest else "Isolated",
            )
            how = {"behavior": behavior, "invert": split.drops_rest}
            splits.append({"type": "Split", "pattern": {"Regex": source}} | how)
    return (
        {"type": "Sequence", "pretokenizers": [*splits, _BYTE_LEVEL]}
        if splits
        else _BYTE_LEVEL
    )


def check_read_alike(
    split: Split, target: str = _TARGET, *, in_regex: bool = False
) -> None:
    """Raise `FormatError` for an expression, not published, that another library may understand differently, or that
    may match the empty text; `in_regex`: the library is `regex`. `target` names what is written, as in `refuse`. What
    its automaton cannot decide is tried on texts of up to two characters of its kinds."""
    if split.name or split == Split(""):
        return
    if not in_regex and (found := _OTHERWISE.search(split.source)):
        refuse(
            target,
            f"its pattern has {visible(found[0])}, which is not the same in other libraries",
        )
    may_be_empty = True
    if automaton := automaton_of(split.source):
        may_be_empty = automaton.matches_empty
    else:
        expression, kinds = Expression(split.source), splitter(str(split)).kinds
        texts = ("", *kinds, *(one + other for one in kinds for other in kinds))
        with suppress(PatternError):
            may_be_empty = any(
                start == end for text in texts for start, end in expression.spans(text)
            )
    if may_be_empty:
        refuse(
            target,
            "its pattern may match nothing, and no library goes on behind that as another does",
        )


def matching_all(tokenizer: Tokenizer, target: str, *, in_regex: bool = False) -> str:
    """The expression by which a tokenizer splits, for a library that drops what it does not match: one that matches all
    of a text, unless it is published or drops the rest too. Raises `FormatError` as `check_read_alike` does."""
    split = tokenizer.splitter.tree
    if not isinstance(split, Split):
        refuse(target, "its pattern is several, one after another")
    check_read_alike(split, target, in_regex=in_regex)
    is_all = split.name or split.drops_rest or not split.source
    return split.source if is_all else rf"{split.source}|(?:(?!{split.source})[\s\S])+"


def to_tokenizers(tokenizer: Tokenizer) -> "tokenizers.Tokenizer":
    """A tokenizer of Hugging Face's library with the same ids, which encodes special tokens wherever they occur. Raises
    `FormatError` if tokenizer.json cannot express it, and `FetchError` if the library is not installed."""
    library = installed("tokenizers", "to_tokenizers", "dev")
    converted: tokenizers.Tokenizer = library.Tokenizer.from_str(
        "".join(write(tokenizer))
    )
    return converted
