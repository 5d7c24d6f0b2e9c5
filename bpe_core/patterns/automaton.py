"""The position automaton of a plain pattern (V. M. Glushkov, 1961): which characters a match attempt may examine.

Every set of characters in the pattern is a position; where it asks for the end of the text, it looks at any character.
Position q follows position p if an attempt that has matched a character at p may examine the next character at q,
perhaps in a look-ahead. A repetition is written out: `\\d{1,3}` has three positions. The automaton over-approximates:
priority, possessive repetition and negation can only forbid what it allows.
"""

from typing import Final, NamedTuple

import regex

from bpe_core.patterns.syntax import Alternation, Chain, Chars, Lookaround, Node, NotPlain, Repeat, parse

_COUNTED: Final = 16  # repetitions of an item that are written out; a higher number is treated as unlimited
_MOST_SETS: Final = 300
"""Positions at most, since the analysis may take time cubic in their number; the published patterns have some fifty."""


class _Part(NamedTuple):
    """A part of a pattern; the positions at which a match of it can begin and end."""

    matches_empty: bool
    first: frozenset[int]
    last: frozenset[int]


class Automaton:
    """The automaton of one pattern; size O(p * p) for p positions. NotPlain for one of more than 300 of them."""

    def __init__(self, node: Node) -> None:
        self.node: Final = node  # the tree of the pattern
        self.sources: Final[list[str]] = []  # for each position, the regular expression of its set: one character
        self.follow: Final[list[frozenset[int]]] = []  # for each position, the positions that follow it
        self._ahead: Final = set[int]()  # positions in look-aheads
        self.matches_empty: Final = self._part(node).matches_empty
        """Whether the pattern can match nothing; look-aheads are ignored, so it may be true without need."""

    def may_hold(self, text: str) -> bool:
        """Whether some match may hold `text` as a part; False is a proof, as the automaton allows all matches."""
        after = here = frozenset(range(len(self.sources)))
        for character in text:
            here = frozenset(one for one in after - self._ahead if regex.match(self.sources[one], character))
            after = frozenset[int]().union(*(self.follow[one] for one in here))
        return bool(here)

    def _part(self, node: Node) -> _Part:
        match node:
            case Chars(source):
                if len(self.sources) == _MOST_SETS:
                    raise NotPlain
                at = frozenset((len(self.sources),))
                self.sources.append(source)
                self.follow.append(frozenset())
                return _Part(False, at, at)
            case Lookaround(item):
                n_before, part = len(self.sources), self._part(item)
                self._ahead.update(range(n_before, len(self.sources)))
                return _Part(True, part.first, frozenset())
            case Alternation(options):
                parts = list(map(self._part, options))
                first = frozenset().union(*(part.first for part in parts))
                last = frozenset().union(*(part.last for part in parts))
                return _Part(any(part.matches_empty for part in parts), first, last)
            case Chain(items):
                return self._chain(list(map(self._part, items)))
            case Repeat(item, least, most):
                parts = [self._part(item) for _ in range(min(_COUNTED, max(least, 1) if most is None else most))]
                if parts and (most is None or most > _COUNTED):
                    self._join(parts[-1].last, parts[-1].first)
                empty = [part.matches_empty or i >= least for i, part in enumerate(parts)]
                return self._chain([part._replace(matches_empty=it) for part, it in zip(parts, empty, strict=True)])

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


def automaton_of(source: str) -> Automaton | None:
    """The automaton of an expression that the `regex` module has accepted; None if that is not plain or too large."""
    try:
        return Automaton(parse(source))
    except (NotPlain, RecursionError):
        return None
