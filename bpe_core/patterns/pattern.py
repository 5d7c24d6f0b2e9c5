r"""Define the published split patterns, and the notation and syntax tree of combined patterns.

A pattern is given, stored and shown as one string, usually a name or a regular expression. Three marks combine several
patterns. They are comments to the `regex` module; only this module reads and writes them:

    pattern = split | split "(?#then)" pattern | found-first "(?#else)" pattern
    split = name | ["(?#only)"] regular-expression
    found-first = literal { "|" literal } | regular-expression

"(?#then)" splits the pieces of the left side again by the right side. "(?#else)" makes each match of the left side a
piece and splits the text between the matches by the right side. "(?#only)" drops text that the expression does not
match.

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

"gpt4" is cl100k_base in today's tiktoken: white space at the end of a text is one piece, with its newlines. In its first
version, which Llama 3 adopted, that white space is split after the last newline: "llama3".
"""

_ONLY, _THEN, _ELSE = "(?#only)", "(?#then)", "(?#else)"
_MOST_PARTS: Final = 64
"""Maximum number of patterns that can be combined. No published tokenizer combines more than five."""
_CHARACTER: Final = r"(?:[^\\.\[\](){}^$*+?|]|\\\W)"
_CHOICE_OF_TEXTS: Final = re.compile(rf"{_CHARACTER}+(?:\|{_CHARACTER}+)*")
_COMMENT: Final = re.compile(
    r"(\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\(\?#[^)]*\)", re.DOTALL
)
"""Matches a comment, or in the first group an escape or a set, which may look like a comment."""


@dataclass(frozen=True, slots=True)
class Split:
    """A split by one expression: each match is a piece, and so is the text between two matches."""

    source: str
    """A regular expression of the `regex` module; "" makes one piece of the whole text."""
    drops_rest: bool = False
    """Whether text between two matches is dropped."""
    name: str = field(default="", compare=False)
    """The name of the split in `PATTERNS`; "" for an expression without a name."""

    def __str__(self) -> str:
        if self.name:
            return self.name
        return _ONLY + self.source if self.drops_rest else self.source

    @classmethod
    def of_expression(cls, source: str) -> "Split":
        """Return the split by a regular expression from a file, with its name if it is a published one.

        Comments are removed, since one could be read as a mark such as `(?#then)`. A bare word is put into a group, so
        that it is not read as the name of a pattern.
        """
        for name, published in PATTERNS.items():
            # "words" drops text, unlike its expression.
            if source == published and name not in ("none", "words"):
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
    """Each match of `first` is a piece; the text between the matches is split by `rest`."""

    first: tuple[str, ...] | str
    """Literal texts, where the longest match wins, or an expression."""
    rest: "Pattern"

    def __str__(self) -> str:
        first = self.first
        if isinstance(first, tuple):
            longest_first = sorted(first, key=lambda text: (-len(text), text))
            first = "|".join(map(regex.escape, longest_first))
        return f"{first}{_ELSE}{self.rest}"


Pattern = Split | Then | Else


def parse(text: str) -> Pattern:
    """Return the tree of a pattern. Its regular expressions are not checked.

    Raises:
        PatternError: A bare word is not a name of `PATTERNS`, or too many patterns are combined.
    """
    if text.count(_THEN) + text.count(_ELSE) >= _MOST_PARTS:
        raise PatternError(
            f"The split pattern combines more than {_MOST_PARTS} patterns; leave some out."
        )
    before_then, then, after_then = text.partition(_THEN)
    before_else, or_else, after_else = text.partition(_ELSE)
    if then and len(before_then) < len(before_else):
        return Then(_split(before_then), parse(after_then))
    if or_else:
        # The first side is never a name.
        return Else(_texts(before_else) or before_else, parse(after_else))
    return _split(text)


def one_after_another(splits: Sequence[Pattern]) -> Pattern:
    """Combine patterns. Each one splits the pieces of the one before. All except the last are a `Split`."""
    if not splits:
        return parse("none")
    combined = splits[-1]
    for first in reversed(splits[:-1]):
        assert isinstance(first, Split)
        combined = Then(first, combined)
    return combined


def without_comments(source: str) -> str:
    """Return an equivalent regular expression without comments, and so without marks."""
    if "(?#" not in source:
        return source

    def without_mark(found: re.Match[str]) -> str:
        escape_or_set = found[1] or ""
        return escape_or_set.replace("(?#", r"(?\#")

    return _COMMENT.sub(without_mark, source)


def is_bare_word(text: str) -> bool:
    """Whether a pattern is read as a name, not as an expression: it has only letters, digits, "-" and "_"."""
    return text.replace("-", "").replace("_", "").isalnum()


def _split(text: str) -> Split:
    if text in PATTERNS:
        return Split(PATTERNS[text], drops_rest=text == "words", name=text)
    if is_bare_word(text):
        raise PatternError(
            f"Unknown split pattern {quoted(text)}; choose one of {', '.join(PATTERNS)}, "
            f"or write (?:{visible(shortened(text, 40))}) if you mean a regular expression."
        )
    return Split(text.removeprefix(_ONLY), drops_rest=text.startswith(_ONLY))


def _texts(source: str) -> tuple[str, ...]:
    """Return the texts of an expression that is only an alternation of texts, the longest first; else ()."""
    if not _CHOICE_OF_TEXTS.fullmatch(source):
        return ()
    texts: list[str] = []
    for escaped in re.findall(rf"{_CHARACTER}+", source):
        characters = re.findall(r"\\?.", escaped, re.DOTALL)
        texts.append("".join(character[-1] for character in characters))
    if any(len(text) < len(next_text) for text, next_text in pairwise(texts)):
        return ()
    return tuple(texts)
