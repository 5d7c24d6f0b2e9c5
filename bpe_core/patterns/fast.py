r"""A plain pattern run by the standard library's `re`, two to three times faster than by `regex`, with the same pieces.

`re` does not know `\p{L}`, and its `\s`, `$` and letter case differ in small ways from `regex`. So every set of
characters is asked of `regex` and written out as an explicit class. Classes over the Basic Multilingual Plane are fast
in `re`, wider ones are slow; a text with other astral characters than plain symbols is left to `regex`. In ASCII, where
few sets overlap, most have no reason to step back, and are told so.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Final

from bpe_core.patterns.char_sets import (
    ASCII,
    BMP,
    Ranges,
    complement,
    count,
    matches,
    members,
    set_source,
    union,
    without,
)
from bpe_core.patterns.syntax import Chain, Chars, Choice, End, Look, Node, NotPlain, Repeat

_SYMBOL: Final = "\N{GRINNING FACE}"
"""Stands for all astral characters that no letter, number or mark class holds."""
_TOGETHER: Final = 64
"""Astral characters that are looked at together."""
_AT_ONCE: Final = 1 << 10
"""Characters that are looked through together."""


class FastPattern:
    """A pattern compiled by `re`; it must not be asked about a text it does not read."""

    def __init__(self, node: Node) -> None:
        """`node` is its tree. Where `re` is not known to be exact, NotPlain is raised when a text is to be split."""
        self._options = node.options if isinstance(node, Choice) else (node,)
        self._node = node
        self._others: set[str] = set()
        """Astral characters that are known to be no symbols; the next are known to be some, or are not astral."""
        self._known: Ranges = ((0, BMP),)
        self._find_unknown = _finder(self._known)

    @cached_property
    def _sets(self) -> dict[str, bool]:
        """Source of a character set -> whether it holds symbols."""
        return {chars: matches(chars, _SYMBOL) for chars in _character_sets(self._node)}

    def compile_all(self) -> None:
        """Have all expressions ready, and know the commonest symbols."""
        _ = self._in_ascii, self._in_plane, self.reads(_SYMBOL)

    def findall(self, text: str) -> list[str]:
        """The pieces of `text`."""
        return self._in_ascii(text) if text.isascii() else self._in_plane(text)

    @cached_property
    def _in_ascii(self) -> Callable[[str], list[str]]:
        return re.compile(_source(self._options, ASCII)).findall

    @cached_property
    def _in_plane(self) -> Callable[[str], list[str]]:
        return re.compile(_source(self._options, BMP)).findall

    def reads(self, text: str) -> bool:
        """Whether this text has the same pieces here as with `regex`."""
        if text.isascii():
            return True
        if len(text) > _AT_ONCE:  # little of it may be more than ASCII, and to find that out takes no time
            return all(self.reads(text[at : at + _AT_ONCE]) for at in range(0, len(text), _AT_ONCE))
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


def _source(options: Sequence[Node], end: int) -> str:
    """The choice of these options, for texts that have nothing but characters below `end` and symbols."""
    return "|".join(_up_to_last(option, end) or _translated(_forward(option, end), end) for option in options)


def _translated(node: Node, end: int) -> str:
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
        case Repeat(Choice(options), 0, 1, ""):  # an empty option is tried in less time than a repetition
            return f"(?:{'|'.join(_translated(option, end) for option in options)}|)"
        case Repeat(item, least, most, mode) if mode != "+" or isinstance(item, Chars):
            return f"(?:{_translated(item, end)}){{{least},{'' if most is None else most}}}{mode}"
    raise NotPlain("atomic and possessive groups are left to regex")


def _up_to_last(option: Node, end: int) -> str | None:
    r"""An option like `\s*[\r\n]` so that it does not step back through all that it took: `(?:[ \t]*+[\r\n]++)++`.

    None for one that is not a set, as often as it goes, and characters of it at the end, one or as often as it goes.
    """
    match option:
        case Chain((Repeat(Chars(wide), 0, None, ""), Chars(last) | Repeat(Chars(last), 1, None, ""))):
            all_of_it, ending = members(wide, end), members(last, end)
            if without(ending, all_of_it) or matches(last, _SYMBOL) or matches(wide, _SYMBOL):
                return None
            return f"(?:{set_source(without(all_of_it, ending))}*+{set_source(ending)}++)++"
    return None


def _forward(option: Node, end: int) -> Node:
    """The same, but that no set steps back of which it is plain that this leads nowhere: `re` then is faster."""
    items = option.items if isinstance(option, Chain) else (option,)
    rest = [items[i + 1 :] for i in range(len(items))]
    return Chain(
        tuple(
            replace(item, mode="+")
            if isinstance(item, Repeat) and item.mode == "" and _is_final(item.item, behind, end)
            else item
            for item, behind in zip(items, rest, strict=True)
        )
    )


def _is_final(item: Node, behind: Sequence[Node], end: int) -> bool:
    """Whether what a set has taken stays taken: what comes behind it always matches, or cannot begin with any of it."""
    if not isinstance(item, Chars):
        return False
    if all(isinstance(follower, Repeat) and follower.least == 0 for follower in behind):
        return True
    for follower in behind:
        begins = _begins(follower)
        if begins is None or any(_overlap(item.source, chars, end) for chars in begins):
            return False
        if not (isinstance(follower, Repeat) and follower.least == 0):
            return True
    return False


def _begins(node: Node) -> set[str] | None:
    """The sets that a match of one character or more begins with; None if that is not plain."""
    match node:
        case Chars(source):
            return {source}
        case Repeat(item):
            return _begins(item)
        case Chain((first, *_)) if isinstance(first, Chars):
            return {first.source}
        case Choice(options):
            found = [_begins(option) for option in options]
            return None if None in found else {chars for sets in found if sets for chars in sets}
    return None


def _overlap(chars: str, others: str, end: int) -> bool:
    """Whether a character, astral symbols included, is in both sets."""
    both = without(members(chars, end), complement(members(others, end)))
    return bool(both) or (end == BMP and matches(chars, _SYMBOL) and matches(others, _SYMBOL))


@cache
def _class(chars: str, end: int) -> str:
    """The set as a class of characters below `end`; over the plane, it treats all astral ones like plain symbols."""
    ranges = members(chars, end)
    if end == BMP and matches(chars, _SYMBOL):
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
