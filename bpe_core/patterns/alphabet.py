"""Characters that represent all others, as far as patterns distinguish them: one for each kind, in all of Unicode."""

from collections.abc import Iterator
from typing import Final
from unicodedata import ucd_3_2_0

import regex

from bpe_core.patterns.automaton import kinds_of, members
from bpe_core.patterns.syntax import Lookaround, Node, Repeat

_UNICODE: Final = 0x110000
_FAMILIAR: Final = "1aA .\n'é中の\u0301ʰǅ²"
"""Characters that represent their kinds, if possible."""
_MOST_COMPARED: Final = 50
"""Characters of a kind that are looked at for an old one."""

ANY_CHARACTER: Final = "(?s:.)"
"""The regular expression of the set of all characters."""


class Alphabet:
    """Characters that represent all others: one for each kind that some sets distinguish, in all of Unicode."""

    def __init__(self, sources: set[str]) -> None:
        """`sources` are regular expressions of one character."""
        self.sets_of: Final[dict[str, frozenset[str]]] = {}
        """Character -> the sources of the sets that contain it. Familiar characters come first."""
        encodable = members(r"\P{Cs}", _UNICODE)
        sets_of: dict[str, frozenset[str]] = {}
        self.beyond_ascii: Final[list[str]] = []
        """The characters that represent others than ASCII."""
        for held, kind in kinds_of(sources, _UNICODE).items():
            if kind & encodable:
                typical = _typical(kind & encodable)
                sets_of[typical] = held
                if kind & encodable >= 1 << 0x80:
                    self.beyond_ascii.append(typical)
        for character in sorted(sets_of, key=_unfamiliarity):
            self.sets_of[character] = sets_of[character]

    def kinds_of_characters(self, characters: set[str]) -> dict[str, str]:
        """Return character -> the one that represents it. Surrogates are left out."""
        encodable = "".join(characters - set(map(chr, range(0xD800, 0xE000))))
        held: dict[str, set[str]] = {character: set() for character in encodable}
        for source in set().union(*self.sets_of.values()):
            for character in regex.findall(source, encodable):
                held[character].add(source)
        typical = {sets: character for character, sets in self.sets_of.items()}
        return {character: typical[frozenset(sets)] for character, sets in held.items()}


def _typical(kind: int) -> str:
    """Return a character of a kind that people know: visible, and old, so that all programs know its properties."""
    for character in _FAMILIAR:
        if kind >> ord(character) & 1:
            return character
    for pleasant in (r"[!-~]", r"[ -~\s]", r"\p{Graph}", r"\p{Assigned}"):
        candidates = kind & members(pleasant, _UNICODE)
        if candidates:
            return _oldest(candidates)
    return chr(_lowest(kind))


def _unfamiliarity(character: str) -> tuple[int, str]:
    place = _FAMILIAR.find(character)
    return (len(_FAMILIAR) if place < 0 else place), character


def _oldest(kind: int) -> str:
    first = _lowest(kind)
    for _ in range(_MOST_COMPARED):
        if not kind:
            break
        code = _lowest(kind)
        if ucd_3_2_0.category(chr(code)) != "Cn":
            return chr(code)
        kind &= kind - 1
    return chr(first)


def _lowest(kind: int) -> int:
    return (kind & -kind).bit_length() - 1


def sources_of(node: Node) -> Iterator[str]:
    """Yield the regular expressions of the sets in a pattern."""
    match node:
        case str():
            yield node
        case Repeat(item) | Lookaround(item):
            yield from sources_of(item)
        case _:
            for item in node:
                yield from sources_of(item)


def source_of(node: Node) -> str:
    """Return the regular expression of a part of a pattern."""
    match node:
        case str():
            return node
        case tuple():
            return "".join(map(source_of, node))
        case list():
            return f"(?:{'|'.join(map(source_of, node))})"
        case Repeat(item, least, most, mode):
            limit = "" if most is None else most
            return f"(?:{source_of(item)}){{{least},{limit}}}{mode}"
        case Lookaround(item, is_negative):
            sign = "!" if is_negative else "="
            return f"(?{sign}{source_of(item)})"
