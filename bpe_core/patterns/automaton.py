r"""The position automaton of a plain pattern (V. M. Glushkov, 1961): which characters a match attempt may examine.

Every set of characters in the pattern is a position; where it asks for the end of the text, it looks at any character.
Position q follows position p if an attempt that has matched a character at p may examine the next character at q,
perhaps in a look-ahead. A repetition is written out: `\d{1,3}` has three positions. The automaton over-approximates:
priority, possessive repetition and negation can only forbid what it allows.

From it follow *safe cuts*: places where a text may be cut so that splitting the two parts gives the pieces of the
whole, proved. A place between the characters a and b is a safe cut if two things hold:

- No match attempt that begins before it examines b: there are no positions p, q of the pattern's automaton such that p
  matches a, q matches b, and q follows p.
- A piece begins at b: b alone is enough for some alternative of the pattern to match. (Otherwise the cut could fall
  into text that the pattern does not match, which is one piece.)
"""

import re
from collections import defaultdict
from collections.abc import Collection
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Final, NamedTuple

import regex

from bpe_core.patterns.syntax import Lookaround, Node, Repeat, parse
from bpe_core.utf8 import every_character

BMP: Final = 0x10000  # the end of the Basic Multilingual Plane; nearly all text is below, its sets take milliseconds
ASCII: Final = 0x80  # its end; members below it are listed in a tenth of the time that the plane takes
_COUNTED: Final = 16  # repetitions of an item that are written out; a higher number is treated as unlimited
_MOST_SETS: Final = 300
"""Positions at most, since the analysis may take time cubic in their number; the published patterns have some fifty."""


class _Part(NamedTuple):
    """A part of a pattern; the positions at which a match of it can begin and end."""

    matches_empty: bool
    first: frozenset[int]
    last: frozenset[int]


class Automaton:
    """The automaton of one pattern; size O(p * p) for p positions. ValueError for one of more than 300 of them."""

    def __init__(self, node: Node) -> None:
        self.node: Final = node  # the tree of the pattern
        self.sources: Final[
            list[str]
        ] = []  # for each position, the regular expression of its set: one character
        self.follow: Final[
            list[frozenset[int]]
        ] = []  # for each position, the positions that follow it
        self._ahead: Final = set[int]()  # positions in look-aheads
        self.matches_empty: Final = self._part(node).matches_empty
        """Whether the pattern can match nothing; look-aheads are ignored, so it may be true without need."""

    def may_hold(self, text: str) -> bool:
        """Whether some match may hold `text` as a part; False is a proof, as the automaton allows all matches."""
        after = here = frozenset(range(len(self.sources)))
        for character in text:
            here = frozenset(
                one
                for one in after - self._ahead
                if regex.match(self.sources[one], character)
            )
            after = frozenset[int]().union(*(self.follow[one] for one in here))
        return bool(here)

    def looks_across(self, pair: str) -> bool:
        """Whether a match attempt that begins before the second of two adjacent characters may examine that."""
        left, right = (
            [bool(regex.match(source, one)) for source in self.sources] for one in pair
        )
        return any(
            left[at] and right[then]
            for at, following in enumerate(self.follow)
            for then in following
        )

    def _part(self, node: Node) -> _Part:
        match node:
            case str():
                if len(self.sources) == _MOST_SETS:
                    raise ValueError
                at = frozenset((len(self.sources),))
                self.sources.append(node)
                self.follow.append(frozenset())
                return _Part(False, at, at)
            case Lookaround(item):
                n_before, part = len(self.sources), self._part(item)
                self._ahead.update(range(n_before, len(self.sources)))
                return _Part(True, part.first, frozenset())
            case list():
                parts = list(map(self._part, node))
                first = frozenset().union(*(part.first for part in parts))
                last = frozenset().union(*(part.last for part in parts))
                return _Part(any(part.matches_empty for part in parts), first, last)
            case tuple():
                return self._chain(list(map(self._part, node)))
            case Repeat(item, least, most):
                parts = [
                    self._part(item)
                    for _ in range(
                        min(_COUNTED, max(least, 1) if most is None else most)
                    )
                ]
                if parts and (most is None or most > _COUNTED):
                    self._join(parts[-1].last, parts[-1].first)
                empty = [
                    part.matches_empty or i >= least for i, part in enumerate(parts)
                ]
                return self._chain(
                    [
                        part._replace(matches_empty=it)
                        for part, it in zip(parts, empty, strict=True)
                    ]
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


def automaton_of(source: str) -> Automaton | None:
    """The automaton of an expression that the `regex` module has accepted; None if that is not plain or too large."""
    try:
        return Automaton(parse(source))
    except (ValueError, RecursionError):
        return None


class CutFinder:
    """Finds the safe cuts of texts under one pattern; false if it has none. No cut is found beside a character past the
    Basic Multilingual Plane, so that the classes stay small. An expression for texts in ASCII alone is compiled in a
    tenth of the time."""

    def __init__(
        self, automaton: Automaton, unless: frozenset[str] = frozenset()
    ) -> None:
        self.automaton: Final = automaton
        self.unless: Final = (
            unless  # strings of two characters between which no cut is found
        )
        self._finder: Final = cache(self._below)

    def __bool__(self) -> bool:
        return bool(self._finder(ASCII) or self._finder(BMP))

    def without(self, pairs: frozenset[str]) -> "CutFinder":
        """The same, which finds no cut between these either, strings of two characters."""
        return CutFinder(self.automaton, self.unless | pairs)

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
        options = (
            automaton.node if isinstance(automaton.node, list) else [automaton.node]
        )
        begins = reduce(or_, (_enough(option, end) for option in options))
        sources, follows = automaton.sources, defaultdict[str, set[str]](set)
        for source, positions in zip(sources, automaton.follow, strict=True):
            follows[source].update(map(sources.__getitem__, positions))
        before_of = defaultdict[int, int](
            int
        )  # a set -> those between which and a character of it is a cut
        for held, before in kinds_of(set(sources), end).items():
            examined = {chars for source in held for chars in follows[source]}
            before_of[
                begins & ~reduce(or_, (members(chars, end) for chars in examined), 0)
            ] |= before
        cuts = ((before, after) for after, before in before_of.items() if after)
        safe = "|".join(
            f"{set_source(before)}(?={set_source(after)})" for before, after in cuts
        )
        unless = f"(?!{'|'.join(map(re.escape, self.unless))})" if self.unless else ""
        return re.compile(f"{unless}(?:{safe})") if safe else None


class InnerCutFinder:
    """Finds the safe cuts of a pattern that splits the pieces of a first one again.

    A safe cut of the first pattern is one. So is a safe cut of the second pattern that no match attempt of the first
    looks across: the matches of the first are the same then, and if the cut is not between two of its pieces, it is in
    one that the second pattern would cut there.
    """

    def __init__(
        self,
        first: CutFinder,
        second: "CutFinder | InnerCutFinder",
        unless: frozenset[str] = frozenset(),
    ) -> None:
        self._first, self._second = first, second
        self._unless: Final = (
            unless  # strings of two characters between which no cut is found
        )
        self._is_cut: Final = cache(self._is_safe)

    def __bool__(self) -> bool:
        return bool(self._first) or (
            bool(self._second) and not self._first.automaton.matches_empty
        )

    def without(self, pairs: frozenset[str]) -> "InnerCutFinder":
        """The same, which finds no cut between these either, strings of two characters."""
        return InnerCutFinder(self._first, self._second, self._unless | pairs)

    def end_of_first(self, text: str, start: int) -> int:
        """The least offset greater than `start` that is a safe cut of `text`; its length if there is none."""
        place = start
        while place < len(text):
            next_place = self._second.end_of_first(text, place)
            own = self._own(text, place, next_place)
            if own < next_place:
                return own
            place = next_place
            if place < len(text) and self._is_cut(text[place - 1 : place + 1]):
                return place
        return len(text)

    def _own(self, text: str, start: int, end: int) -> int:
        """The first cut of the first pattern between two offsets; `end` if there is none."""
        window = text[start : end + 1]
        place = 0
        while start + place < end:
            place = self._first.end_of_first(window, place)
            if (
                start + place < end
                and window[place - 1 : place + 1] not in self._unless
            ):
                return start + place
        return end

    def _is_safe(self, pair: str) -> bool:
        if pair in self._unless:
            return False
        if self._first.end_of_first(pair, 0) == 1:
            return True
        automaton = self._first.automaton
        return not automaton.matches_empty and not automaton.looks_across(pair)


def _enough(option: Node, end: int) -> int:
    """The characters below `end` at which the alternative `option` matches, whatever follows them; perhaps not all."""
    items = option if isinstance(option, tuple) else (option,)
    consumed = 0
    for position, item in enumerate(items):
        match item:
            case Repeat(str(source), 0, _, "+"):
                consumed |= members(
                    source, end
                )  # it gives nothing back, so nothing may be left for the next
            case Repeat(_, 0, _, mode) if mode != "+":
                continue
            case str(source) | Repeat(str(source), 1):
                following = items[position + 1 :]
                rest_is_optional = all(
                    isinstance(later, Repeat) and later.least == 0
                    for later in following
                )
                return members(source, end) & ~consumed if rest_is_optional else 0
            case _:
                return 0
    return 0


# Sets of characters: numbers in which bit i stands for the code point i, computed by the `regex` module itself.


@lru_cache(maxsize=512)
def members(chars: str, end: int = BMP) -> int:
    r"""The code points below `end` that `chars` matches, a regular expression of exactly one character.

    >>> members(r"[a-c\r\n]") == 1 << 10 | 1 << 13 | 0b111 << 97
    True
    """
    found = regex.finditer(f"(?:{chars})++", every_character(0, end))
    return sum((1 << match.end()) - (1 << match.start()) for match in found)


def set_source(chars: int) -> str:
    r"""The set as a character class in the syntax that `re` and `regex` share; `chars` is not empty.

    >>> set_source(members("[0-9_]"))
    '[\\u0030-\\u0039\\u005f]'
    """
    ranges = [
        (match.start(), match.end() - 1)
        for match in re.finditer("1+", f"{chars:b}"[::-1])
    ]
    # A character stands as itself, which compiles faster, or is escaped where it could be syntax.
    ends = [
        [chr(code) if code > 0xA0 else f"\\u{code:04x}" for code in both]
        for both in ranges
    ]
    return f"[{''.join(low if low == last else f'{low}-{last}' for low, last in ends)}]"


def kinds_of(sets: Collection[str], end: int) -> dict[frozenset[str], int]:
    """Those of the sets, expressions of one character, that hold a code point -> all code points below `end` that just
    these hold."""
    kinds = {frozenset[str](): (1 << end) - 1}
    for source in sets:
        chars = members(source, end)
        inside = {held | {source}: kind & chars for held, kind in kinds.items()}
        outside = {held: kind & ~chars for held, kind in kinds.items()}
        kinds = {held: kind for held, kind in (inside | outside).items() if kind}
    return kinds


class Kinds(dict[int, str]):
    """Code point -> the character that represents its kind, for `str.translate`; astral ones represent themselves. Two
    characters are of one kind if they are in the same of the pattern's sets: `sets`, expressions of one character."""

    def __init__(self, sets: Collection[str]) -> None:
        kinds = kinds_of(sets, BMP).values()
        self._kinds = dict(
            sorted((chr((kind & -kind).bit_length() - 1), kind) for kind in kinds)
        )
        self.examples = tuple(
            self._kinds
        )  # the representative of each kind of the Basic Multilingual Plane

    def __missing__(self, code: int) -> str:
        example = next(
            (one for one, kind in self._kinds.items() if kind >> code & 1), chr(code)
        )
        self[code] = example
        return example
