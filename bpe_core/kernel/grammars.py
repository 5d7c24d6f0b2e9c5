r"""Recognizing the split patterns that the kernel's scanner supports, and making the scanner of each.

The published patterns consist of the same few alternatives, whose known spellings are listed in tables here; a pattern
with any other alternative has no scanner. Possessive quantifiers such as `++` are read as `+`: in these patterns
backtracking never changes a match.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from struct import pack
from typing import Any, Final

import regex

from bpe_core import kernel
from bpe_core.utf8 import every_character

UPPER, LOWER, PREFIX, NUMBER, SIGN, TAIL, SPACE, NEWLINE = (
    1 << bit for bit in range(8)
)
"""The bits of the sets of characters; see scan.h."""

BOTH: Final = UPPER | LOWER

Sets = tuple[tuple[str, int], ...]
"""(regular expression for one character, the sets of the characters that match), ...; later ones override earlier."""

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
_WORDS: Final[dict[str, tuple[Sets, bool, int]]] = {
    r" ?\p{L}+|": (_LETTERS, True, 0),
    rf"{_PREFIX}\p{{L}}+|": (_LETTERS, False, 0),
    rf"{_PREFIX}{_UPPER}*{_LOWER}+|{_PREFIX}{_UPPER}+{_LOWER}*|": (_CASED, False, 0),
    rf"{_PREFIX}{_UPPER}*{_LOWER}+{_IGNORING_CASE}?|{_PREFIX}{_UPPER}+{_LOWER}*{_IGNORING_CASE}?|": (
        _CASED,
        False,
        3,
    ),
}
"""What matches words: the upper, lower or any letters; whether only a space may precede a word, rather than any
character but letters, digits and line breaks; 3 if a contraction such as 'll ends a word, 0 if it is a piece."""
_MOST_DIGITS: Final = {
    r" ?\p{N}+|": 0,
    r"\p{N}|": 1,
    r"\p{N}{1,2}|": 2,
    r"\p{N}{1,3}|": 3,
    r"\p{N}+|": (1 << 32) - 1,
}
_TAILS: Final = {
    f"{_SIGNS}|": "",
    rf"{_SIGNS}[\r\n]*|": "\r\n",
    rf"{_SIGNS}[\r\n/]*|": "\r\n/",
}
_LINES_AND_END_FIRST: Final = {
    r"\s+(?!\S)|\s+|": (False, False),
    r"\s+$|\s+(?!\S)|\s|": (False, True),
    r"\s*[\r\n]+|\s+(?!\S)|\s+|": (True, False),
    r"\s*[\r\n]|\s+(?!\S)|\s+|": (True, False),
    r"\s+$|\s*[\r\n]|\s+(?!\S)|\s|": (True, True),
}
_PARTS: Final[tuple[Mapping[str, object], ...]] = (
    _CONTRACTIONS,
    _WORDS,
    _MOST_DIGITS,
    _TAILS,
    _LINES_AND_END_FIRST,
)


@lru_cache(maxsize=32)
def scanner(source: str) -> "kernel.Scanner | None":
    """The scanner that splits as the regular expression `source` does; None if there is none, or no kernel."""
    rest = re.sub(r"([+*?]|[0-9]})\+", r"\1", source) + "|"
    found: list[Any] = []
    for parts in _PARTS:
        part = max(
            (part for part in parts if rest.startswith(part)), key=len, default=None
        )
        if part is None:
            return None
        found.append(parts[part])
        rest = rest[len(part) :]
    (
        contractions,
        (letters, spaced, contracted),
        most_digits,
        tail,
        (lines, end_first),
    ) = found
    if rest or (contractions and contracted):
        return None
    prefix = 0 if spaced else PREFIX
    sets = (
        (r"\P{L}", SIGN | prefix),
        *letters,
        (r"\p{N}", NUMBER),
        (r"\s", SPACE | prefix),
        (r"\ ", SPACE | PREFIX),
        (r"[\r\n]", SPACE | NEWLINE | (TAIL if tail else 0)),
        ("/", SIGN | prefix | (TAIL if "/" in tail else 0)),
    )
    return kernel.Scanner(
        partial(_ranges, sets),
        contractions or contracted,
        most_digits,
        lines,
        end_first,
        True,
    )


def _ranges(sets: Sets, plane: int) -> bytes:
    """The sets of the code points of a plane (65,536 of them): uint32 triples (first, last + 1, bits of the sets)."""
    begin = plane << 16
    characters = every_character(begin, begin + (1 << 16))
    return b"".join(
        pack("=III", begin + match.start(), begin + match.end(), flags)
        for source, flags in sets
        for match in regex.finditer(f"{source}++", characters)
    )
