r"""The published split patterns by name, and the syntax tree and the notation of a pattern that combines several.

A pattern is given, stored and shown as one string, mostly a name or a regular expression. Three marks, which are
comments to the `regex` module, combine several; only this module reads and writes them:

    pattern = split | split "(?#then)" pattern | found-first "(?#else)" pattern
    split = name | ["(?#only)"] regular-expression
    found-first = literal { "|" literal } | regular-expression

"(?#then)" splits the pieces of the left side again by the right side. "(?#else)" makes each match of the left side a
piece and splits the text between them by the right side. "(?#only)" drops what the expression does not match.

>>> parse(r"<a>|<b>(?#else)words")
Else(first=('<a>', '<b>'), rest=Split(source='\\S+', drops_rest=True, name='words'))
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.visible import quoted, shortened, visible

_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SIGNS_AND_SPACE: Final = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"

PATTERNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "none": "",
        "words": r"\S+",
        "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        "gpt4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        "gpt4o": rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        "llama3": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_SIGNS_AND_SPACE}",
        "qwen2": rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_SIGNS_AND_SPACE}",
    }
)
"""Name -> regular expression, as published with the model's tokenizer; "" makes one piece of a document.

"gpt4" is cl100k_base as in tiktoken today: white space at the end of a text is one piece, newlines included. In its
first version, which Llama 3 adopted, it is split after the last newline: "llama3".
"""

_ONLY, _THEN, _ELSE = "(?#only)", "(?#then)", "(?#else)"
_MOST_PARTS: Final = (
    64  # patterns that may be combined; no published tokenizer combines more than five
)
_CHARACTER: Final = r"(?:[^\\.\[\](){}^$*+?|]|\\\W)"
_CHOICE_OF_TEXTS: Final = re.compile(rf"{_CHARACTER}+(?:\|{_CHARACTER}+)*")
_COMMENT: Final = re.compile(
    r"(\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\(\?#[^)]*\)", re.DOTALL
)
"""A comment, or what may hold the same characters without being one: an escape, or a set as the first group."""


@dataclass(frozen=True, slots=True)
class Split:
    """Split by one expression: each match is a piece, and so is the text between two matches unless `drops_rest`."""

    source: str  # a regular expression of the `regex` module; "" makes one piece of the whole text
    drops_rest: bool = False
    name: str = field(
        default="", compare=False
    )  # its name in `PATTERNS`; "" for an expression that has none

    def __str__(self) -> str:
        return self.name or (_ONLY + self.source if self.drops_rest else self.source)

    @classmethod
    def of_expression(cls, source: str) -> "Split":
        """The split by a regular expression from a file, which gets its name if it is published. Comments, which could
        be marks, are removed; a bare word, which could be a name, is put into a group."""
        names = {
            published: name
            for name, published in PATTERNS.items()
            if name not in ("none", "words")
        }
        if (
            source in names
        ):  # "words" is none of them, since it drops text, unlike its expression
            return cls(source, name=names[source])
        source = without_comments(source)
        return cls(f"(?:{source})" if is_bare_word(source) else source)


@dataclass(frozen=True, slots=True)
class Then:
    """The pieces of a split, split again."""

    first: Split
    rest: "Pattern"

    def __str__(self) -> str:
        return f"{self.first}{_THEN}{self.rest}"


@dataclass(frozen=True, slots=True)
class Else:
    """Each match of `first` is a piece; the text between them is split by `rest`."""

    first: (
        tuple[str, ...] | str
    )  # literal texts, of which the longest match wins; or an expression
    rest: "Pattern"

    def __str__(self) -> str:
        first = self.first
        if isinstance(first, tuple):
            first = "|".join(
                map(regex.escape, sorted(first, key=lambda text: (-len(text), text)))
            )
        return f"{first}{_ELSE}{self.rest}"


Pattern = Split | Then | Else


def parse(text: str) -> Pattern:
    """The tree of a pattern, its regular expressions unchecked. PatternError for a bare word that is no name."""
    if text.count(_THEN) + text.count(_ELSE) >= _MOST_PARTS:
        raise PatternError(
            f"The split pattern is more than {_MOST_PARTS} patterns in one; leave some out."
        )
    first, mark, rest = min(
        (text.partition(mark) for mark in (_THEN, _ELSE)),
        key=lambda parts: len(parts[0]),
    )
    if not mark:
        return _split(text)
    if mark == _THEN:
        return Then(_split(first), parse(rest))
    return Else(_texts(first) or first, parse(rest))  # the first side is never a name


def one_after_another(splits: Sequence[Pattern]) -> Pattern:
    """Patterns applied in turn, each to the pieces of the one before, all but the last a `Split`; "none" of none."""
    *firsts, last = splits or [parse("none")]
    for first in reversed(firsts):
        assert isinstance(first, Split), (
            "only a whole pattern that someone asked for is more"
        )
        last = Then(first, last)
    return last


def without_comments(source: str) -> str:
    """An equivalent regular expression without comments, and so without marks."""
    return (
        _COMMENT.sub(lambda found: (found[1] or "").replace("(?#", r"(?\#"), source)
        if "(?#" in source
        else source
    )


def is_bare_word(text: str) -> bool:
    """Whether a pattern is read as a name, not an expression: letters, digits, "-" and "_" only."""
    return text.replace("-", "").replace("_", "").isalnum()


def _split(text: str) -> Split:
    if text in PATTERNS:
        return Split(PATTERNS[text], drops_rest=text == "words", name=text)
    if is_bare_word(text):
        raise PatternError(
            f"There is no split pattern named {quoted(text)}; choose one of {', '.join(PATTERNS)}, "
            f"or write (?:{visible(shortened(text, 40))}) if it is meant as a regular expression."
        )
    return Split(text.removeprefix(_ONLY), drops_rest=text.startswith(_ONLY))


def _texts(source: str) -> tuple[str, ...]:
    """The literal texts of an expression that is nothing but an alternation of them by falling length; else ()."""
    if not _CHOICE_OF_TEXTS.fullmatch(source):
        return ()
    escaped = re.findall(rf"{_CHARACTER}+", source)
    texts = tuple(
        "".join(part[-1] for part in re.findall(r"\\?.", text, re.DOTALL))
        for text in escaped
    )
    return (
        texts if all(len(one) >= len(other) for one, other in pairwise(texts)) else ()
    )
