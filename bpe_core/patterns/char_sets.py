"""Sets of characters as numbers, in which bit i stands for the code point i, computed by the `regex` module itself.

Only the Basic Multilingual Plane is covered: nearly all text is in it, and `regex` lists a set of it in milliseconds.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

import regex

from bpe_core.utf8 import every_character

BMP: Final = 0x10000  # the end of the Basic Multilingual Plane; what lies at or past it is called astral
ASCII: Final = 0x80  # its end; members below it are listed in a tenth of the time that the plane takes


@lru_cache(maxsize=512)
def members(chars: str, end: int = BMP) -> int:
    r"""The code points below `end` that `chars` matches, a regular expression of exactly one character.

    >>> members(r"[a-c\r\n]") == 1 << 10 | 1 << 13 | 0b111 << 97
    True
    """
    found = regex.finditer(f"(?:{chars})++", every_character(0, end))
    return sum((1 << match.end()) - (1 << match.start()) for match in found)


def set_source(chars: int) -> str:
    r"""The set as a character class in the syntax that `re` and `regex` share; `chars` is not empty.

    >>> set_source(members("[0-9_]"))
    '[\\u0030-\\u0039\\u005f]'
    """
    ranges = [(match.start(), match.end() - 1) for match in re.finditer("1+", f"{chars:b}"[::-1])]
    # A character stands as itself, which compiles faster, or is escaped where it could be syntax.
    ends = [[chr(code) if code > 0xA0 else f"\\u{code:04x}" for code in both] for both in ranges]
    return f"[{''.join(low if low == last else f'{low}-{last}' for low, last in ends)}]"


def kinds_of(sets: Collection[str], end: int) -> dict[frozenset[str], int]:
    """Those of the sets, expressions of one character, that hold a code point -> all code points below `end` that just
    these hold."""
    kinds = {frozenset[str](): (1 << end) - 1}
    for source in sets:
        chars = members(source, end)
        inside = {held | {source}: kind & chars for held, kind in kinds.items()}
        outside = {held: kind & ~chars for held, kind in kinds.items()}
        kinds = {held: kind for held, kind in (inside | outside).items() if kind}
    return kinds


class Kinds(dict[int, str]):
    """Code point -> the character that represents its kind, for `str.translate`; astral ones represent themselves. Two
    characters are of one kind if they are in the same of the pattern's sets: `sets`, expressions of one character."""

    def __init__(self, sets: Collection[str]) -> None:
        kinds = kinds_of(sets, BMP).values()
        self._kinds = dict(sorted((chr((kind & -kind).bit_length() - 1), kind) for kind in kinds))
        self.examples = tuple(self._kinds)  # the representative of each kind of the Basic Multilingual Plane

    def __missing__(self, code: int) -> str:
        example = next((one for one, kind in self._kinds.items() if kind >> code & 1), chr(code))
        self[code] = example
        return example
