"""Writing for Hugging Face's tokenizers: names in the byte alphabet, merges as pairs of names, a pre-tokenizer."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn

from bpe_core.errors import FormatError
from bpe_core.formats.empty_matches import may_match_nothing
from bpe_core.formats.ranks import joined_by_rank
from bpe_core.patterns.pattern import Pattern, Split, Then
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.visible import visible
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.byte_alphabet import written

_CONTRACTION: Final = "'(?i:[sdmt]|ll|ve|re)"
_SOURCES: Final = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "gpt4": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
}
"""The patterns that Oniguruma would read otherwise, in words that it and `regex` read alike."""

_OTHERWISE: Final = re.compile(
    r"\{\d*,?\d*\}\+|(?<![\[\\])\^|(?<!\\)\$|\\[wWbBzZAGKRXhH]|\(\?(?![:=!>]|i:|<[=!])|\(\*|\[\[|&&|--|~~|\|\|"
)
"""What a pattern may hold that the two do not, or may not, read alike."""


def names_of(tokenizer: Tokenizer, added: Iterable[AddedToken]) -> dict[str, int]:
    """Name -> id of all tokens. Raises `FormatError` where names would not tell them apart.

    Tokens that are added are among them by their texts: the library would give other ids to those it does not find.
    """
    vocabulary = tokenizer.vocabulary
    if not vocabulary.is_bytewise:
        refuse("it is not made of bytes alone")
    names = {token.text: token.token for token in added}
    apart = set(names.values()) - {token for _, _, token in vocabulary.merges}
    for token in vocabulary.ids():
        if token not in apart:
            name = written(vocabulary.token_bytes(token))
            other = names.setdefault(name, token)
            if other != token:
                refuse(f"the tokens {other} and {token} have the same bytes")
            if not name:
                refuse(f"the token {token} is empty")
    return names


def pairs_of(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """The names that each merge joins, in order.

    Raises `FormatError` if merges cannot tell how the vocabulary encodes: of a token that only a whole piece becomes,
    two others may stand side by side.
    """
    name = {token: written(vocabulary.token_bytes(token)) for token in vocabulary.ids()}
    for left, right, _ in vocabulary.merges:
        yield name[left], name[right]
    odd = joined_by_rank(vocabulary)
    if odd is not None:
        refuse(f"the token {odd} is joined by its rank, from parts that no merge names")


def pre_tokenizer_of(pattern: Pattern) -> dict[str, Any]:
    """The pre-tokenizer that splits by a pattern. Raises `FormatError`."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    splits = list(map(_described, _splits(pattern)))
    return {"type": "Sequence", "pretokenizers": [*splits, byte_level]} if splits else byte_level


def _splits(pattern: Pattern) -> Iterator[Split]:
    match pattern:
        case Split():
            if pattern.source or pattern.drops_rest:
                yield pattern
        case Then(first, rest):
            yield from _splits(first)
            yield from _splits(rest)
        case _:
            refuse("its pattern finds something first that is no token")


def _described(split: Split) -> dict[str, Any]:
    """One Split."""
    source = _SOURCES.get(split.name, split.source)
    check_read_alike(split)
    behavior = "Removed" if split.drops_rest else "Isolated"
    return {"type": "Split", "pattern": {"Regex": source}, "behavior": behavior, "invert": split.drops_rest}


def check_read_alike(split: Split, target: str = "a tokenizer.json") -> None:
    """Raise `FormatError` for an expression of one's own that other libraries may read otherwise than `regex` does."""
    if split.name:
        return
    if found := _OTHERWISE.search(split.source):
        refuse(f"its pattern has {visible(found[0])}, which is not the same in other libraries", target)
    if may_match_nothing(split):
        refuse("its pattern may match nothing, and no library goes on behind that as another does", target)


def refuse(problem: str, target: str = "a tokenizer.json") -> NoReturn:
    """Raise the error that says why a tokenizer cannot be written so."""
    raise FormatError(f"This tokenizer cannot be written as {target}: {problem}; choose another format.")


def dumped(values: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a JSON file."""
    yield json.dumps(values, ensure_ascii=False, indent=1) + "\n"
