r"""A split pattern as a tree, and as the one text in which it is written, kept and shown.

A text is the name of a published pattern or a regular expression. Three marks, which are comments to the `regex`
module, make a tree of several; this module alone reads and writes them:

    pattern = split | split "(?#then)" pattern | found-first "(?#else)" pattern
    split = name | ["(?#only)"] regular-expression

>>> parse(r"<a>|<b>(?#else)words")
Else(first=('<a>', '<b>'), rest=Split(source='\\S+', drops_rest=True, name='words'))
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import regex

from bpe_core.errors import PatternError
from bpe_core.patterns.published import PATTERNS
from bpe_core.visible import visible

_ONLY: Final = "(?#only)"
_THEN: Final = "(?#then)"
_ELSE: Final = "(?#else)"

_MOST_PARTS: Final = 64
"""Patterns in one; the most that a published tokenizer has are five."""

_CHARACTER: Final = r"(?:[^\\.\[\](){}^$*+?|]|\\\W)"
_CHOICE_OF_TEXTS: Final = re.compile(rf"{_CHARACTER}+(?:\|{_CHARACTER}+)*")
_COMMENT: Final = re.compile(r"(\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\(\?#[^)]*\)", re.DOTALL)
"""A comment, or what may hold the same characters without being one: an escape, or a set as the first group."""

_NAME_OF: Final = {source: name for name, source in PATTERNS.items() if source and name != "words"}
"""The patterns that keep all of a text: elsewhere than here, no regular expression says that some of it is dropped."""


@dataclass(frozen=True, slots=True)
class Split:
    """The matches of one expression are pieces; so is what lies between two of them, unless it is dropped."""

    source: str
    """A regular expression of the `regex` module; "" keeps a text whole."""
    drops_rest: bool = False
    """Whether what it does not match is dropped."""
    name: str = field(default="", compare=False)
    """What it is called in `PATTERNS`, if it was asked for by that name."""

    def __str__(self) -> str:
        return self.name or (_ONLY + self.source if self.drops_rest else self.source)

    @classmethod
    def of_expression(cls, source: str) -> "Split":
        """The split by a regular expression from elsewhere: published or not, and never taken for a name or a mark."""
        if name := _NAME_OF.get(source):
            return cls(source, name=name)
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
    """What is found first is a piece of its own; what lies between is split."""

    first: tuple[str, ...] | str
    """Texts, of which the longest counts where several begin at one place; or a regular expression."""
    rest: "Pattern"

    def __str__(self) -> str:
        return f"{_found_first(self.first)}{_ELSE}{self.rest}"

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts; none if it is an expression."""
        return self.first if isinstance(self.first, tuple) else ()


Pattern = Split | Then | Else


def parse(text: str) -> Pattern:
    """The tree of a pattern. PatternError if it has too many parts, or one is a bare word and no published name.

    Whether its regular expressions are valid is not looked at.
    """
    if text.count(_THEN) + text.count(_ELSE) >= _MOST_PARTS:
        raise PatternError(f"The split pattern is more than {_MOST_PARTS} patterns in one; leave some out.")
    first, mark, rest = min((text.partition(mark) for mark in (_THEN, _ELSE)), key=lambda parts: len(parts[0]))
    match mark:
        case "":
            return _split(text)
        case "(?#then)":
            return Then(_split(first), parse(rest))
    return Else(_texts(first) or first, parse(rest))


def in_full(pattern: Pattern) -> str:
    """The text of a pattern with the expressions of published ones instead of their names; "words" is `\\S+`."""
    match pattern:
        case Split(source):
            return source if pattern.name else str(pattern)
        case Then(first, rest):
            return f"{in_full(first)}{_THEN}{in_full(rest)}"
        case Else(found, rest):
            return f"{_found_first(found)}{_ELSE}{in_full(rest)}"


def one_after_another(splits: Sequence[Pattern]) -> Pattern:
    """Patterns applied in turn, each to the pieces of the one before, of which all but the last are splits.

    Without any a text is kept whole.
    """
    *firsts, last = splits or [parse("none")]
    for first in reversed(firsts):
        assert isinstance(first, Split), "only a whole pattern that someone asked for is more"
        last = Then(first, last)
    return last


def without_comments(source: str) -> str:
    """A regular expression that means the same and holds none of the marks."""
    return _COMMENT.sub(lambda found: (found[1] or "").replace("(?#", r"(?\#"), source) if "(?#" in source else source


def longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    """Texts in the order in which `Else` has them."""
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


def is_bare_word(text: str) -> bool:
    """Whether it is taken for a name, known or not."""
    return text.replace("-", "").replace("_", "").isalnum()


def _split(text: str) -> Split:
    if text in PATTERNS:
        return Split(PATTERNS[text], drops_rest=text == "words", name=text)
    if is_bare_word(text):
        raise PatternError(
            f"There is no split pattern named '{visible(text)}'; choose one of {', '.join(PATTERNS)}, "
            f"or write (?:{visible(text)}) if it is meant as a regular expression."
        )
    return Split(text.removeprefix(_ONLY), drops_rest=text.startswith(_ONLY))


def _found_first(first: tuple[str, ...] | str) -> str:
    return first if isinstance(first, str) else "|".join(map(regex.escape, first))


def _texts(source: str) -> tuple[str, ...]:
    """The texts that a regular expression is a choice of, none before a longer one; none if it is more than that."""
    if not _CHOICE_OF_TEXTS.fullmatch(source):
        return ()
    escaped = re.findall(rf"{_CHARACTER}+", source)
    texts = tuple("".join(part[-1] for part in re.findall(r"\\?.", text, re.DOTALL)) for text in escaped)
    return texts if all(len(one) >= len(other) for one, other in pairwise(texts)) else ()
