"""Parts of Hugging Face's files: names in the byte alphabet, merges as pairs of names, pre-tokenizers."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NoReturn

from bpe_core.errors import FormatError, PatternError
from bpe_core.formats.ranks import joined_by_rank
from bpe_core.patterns import splitter
from bpe_core.patterns.automaton import Automaton
from bpe_core.patterns.expression import Expression
from bpe_core.patterns.pattern import Pattern, Split, Then
from bpe_core.patterns.syntax import NotPlain, parse
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.added_tokens import AddedToken
from bpe_core.visible import visible
from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.symbols import written


def may_match_nothing(split: Split) -> bool:
    """Whether the expression can match the empty text, as far as known.

    Decided by its automaton; an expression that is not plain is tried on texts of up to two characters of its kinds.
    """
    try:
        return Automaton(parse(split.source)).matches_empty
    except (NotPlain, RecursionError):
        pass
    try:
        expression, kinds = Expression(split.source), splitter(str(split)).kinds
        texts = ("", *kinds, *(one + other for one in kinds for other in kinds))
        return any(start == end for text in texts for start, end in expression.spans(text))
    except PatternError:
        return True


_CONTRACTION: Final = "'(?i:[sdmt]|ll|ve|re)"
_SOURCES: Final = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "gpt4": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
    r"|\s+\z|\s*[\r\n]|\s+(?!\S)|\s",
}
"""Published patterns that Oniguruma would understand differently -> an equivalent that it and `regex` agree on."""

_OTHERWISE: Final = re.compile(
    r"\{\d*,?\d*\}\+|(?<![\[\\])\^|(?<!\\)\$|\\[wWbBzZAGKRXhH]|\(\?(?![:=!>]|i:|<[=!])|\(\*|\[\[|&&|--|~~|\|\|"
)
"""Constructs on which Oniguruma and `regex` disagree, or may disagree."""


def names_of(tokenizer: Tokenizer, added: Iterable[AddedToken]) -> dict[str, int]:
    """Name -> id of all tokens, in the byte alphabet; added tokens are named by their texts.

    Added tokens are included because the library gives new ids to those that it does not find in the vocabulary.
    Raises `FormatError` if two tokens would have the same name, or one an empty name.
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
    """(left name, right name) of each merge, in order.

    Raises `FormatError` if the merges do not determine the encoding, see `ranks.joined_by_rank`.
    """
    name = {token: written(vocabulary.token_bytes(token)) for token in vocabulary.ids()}
    for left, right, _ in vocabulary.merges:
        yield name[left], name[right]
    odd = joined_by_rank(vocabulary)
    if odd is not None:
        refuse(f"the token {odd} is joined by its rank, from parts that no merge names")


def pre_tokenizer_of(pattern: Pattern) -> dict[str, Any]:
    """The pre-tokenizer that splits by `pattern`. Raises `FormatError` if there is none."""
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
    """The object of one Split. Raises `FormatError`."""
    source = _SOURCES.get(split.name, split.source)
    check_read_alike(split)
    behavior = "Removed" if split.drops_rest else "Isolated"
    return {"type": "Split", "pattern": {"Regex": source}, "behavior": behavior, "invert": split.drops_rest}


def check_read_alike(split: Split, target: str = "a tokenizer.json") -> None:
    """Raise `FormatError` for an expression, not published, that other libraries may understand differently.

    `target` names what is written, as in `refuse`.
    """
    if split.name:
        return
    if found := _OTHERWISE.search(split.source):
        refuse(f"its pattern has {visible(found[0])}, which is not the same in other libraries", target)
    if may_match_nothing(split):
        refuse("its pattern may match nothing, and no library goes on behind that as another does", target)


def refuse(problem: str, target: str = "a tokenizer.json") -> NoReturn:
    """Raise the `FormatError` that the tokenizer cannot be written as `target`; `problem` is a clause that says why."""
    raise FormatError(f"This tokenizer cannot be written as {target}: {problem}; choose another format.")


def dumped(values: Mapping[str, Any]) -> Iterator[str]:
    """The text of a JSON file."""
    yield json.dumps(values, ensure_ascii=False, indent=1) + "\n"
