r"""A plain pattern run by the standard library's `re`, two to three times faster than by `regex`, with the same pieces.

`re` does not know `\p{L}`, and its `\s`, `$` and letter case differ in small ways from `regex`. So every set of
characters is computed by `regex` and written out as an explicit class. Classes over the Basic Multilingual Plane are
fast in `re`, wider ones slow; so of the characters past the plane only emoji are supported, and only where every set
of the pattern contains all of them or none.
"""

import re
from collections.abc import Callable, Collection
from functools import cache, cached_property
from itertools import chain
from typing import Any, Final

from bpe_core.patterns.char_sets import ASCII, BMP, complement, count, matches, members, set_source
from bpe_core.patterns.syntax import Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat

_EMOJI: Final = ((0x1F1E6, 0x1F200), (0x1F300, 0x1FB00))
"""Ranges of code points that hold most characters past the Basic Multilingual Plane in everyday texts."""
_FIRST_EMOJI: Final = chr(_EMOJI[0][0])


class FastPattern:
    """A pattern compiled by `re`; only for texts of which `reads` is true."""

    def __init__(self, node: Node, sets: Collection[str]) -> None:
        """`node` is the tree of the pattern, `sets` are the expressions of all character sets in it.

        `findall` raises NotPlain if the tree has a construct that `re` is not known to match exactly as `regex` does.
        """
        self._node = node
        self._sets = sets

    def findall(self, text: str) -> list[str]:
        """The pieces of `text`."""
        return self._in_ascii(text) if text.isascii() else self._in_plane(text)

    def reads(self, text: str) -> bool:
        """Whether `findall(text)` gives the pieces that `regex` gives."""
        return text.isascii() or self._find_unread(text) is None

    def compile_all(self) -> None:
        """Compile all expressions now rather than at first use."""
        _ = self._in_ascii, self._in_plane, self._find_unread

    @cached_property
    def _in_ascii(self) -> Callable[[str], list[str]]:
        return re.compile(_translated(self._node, ASCII)).findall

    @cached_property
    def _in_plane(self) -> Callable[[str], list[str]]:
        return re.compile(_translated(self._node, BMP)).findall

    @cached_property
    def _find_unread(self) -> Callable[[str], Any]:
        """Finds a character that is not supported: one past the plane, but for emoji where each set has all or none."""
        emoji = "".join(map(chr, chain.from_iterable(range(*ends) for ends in _EMOJI)))
        are_alike = all(count(chars, emoji) == len(emoji) * matches(chars, emoji[0]) for chars in self._sets)
        return re.compile(set_source(((0, BMP), *(_EMOJI if are_alike else ())), negated=True)).search


def _translated(node: Node, end: int) -> str:
    """The expression for `re`, right for texts of characters below `end`, and emoji if `end` is `BMP`."""
    match node:
        case Chars(source):
            return _class(source, end)
        case Chain(items):
            return "".join(_translated(item, end) for item in items)
        case Choice(options):
            return f"(?:{'|'.join(_translated(option, end) for option in options)})"
        case Look(item, negated):
            return f"(?{'!' if negated else '='}{_translated(item, end)})"
        case End():
            return r"\Z"
        case Repeat(item, least, most, mode) if mode != "+" or isinstance(item, Chars):
            return f"(?:{_translated(item, end)}){{{least},{'' if most is None else most}}}{mode}"
    raise NotPlain("atomic and possessive groups are left to regex")


@cache
def _class(chars: str, end: int) -> str:
    """The set as a class, right below `end`; if `end` is `BMP`, it contains all astral characters or none, as emoji."""
    ranges = members(chars, end)
    if end == BMP and matches(chars, _FIRST_EMOJI):
        return set_source(complement(ranges), negated=True)
    return set_source(ranges)
