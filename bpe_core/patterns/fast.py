r"""A plain pattern run by the standard library's `re`, two to three times faster than by `regex`, with the same pieces.

`re` does not know `\p{L}`, and its `\s`, `$` and letter case differ in small ways from `regex`. So every set of
characters is asked of `regex` and written out as an explicit class. Classes over the Basic Multilingual Plane are fast
in `re`, wider ones are slow; of what lies past the plane, only emoji are read, which are all alike to most patterns.
"""

import re
from collections.abc import Callable, Collection
from functools import cache, cached_property
from itertools import chain
from typing import Any, Final

from bpe_core.patterns.char_sets import ASCII, BMP, complement, count, matches, members, set_source
from bpe_core.patterns.syntax import Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat

_EMOJI: Final = ((0x1F1E6, 0x1F200), (0x1F300, 0x1FB00))
"""Ranges of code points in which most of what lies past the plane in everyday texts is."""
_FIRST_EMOJI: Final = chr(_EMOJI[0][0])


class FastPattern:
    """A pattern compiled by `re`; it must not be asked about a text it does not read."""

    def __init__(self, node: Node, sets: Collection[str]) -> None:
        """`node` is its tree, `sets` are the sources of all character sets in it.

        Where `re` is not known to be exact, NotPlain is raised when a text is to be split.
        """
        self._node = node
        self._sets = sets

    def findall(self, text: str) -> list[str]:
        """The pieces of `text`."""
        return self._in_ascii(text) if text.isascii() else self._in_plane(text)

    def reads(self, text: str) -> bool:
        """Whether this text has the same pieces here as with `regex`."""
        return text.isascii() or self._find_unread(text) is None

    def compile_all(self) -> None:
        """Have all expressions ready."""
        _ = self._in_ascii, self._in_plane, self._find_unread

    @cached_property
    def _in_ascii(self) -> Callable[[str], list[str]]:
        return re.compile(_translated(self._node, ASCII)).findall

    @cached_property
    def _in_plane(self) -> Callable[[str], list[str]]:
        return re.compile(_translated(self._node, BMP)).findall

    @cached_property
    def _find_unread(self) -> Callable[[str], Any]:
        """Finds a character past the plane that is not read: if each set holds all emoji or none, only those are."""
        emoji = "".join(map(chr, chain.from_iterable(range(*ends) for ends in _EMOJI)))
        are_alike = all(count(chars, emoji) == len(emoji) * matches(chars, emoji[0]) for chars in self._sets)
        return re.compile(set_source(((0, BMP), *(_EMOJI if are_alike else ())), negated=True)).search


def _translated(node: Node, end: int) -> str:
    """The source for `re`, for texts that have nothing but characters below `end` and emoji."""
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
    """The set as a class of characters below `end`; over the plane, it treats all astral ones like emoji."""
    ranges = members(chars, end)
    if end == BMP and matches(chars, _FIRST_EMOJI):
        return set_source(complement(ranges), negated=True)
    return set_source(ranges)
