"""The position automaton of a plain pattern (V. M. Glushkov, 1961): which characters an attempt to match may look at.

Every set of characters in the pattern is a position, and so is every place where it asks for the end of the text. A
position follows another one if an attempt that has matched a character there may look at the next one here, be it in
a look-ahead. A repetition counts: three digits at most are three positions. An attempt may do less than the automaton,
never more: order, possessive repetition and negation only ever rule ways out.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from bpe_core.patterns.char_sets import matches
from bpe_core.patterns.syntax import COUNTED, Atomic, Chain, Chars, Choice, End, Look, Node, Repeat, times_counted

END: Final = ""
"""Stands in the place of a set where a pattern asks for the end of the text."""

_MOST_STEPS: Final = 1 << 12
"""Steps that are remembered; each may hold all positions."""

_matches = lru_cache(1 << 16)(matches)


class _Part(NamedTuple):
    """How a part of a pattern can begin and end."""

    matches_empty: bool
    first: frozenset[int]
    last: frozenset[int]


class Automaton:
    """The automaton of one pattern; quadratic in the number of its positions, which `syntax.parse` bounds."""

    def __init__(self, node: Node) -> None:
        """`node` is the tree of the pattern."""
        self.sources: Final[list[str]] = []
        """By position, the source of a pattern for one character of the set there, or `END`."""
        self.follow: Final[list[frozenset[int]]] = []
        """By position, the positions that may look at the character after the one matched there."""
        self.matches_empty: Final = self._part(node).matches_empty
        """Whether a match can be empty; also true where only a look-ahead rules that out."""
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def attempts_end_in(self, text: str) -> bool:
        """Whether no attempt that begins before the second character of `text` can look at what follows `text`."""
        alive = self._matching(frozenset(range(len(self.sources))), text[0])
        for character in text[1:]:
            alive = self._matching(frozenset().union(*map(self.follow.__getitem__, alive)), character)
        return not any(map(self.follow.__getitem__, alive))

    def _matching(self, positions: frozenset[int], character: str) -> frozenset[int]:
        """Those of some positions whose set holds a character."""
        key = positions, character
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _MOST_STEPS:
                self._steps.clear()
            sources = self.sources
            found = frozenset(i for i in positions if sources[i] != END and _matches(sources[i], character))
            self._steps[key] = found
        return found

    def _part(self, node: Node) -> _Part:
        match node:
            case Chars(source):
                at = self._position(source)
                return _Part(False, at, at)
            case End():
                return _Part(True, self._position(END), frozenset())
            case Look(item):
                return _Part(True, self._part(item).first, frozenset())
            case Atomic(item):
                return self._part(item)
            case Choice(options):
                parts = list(map(self._part, options))
                first = frozenset().union(*(part.first for part in parts))
                last = frozenset().union(*(part.last for part in parts))
                return _Part(any(part.matches_empty for part in parts), first, last)
            case Chain(items):
                return self._chain(list(map(self._part, items)))
            case Repeat(item, least, most):
                parts = [self._part(item) for _ in range(times_counted(least, most))]
                if parts and (most is None or most > COUNTED):
                    self._join(parts[-1].last, parts[-1].first)
                return self._chain(
                    [part._replace(matches_empty=part.matches_empty or i >= least) for i, part in enumerate(parts)]
                )

    def _chain(self, parts: list[_Part]) -> _Part:
        matches_empty, first, last = True, frozenset[int](), frozenset[int]()
        for part in parts:
            self._join(last, part.first)
            first |= part.first if matches_empty else frozenset()
            last = part.last | last if part.matches_empty else part.last
            matches_empty &= part.matches_empty
        return _Part(matches_empty, first, last)

    def _join(self, before: frozenset[int], after: frozenset[int]) -> None:
        for position in before:
            self.follow[position] |= after

    def _position(self, source: str) -> frozenset[int]:
        self.sources.append(source)
        self.follow.append(frozenset())
        return frozenset((len(self.sources) - 1,))
