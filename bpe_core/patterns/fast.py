r"""A plain pattern run by the standard library's `re`, two to three times faster than by `regex`, with the same pieces.

`re` does not know `\p{L}`, and its `\s`, `$` and letter case differ in small ways from `regex`. So every set of
characters is asked of `regex` and written out as an explicit class. Classes over the Basic Multilingual Plane are fast
in `re`, wider ones are slow; a text with other astral characters than plain symbols is left to `regex`.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from bpe_core.patterns.char_sets import BMP, Ranges, complement, count, matches, members, set_source, union, without
from bpe_core.patterns.syntax import Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat

_SYMBOL: Final = "\N{GRINNING FACE}"
"""Stands for all astral characters that no letter, number or mark class holds."""
_TOGETHER: Final = 64
"""Astral characters that are looked at together."""


class FastPattern:
    """A pattern compiled by `re`; it must not be asked about a text it does not read."""

    def __init__(self, node: Node) -> None:
        """Compile the tree; NotPlain where `re` (3.11.0 to 3.11.4 in particular) is not known to be exact."""
        options = node.options if isinstance(node, Choice) else (node,)
        source = "|".join(_up_to_last(option) or _translated(option) for option in options)
        self.findall = re.compile(source).findall
        self._sets = {chars: matches(chars, _SYMBOL) for chars in _character_sets(node)}
        self._others: set[str] = set()
        """Astral characters that are known to be no symbols; the next are known to be some, or are not astral."""
        self._known: Ranges = ((0, BMP),)
        self._find_unknown = _finder(self._known)

    def reads(self, text: str) -> bool:
        """Whether this text has the same pieces here as with `regex`."""
        if text.isascii():
            return True
        unknown = self._find_unknown(text)
        while unknown:
            if unknown[0] in self._others or not self._get_to_know(unknown[0]):
                return False
            unknown = self._find_unknown(text, unknown.start())
        return True

    def _get_to_know(self, character: str) -> bool:
        """Whether it is a symbol. That is remembered, of its neighbors, too: a few ranges are soon gone through."""
        code = ord(character)
        first = code - code % _TOGETHER
        for low, high in ((first, first + _TOGETHER), (code, code + 1)):
            if self._are_symbols("".join(map(chr, range(low, high)))):
                self._known = union((self._known, ((low, high),)))
                self._find_unknown = _finder(self._known)
                return True
        self._others.add(character)
        return False

    def _are_symbols(self, text: str) -> bool:
        return all(count(chars, text) == len(text) * is_in for chars, is_in in self._sets.items())


def _finder(known: Ranges) -> Callable[..., re.Match[str] | None]:
    """What finds the first character that is in none of the ranges."""
    spans = (f"\\U{low:08x}-\\U{high - 1:08x}" for low, high in known)
    return re.compile(f"[^{''.join(spans)}]").search


def _translated(node: Node) -> str:
    match node:
        case Chars(source):
            return _class(source)
        case Chain(items):
            return "".join(map(_translated, items))
        case Choice(options):
            return f"(?:{'|'.join(map(_translated, options))})"
        case Look(item, negated):
            return f"(?{'!' if negated else '='}{_translated(item)})"
        case End():
            return r"\Z"
        case Repeat(item, least, most, mode) if mode != "+" or isinstance(item, Chars):
            return f"(?:{_translated(item)}){{{least},{'' if most is None else most}}}{mode}"
    raise NotPlain("atomic and possessive groups are left to regex")


def _up_to_last(option: Node) -> str | None:
    r"""An option like `\s*[\r\n]` so that it does not step back through all that it took: `(?:[ \t]*+[\r\n]++)++`.

    None for one that is not a set, as often as it goes, and characters of it at the end, one or as often as it goes.
    """
    match option:
        case Chain((Repeat(Chars(wide), 0, None, ""), Chars(last) | Repeat(Chars(last), 1, None, ""))):
            rest = without(members(wide), members(last))
            if without(members(last), members(wide)) or matches(last, _SYMBOL) or matches(wide, _SYMBOL):
                return None
            return f"(?:{set_source(rest)}*+{set_source(members(last))}++)++"
    return None


@cache
def _class(chars: str) -> str:
    """The set as a class over the Basic Multilingual Plane that treats all astral characters like plain symbols."""
    ranges = members(chars)
    if matches(chars, _SYMBOL):
        return set_source(complement(ranges), negated=True)
    return set_source(ranges)


def _character_sets(node: Node) -> set[str]:
    match node:
        case Chars(source):
            return {source}
        case Chain(parts) | Choice(parts):
            return {chars for part in parts for chars in _character_sets(part)}
        case Repeat(item) | Look(item):
            return _character_sets(item)
    return set()
