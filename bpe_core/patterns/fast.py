r"""A plain pattern run by the standard library's `re`, two to three times faster than by `regex`, with the same pieces.

`re` does not know `\p{L}`, and its `\s`, `$` and letter case differ in small ways from `regex`. So every set of
characters is asked of `regex` and written out as an explicit class. Classes over the Basic Multilingual Plane are fast
in `re`, wider ones are slow; a text with other astral characters than plain symbols is left to `regex`.
"""

import re
from functools import cache
from typing import Final

from bpe_core.patterns.char_sets import complement, matches, members, set_source
from bpe_core.patterns.syntax import Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat

_ASTRAL: Final = re.compile("[^\\u0000-\\uffff]")
_SYMBOL: Final = "\N{GRINNING FACE}"
"""Stands for all astral characters that no letter, number or mark class holds."""


class FastPattern:
    """A pattern compiled by `re`; it must not be asked about a text it does not read."""

    def __init__(self, node: Node) -> None:
        """Compile the tree; NotPlain where `re` (3.11.0 to 3.11.4 in particular) is not known to be exact."""
        self.findall = re.compile(_translated(node)).findall
        sets = sorted(_character_sets(node))

        @cache
        def is_symbol(character: str) -> bool:
            return all(matches(chars, character) == matches(chars, _SYMBOL) for chars in sets)

        self._is_symbol = is_symbol

    def reads(self, text: str) -> bool:
        """Whether this text has the same pieces here as with `regex`."""
        return text.isascii() or all(map(self._is_symbol, set(_ASTRAL.findall(text))))


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
