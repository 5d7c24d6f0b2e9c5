"""How far a match attempt can look: whether, some characters on, none that began before them is still at it.

Where `cuts` asks of two characters alone, here a stretch of text is walked through by all attempts at once: the
positions of Glushkov's automaton (V. M. Glushkov, 1961) that the characters leave alive. A repetition counts: three
digits at most are three positions, and an attempt in the midst of a million digits ends with the third. An attempt may
do less than the automaton, never more.
"""

from functools import lru_cache
from typing import Final, NamedTuple

from bpe_core.patterns.char_sets import matches
from bpe_core.patterns.syntax import COUNTED, Atomic, Chain, Chars, Choice, End, Look, Node, Repeat, times_counted

_REMEMBERED: Final = 1 << 12
"""Steps; each may hold all positions."""

_matches = lru_cache(1 << 16)(matches)


class _Ways(NamedTuple):
    """How a part of a pattern can begin and end."""

    empty: bool
    first: frozenset[int]
    last: frozenset[int]


class Reach:
    """The automaton of one pattern; `node` is its tree."""

    def __init__(self, node: Node) -> None:
        self._sources: list[str] = []
        """Source of the character set at each position; "" for the end of the text, which is looked for only."""
        self._follow: list[frozenset[int]] = []
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}
        self._ways(node)
        self._all = frozenset(range(len(self._sources)))

    def is_over(self, text: str) -> bool:
        """Whether no attempt that began before the second character of `text` can look at what follows `text`."""
        alive = self._matching(self._all, text[0])
        for character in text[1:]:
            alive = self._matching(frozenset().union(*map(self._follow.__getitem__, alive)), character)
        return not any(map(self._follow.__getitem__, alive))

    def _matching(self, positions: frozenset[int], character: str) -> frozenset[int]:
        key = positions, character
        found = self._steps.get(key)
        if found is None:
            if len(self._steps) >= _REMEMBERED:
                self._steps.clear()
            sources = self._sources
            found = frozenset(i for i in positions if sources[i] and _matches(sources[i], character))
            self._steps[key] = found
        return found

    def _ways(self, node: Node) -> _Ways:
        match node:
            case Chars(source):
                at = self._position(source)
                return _Ways(False, at, at)
            case End():
                return _Ways(True, self._position(""), frozenset())
            case Look(item):
                return _Ways(True, self._ways(item).first, frozenset())
            case Atomic(item):
                return self._ways(item)
            case Choice(options):
                ways = list(map(self._ways, options))
                first = frozenset().union(*(way.first for way in ways))
                return _Ways(any(way.empty for way in ways), first, frozenset().union(*(way.last for way in ways)))
            case Chain(items):
                return self._chain(list(map(self._ways, items)))
            case Repeat(item, least, most):
                return self._repeat(item, least, most)

    def _repeat(self, item: Node, least: int, most: int | None) -> _Ways:
        endless = most is None or most > COUNTED
        ways = [self._ways(item) for _ in range(times_counted(least, most))]
        if endless and ways:
            self._join(ways[-1].last, ways[-1].first)
        return self._chain([way._replace(empty=way.empty or i >= least) for i, way in enumerate(ways)])

    def _chain(self, ways: list[_Ways]) -> _Ways:
        empty, first, last = True, frozenset[int](), frozenset[int]()
        for way in ways:
            self._join(last, way.first)
            first |= way.first if empty else frozenset()
            last = way.last | last if way.empty else way.last
            empty &= way.empty
        return _Ways(empty, first, last)

    def _join(self, before: frozenset[int], after: frozenset[int]) -> None:
        for position in before:
            self._follow[position] |= after

    def _position(self, source: str) -> frozenset[int]:
        self._sources.append(source)
        self._follow.append(frozenset())
        return frozenset((len(self._sources) - 1,))
