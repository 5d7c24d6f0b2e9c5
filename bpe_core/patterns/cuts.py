r"""Safe cuts: places where a text may be cut so that splitting the two parts gives the pieces of the whole, proved.

A place between the characters a and b is a safe cut if two things hold:

- No match attempt that begins before it examines b: there are no positions p, q of the pattern's automaton such that p
  matches a, q matches b, and q follows p.
- A piece begins at b: b alone is enough for some alternative of the pattern to match. (Otherwise the cut could fall
  into text that the pattern does not match, which is one piece.)
"""

import re
from collections import defaultdict
from functools import cache
from typing import Final

from bpe_core.patterns.automaton import Automaton
from bpe_core.patterns.char_sets import ASCII, BMP, Ranges, members, same_sets, set_source, union, without
from bpe_core.patterns.syntax import Alternation, Chain, Chars, Node, Repeat


class CutFinder:
    """Finds the safe cuts of texts under one pattern; false if it has none.

    No cut is found beside a character past the Basic Multilingual Plane, so that the classes stay small. For texts in
    ASCII there is an expression of its own, which is compiled in a tenth of the time.
    """

    def __init__(self, automaton: Automaton, unless: frozenset[str] = frozenset()) -> None:
        self.automaton: Final = automaton
        self.unless: Final = unless  # strings of two characters between which no cut is found
        self._finder: Final = cache(self._below)

    def __bool__(self) -> bool:
        return bool(self._finder(ASCII) or self._finder(BMP))

    def end_of_first(self, text: str, start: int) -> int:
        """The least offset greater than `start` that is a safe cut of `text`; its length if there is none."""
        finder = self._finder(ASCII if text.isascii() else BMP)
        found = finder.search(text, start) if finder else None
        return found.end() if found else len(text)

    def _below(self, end: int) -> re.Pattern[str] | None:
        """An expression whose matches end at the safe cuts between characters below `end`; None if there are none."""
        automaton = self.automaton
        if automaton.matches_empty:
            return None  # an empty match can take the place of the piece that should begin after the cut
        options = automaton.node.options if isinstance(automaton.node, Alternation) else (automaton.node,)
        begins = union(_enough(option, end) for option in options)
        sources, follows = automaton.sources, defaultdict[str, set[str]](set)
        for source, positions in zip(sources, automaton.follow, strict=True):
            follows[source].update(map(sources.__getitem__, positions))
        befores: dict[frozenset[str], list[tuple[int, int]]] = defaultdict(list)
        for low, high, sets in same_sets(set(sources), end):
            befores[frozenset().union(*map(follows.__getitem__, sets))].append((low, high))
        before_of: dict[Ranges, list[Ranges]] = defaultdict(list)  # between these and what is after them is a cut
        for examined, before in befores.items():
            if after := without(begins, union(members(chars, end) for chars in examined)):
                before_of[after].append(tuple(before))
        safe = "|".join(f"{set_source(union(before))}(?={set_source(after)})" for after, before in before_of.items())
        unless = f"(?!{'|'.join(map(re.escape, self.unless))})" if self.unless else ""
        return re.compile(f"{unless}(?:{safe})") if safe else None


def _enough(option: Node, end: int) -> Ranges:
    """The characters below `end` at which the alternative `option` matches, whatever follows them; perhaps not all."""
    items = option.items if isinstance(option, Chain) else (option,)
    consumed: list[Ranges] = []
    for position, item in enumerate(items):
        match item:
            case Repeat(Chars(source), 0, _, "+"):
                consumed.append(members(source, end))  # it gives nothing back, so nothing may be left for the next
            case Repeat(_, 0, _, mode) if mode != "+":
                continue
            case Chars(source) | Repeat(Chars(source), 1):
                following = items[position + 1 :]
                rest_is_optional = all(isinstance(later, Repeat) and later.least == 0 for later in following)
                return without(members(source, end), union(consumed)) if rest_is_optional else ()
            case _:
                return ()
    return ()
