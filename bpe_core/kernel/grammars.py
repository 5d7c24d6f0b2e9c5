r"""Recognize the split patterns that the kernel's scanner supports, and make their scanners.

The published patterns consist of the same few alternatives, in the same order. The tables here list the known spellings
of each alternative. A pattern with any other alternative has no scanner. Possessive quantifiers such as `++` are read
as `+`, since backtracking never changes a match of these patterns.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from struct import pack
from typing import Final, NamedTuple, TypeVar

import regex

from bpe_core import kernel
from bpe_core.utf8 import every_character

# The bits of the sets of characters; see scan.h.
UPPER: Final = 1
LOWER: Final = 2
PREFIX: Final = 4
NUMBER: Final = 8
SIGN: Final = 16
TAIL: Final = 32
SPACE: Final = 64
NEWLINE: Final = 128

BOTH: Final = UPPER | LOWER

Sets = tuple[tuple[str, int], ...]
"""Pairs of a regular expression for one character and the sets of the characters that match it.
Later ones override earlier ones."""

Field = TypeVar("Field")


class _Words(NamedTuple):
    """How a pattern matches a word."""

    letters: Sets
    spaced: bool
    """Whether only a space may precede the letters; otherwise any character may, except letters,
    digits and line breaks."""
    contractions: int = 0
    """3 if a contraction such as 'll may end a word; 0 if it is a piece of its own."""


class _WhiteSpace(NamedTuple):
    """How a pattern matches white space. `scanner` in scan.h has the same fields."""

    lines: bool
    end_first: bool


_PREFIX: Final = r"[^\r\n\p{L}\p{N}]?"
_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_IGNORING_CASE: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SIGNS: Final = r" ?[^\s\p{L}\p{N}]+"

_LETTERS: Final[Sets] = ((r"\p{L}", BOTH),)
_CASED: Final[Sets] = (
    (r"\p{L}", BOTH),
    (r"\p{Lu}", UPPER),
    (r"\p{Lt}", UPPER),
    (r"\p{Ll}", LOWER),
    (r"\p{M}", BOTH | SIGN | PREFIX),
)

_CONTRACTIONS: Final = {
    "": 0,
    "'(?:[sdmt]|ll|ve|re)|": 1,
    "'s|'t|'re|'ve|'m|'ll|'d|": 1,
    "'(?i:[sdmt]|ll|ve|re)|": 2,
    f"{_IGNORING_CASE}|": 2,
}
"""The numbers are those of `contractions` in scan.h."""
_UPPER_LOWER: Final = f"{_PREFIX}{_UPPER}*{_LOWER}+"
_UPPER_ONLY: Final = f"{_PREFIX}{_UPPER}+{_LOWER}*"
_WORDS: Final = {
    r" ?\p{L}+|": _Words(_LETTERS, spaced=True),
    rf"{_PREFIX}\p{{L}}+|": _Words(_LETTERS, spaced=False),
    f"{_UPPER_LOWER}|{_UPPER_ONLY}|": _Words(_CASED, spaced=False),
    f"{_UPPER_LOWER}{_IGNORING_CASE}?|{_UPPER_ONLY}{_IGNORING_CASE}?|": _Words(
        _CASED, spaced=False, contractions=3
    ),
}
_MOST_DIGITS: Final = {
    r" ?\p{N}+|": 0,
    r"\p{N}|": 1,
    r"\p{N}{1,2}|": 2,
    r"\p{N}{1,3}|": 3,
    r"\p{N}+|": (1 << 32) - 1,
}
"""The most digits in a piece; 0 for any number, after a space or not."""
_TAILS: Final = {
    f"{_SIGNS}|": "",
    rf"{_SIGNS}[\r\n]*|": "\r\n",
    rf"{_SIGNS}[\r\n/]*|": "\r\n/",
}
"""The characters that may end a piece of signs."""
_WHITE_SPACE: Final = {
    r"\s+(?!\S)|\s+|": _WhiteSpace(lines=False, end_first=False),
    r"\s+$|\s+(?!\S)|\s|": _WhiteSpace(lines=False, end_first=True),
    r"\s*[\r\n]+|\s+(?!\S)|\s+|": _WhiteSpace(lines=True, end_first=False),
    r"\s*[\r\n]|\s+(?!\S)|\s+|": _WhiteSpace(lines=True, end_first=False),
    r"\s+$|\s*[\r\n]|\s+(?!\S)|\s|": _WhiteSpace(lines=True, end_first=True),
}


class _UnknownSpellingError(Exception):
    """A pattern has an alternative that is not in the tables."""


class _Source:
    """The part of a pattern that has not been read."""

    def __init__(self, source: str) -> None:
        self.unread = re.sub(r"([+*?]|[0-9]})\+", r"\1", source) + "|"

    def read(self, spellings: Mapping[str, Field]) -> Field:
        """Read the longest spelling with which the source begins, and return its meaning."""
        matching = [text for text in spellings if self.unread.startswith(text)]
        if not matching:
            raise _UnknownSpellingError
        spelling = max(matching, key=len)
        self.unread = self.unread.removeprefix(spelling)
        return spellings[spelling]


@lru_cache(maxsize=32)
def scanner(source: str) -> "kernel.Scanner | None":
    """Return the scanner that splits as the regular expression `source` does.

    Return None for a pattern with an unknown alternative, and without the kernel.
    """
    pattern = _Source(source)
    try:
        contractions = pattern.read(_CONTRACTIONS)
        words = pattern.read(_WORDS)
        most_digits = pattern.read(_MOST_DIGITS)
        tail = pattern.read(_TAILS)
        white_space = pattern.read(_WHITE_SPACE)
    except _UnknownSpellingError:
        return None
    if pattern.unread or (contractions and words.contractions):
        return None
    return kernel.Scanner(
        ranges_of=partial(_ranges, _sets(words, tail)),
        contractions=contractions or words.contractions,
        max_digits=most_digits,
        lines=white_space.lines,
        end_first=white_space.end_first,
        usual=True,
    )


def _sets(words: _Words, tail: str) -> Sets:
    """Return the sets of characters of a pattern; `tail` has the characters that may end signs."""
    prefix = 0 if words.spaced else PREFIX
    newline = SPACE | NEWLINE
    if "\n" in tail:
        newline |= TAIL
    slash = SIGN | prefix
    if "/" in tail:
        slash |= TAIL
    return (
        (r"\P{L}", SIGN | prefix),
        *words.letters,
        (r"\p{N}", NUMBER),
        (r"\s", SPACE | prefix),
        (r"\ ", SPACE | PREFIX),
        (r"[\r\n]", newline),
        ("/", slash),
    )


def _ranges(sets: Sets, plane: int) -> bytes:
    """Return the sets of the 65,536 code points of a plane.

    They are triples of unsigned 32-bit numbers: first code point, last code point + 1, bits of the sets.
    """
    begin = plane << 16
    characters = every_character(begin, begin + (1 << 16))
    return b"".join(
        pack("=III", begin + match.start(), begin + match.end(), flags)
        for source, flags in sets
        for match in regex.finditer(f"{source}++", characters)
    )
