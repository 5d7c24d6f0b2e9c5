r"""The position automaton of a plain pattern (V. M. Glushkov, 1961): which characters a match attempt may examine.

Every set of characters in the pattern is a position. A test for the end of the text counts as examining any character.
Position q follows position p if an attempt that has matched a character at p may examine the next character at q,
possibly in a look-ahead. A repetition is written out: `\d{1,3}` has three positions. The automaton over-approximates:
priority, possessive repetition and negation can only forbid what it allows.

It proves *safe cuts*: places where a text can be cut so that splitting the two parts gives the pieces of the whole. A
place between the characters a and b is a safe cut if two things hold:

- No match attempt that begins before the place examines b: the automaton has no positions p, q such that p matches a, q
  matches b, and q follows p.
- A piece begins at b: b alone is enough for some alternative of the pattern to match. (Otherwise the cut could fall into
  text that the pattern does not match, which is one piece.)
"""

import re
from collections import defaultdict
from collections.abc import Collection
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

import regex

from bpe_core.patterns.syntax import Lookaround, Node, Repeat, parse
from bpe_core.utf8 import every_character

BMP: Final = 0x10000
"""The end of the Basic Multilingual Plane. Nearly all text is below it, and its sets take milliseconds."""
ASCII: Final = 0x80
"""The end of ASCII. Sets below it take a tenth of the time that sets of the whole plane take."""
_COUNTED: Final = 16
"""Maximum number of repetitions that are written out. A higher number is treated as unlimited."""
_MOST_SETS: Final = 300
"""Maximum number of positions, as the analysis may take cubic time. Published patterns have about 50."""


class _Part(NamedTuple):
    """A part of a pattern, and the positions at which a match of it can begin and end."""

    matches_empty: bool
    first: frozenset[int]
    last: frozenset[int]


class Automaton:
    """The automaton of one pattern: O(p²) memory for p positions. ValueError for more than 300 positions."""

    def __init__(self, node: Node) -> None:
        self.node: Final = node
        """The syntax tree of the pattern."""
        self.sources: Final[list[str]] = []
        """For each position, the regular expression of its set: one character."""
        self.follow: Final[list[frozenset[int]]] = []
        """For each position, the positions that follow it."""
        self._in_look_aheads: Final = set[int]()
        self.matches_empty: Final = self._part(node).matches_empty
        """Whether the pattern can match the empty string. True may be wrong, since look-aheads are ignored."""

    def may_hold(self, text: str) -> bool:
        """Whether some match may contain `text`. False is a proof, since the automaton allows all matches."""
        possible = frozenset(range(len(self.sources)))
        matching = set(possible)  # any match contains the empty text
        for character in text:
            matching = {
                position
                for position in possible - self._in_look_aheads
                if regex.match(self.sources[position], character)
            }
            possible = frozenset(
                chain.from_iterable(self.follow[position] for position in matching)
            )
        return bool(matching)

    def looks_across(self, pair: str) -> bool:
        """Whether a match attempt that begins before the second of two adjacent characters may examine that one."""
        matches_left = [bool(regex.match(source, pair[0])) for source in self.sources]
        matches_right = [bool(regex.match(source, pair[1])) for source in self.sources]
        for position, following in enumerate(self.follow):
            if matches_left[position] and any(matches_right[q] for q in following):
                return True
        return False

    def _part(self, node: Node) -> _Part:
        """Add the positions of a part of the pattern."""
        match node:
            case str():
                if len(self.sources) == _MOST_SETS:
                    raise ValueError
                position = frozenset((len(self.sources),))
                self.sources.append(node)
                self.follow.append(frozenset())
                return _Part(False, position, position)
            case Lookaround(item):
                n_before = len(self.sources)
                part = self._part(item)
                self._in_look_aheads.update(range(n_before, len(self.sources)))
                return _Part(True, part.first, frozenset())
            case list():
                options = [self._part(option) for option in node]
                return _Part(
                    any(option.matches_empty for option in options),
                    frozenset(chain.from_iterable(part.first for part in options)),
                    frozenset(chain.from_iterable(part.last for part in options)),
                )
            case tuple():
                return self._chain([self._part(item) for item in node])
            case Repeat(item, least, most):
                return self._repeated(item, least, most)

    def _repeated(self, item: Node, least: int, most: int | None) -> _Part:
        n_copies = max(least, 1) if most is None else most
        parts = [self._part(item) for _ in range(min(_COUNTED, n_copies))]
        is_unlimited = most is None or most > _COUNTED
        if parts and is_unlimited:
            self._join(parts[-1].last, parts[-1].first)
        for number, part in enumerate(parts):
            if number >= least:  # this copy may be left out
                parts[number] = part._replace(matches_empty=True)
        return self._chain(parts)

    def _chain(self, parts: list[_Part]) -> _Part:
        """Join parts that follow one another."""
        matches_empty = True
        first = frozenset[int]()
        last = frozenset[int]()
        for part in parts:
            self._join(last, part.first)
            if matches_empty:
                first |= part.first
            if part.matches_empty:
                last |= part.last
            else:
                last = part.last
            matches_empty &= part.matches_empty
        return _Part(matches_empty, first, last)

    def _join(self, before: frozenset[int], after: frozenset[int]) -> None:
        for position in before:
            self.follow[position] |= after


def automaton_of(source: str) -> Automaton | None:
    """Return the automaton of an expression that the `regex` module has accepted; None if it is not plain, or too large."""
    try:
        return Automaton(parse(source))
    except (ValueError, RecursionError):
        return None


class CutFinder:
    """Finds the safe cuts of texts under one pattern. A finder is false if the pattern has no safe cuts.

    It finds no cut next to a character past the Basic Multilingual Plane, so that the character
    classes stay small. It has a separate expression for ASCII texts, which compiles in a tenth of the
    time.
    """

    def __init__(
        self, automaton: Automaton, unless: frozenset[str] = frozenset()
    ) -> None:
        self.automaton: Final = automaton
        self.unless: Final = unless
        """Pairs of characters, as strings, between which no cut is found."""
        self._finder: Final = cache(self._compile_below)

    def __bool__(self) -> bool:
        return bool(self._finder(ASCII) or self._finder(BMP))

    def without(self, pairs: frozenset[str]) -> "CutFinder":
        """Return a finder that finds no cut between these pairs of characters either."""
        return CutFinder(self.automaton, self.unless | pairs)

    def end_of_first(self, text: str, start: int) -> int:
        """Return the first safe cut of `text` after `start`, or the length of `text`."""
        largest = ASCII if text.isascii() else BMP
        finder = self._finder(largest)
        if finder is None:
            return len(text)
        found = finder.search(text, start)
        if found is None:
            return len(text)
        return found.end()

    def _compile_below(self, end: int) -> re.Pattern[str] | None:
        """Compile an expression whose matches end at the safe cuts between characters below `end`; None if there are
        none."""
        if self.automaton.matches_empty:
            return None  # an empty match can replace the piece that should begin after the cut
        options: list[str] = []
        for after, before in self._cuts_below(end).items():
            if after:
                options.append(f"{set_source(before)}(?={set_source(after)})")
        if not options:
            return None
        unless = ""
        if self.unless:
            unless = f"(?!{'|'.join(map(re.escape, self.unless))})"
        return re.compile(f"{unless}(?:{'|'.join(options)})")

    def _cuts_below(self, end: int) -> dict[int, int]:
        """Return set -> all characters after which there is a safe cut before a character of the set."""
        automaton = self.automaton
        options = automaton.node
        if not isinstance(options, list):
            options = [options]
        begins_piece = 0
        for option in options:
            begins_piece |= _enough(option, end)
        sources = automaton.sources
        sources_after = defaultdict[str, set[str]](set)
        for source, following in zip(sources, automaton.follow, strict=True):
            for position in following:
                sources_after[source].add(sources[position])
        cuts = defaultdict[int, int](int)
        for kind_of_sets, before in kinds_of(set(sources), end).items():
            examined = 0
            for source in kind_of_sets:
                for source_after in sources_after[source]:
                    examined |= members(source_after, end)
            cuts[begins_piece & ~examined] |= before
        return cuts


class InnerCutFinder:
    """Finds the safe cuts of a pattern that splits the pieces of a first pattern again.

    A safe cut of the first pattern is a safe cut of both. So is a safe cut of the second pattern that
    no match attempt of the first one looks across, since the matches of the first pattern stay the
    same. Such a cut is between two pieces of the first pattern, or inside a piece that the second
    pattern cuts there.
    """

    def __init__(
        self,
        first: CutFinder,
        second: "CutFinder | InnerCutFinder",
        unless: frozenset[str] = frozenset(),
    ) -> None:
        self._first: Final = first
        self._second: Final = second
        self._unless: Final = unless
        self._is_cut: Final = cache(self._is_safe)

    def __bool__(self) -> bool:
        if self._first:
            return True
        return bool(self._second) and not self._first.automaton.matches_empty

    def without(self, pairs: frozenset[str]) -> "InnerCutFinder":
        """Return a finder that finds no cut between these pairs of characters either."""
        return InnerCutFinder(self._first, self._second, self._unless | pairs)

    def end_of_first(self, text: str, start: int) -> int:
        """Return the first safe cut of `text` after `start`, or the length of `text`."""
        place = start
        while place < len(text):
            next_place = self._second.end_of_first(text, place)
            cut_of_first = self._cut_of_first(text, place, next_place)
            if cut_of_first < next_place:
                return cut_of_first
            place = next_place
            if place < len(text) and self._is_cut(text[place - 1 : place + 1]):
                return place
        return len(text)

    def _cut_of_first(self, text: str, start: int, end: int) -> int:
        """Return the first cut of the first pattern between two offsets, or `end`."""
        window = text[start : end + 1]
        place = 0
        while start + place < end:
            place = self._first.end_of_first(window, place)
            pair = window[place - 1 : place + 1]
            if start + place < end and pair not in self._unless:
                return start + place
        return end

    def _is_safe(self, pair: str) -> bool:
        """Whether a safe cut of the second pattern between two characters is a safe cut of both patterns."""
        if pair in self._unless:
            return False
        if self._first.end_of_first(pair, 0) == 1:
            return True
        automaton = self._first.automaton
        return not automaton.matches_empty and not automaton.looks_across(pair)


def _enough(option: Node, end: int) -> int:
    """Return some characters below `end` at which an alternative matches before any text."""
    items = option if isinstance(option, tuple) else (option,)
    consumed = 0
    for position, item in enumerate(items):
        match item:
            case Repeat(str(source), 0, _, "+"):
                # It gives nothing back, so nothing may be left for the next item.
                consumed |= members(source, end)
            case Repeat(_, 0, _, mode) if mode != "+":
                continue
            case str(source) | Repeat(str(source), 1):
                later_items = items[position + 1 :]
                rest_is_optional = all(
                    isinstance(later, Repeat) and later.least == 0
                    for later in later_items
                )
                if not rest_is_optional:
                    return 0
                return members(source, end) & ~consumed
            case _:
                return 0
    return 0


# Sets of characters are numbers in which bit i represents the code point i. The `regex` module computes them.


@lru_cache(maxsize=512)
def members(chars: str, end: int = BMP) -> int:
    r"""Return the code points below `end` that `chars` matches, a regular expression of exactly one character.

    >>> members(r"[a-c\r\n]") == 1 << 10 | 1 << 13 | 0b111 << 97
    True
    """
    runs = regex.finditer(f"(?:{chars})++", every_character(0, end))
    return sum((1 << run.end()) - (1 << run.start()) for run in runs)


def set_source(chars: int) -> str:
    r"""Return a set, not empty, as a character class in the syntax that `re` and `regex` share.

    >>> set_source(members("[0-9_]"))
    '[\\u0030-\\u0039\\u005f]'
    """
    bits_from_lowest = f"{chars:b}"[::-1]
    ranges: list[str] = []
    for run in re.finditer("1+", bits_from_lowest):
        first = _escaped(run.start())
        last = _escaped(run.end() - 1)
        ranges.append(first if first == last else f"{first}-{last}")
    return f"[{''.join(ranges)}]"


def _escaped(code: int) -> str:
    # A character that can't be syntax is written as itself, which compiles faster.
    return chr(code) if code > 0xA0 else f"\\u{code:04x}"


def kinds_of(sets: Collection[str], end: int) -> dict[frozenset[str], int]:
    """Return (sets that contain a code point) -> all code points below `end` that exactly these sets contain.

    `sets` are regular expressions of one character.
    """
    kinds = {frozenset[str](): (1 << end) - 1}
    for source in sets:
        chars = members(source, end)
        divided: dict[frozenset[str], int] = {}
        for held, kind in kinds.items():
            divided[held | {source}] = kind & chars
            divided[held] = kind & ~chars
        kinds = {held: kind for held, kind in divided.items() if kind}
    return kinds


class Kinds(dict[int, str]):
    """Code point -> the character that represents its kind, for `str.translate`. Astral characters represent themselves.

    Two characters are of one kind if the same of the pattern's sets contain them.
    """

    def __init__(self, sets: Collection[str]) -> None:
        """`sets` are regular expressions of one character."""
        kinds: dict[str, int] = {}
        for kind in kinds_of(sets, BMP).values():
            lowest_bit = kind & -kind
            kinds[chr(lowest_bit.bit_length() - 1)] = kind
        self._kinds = dict(sorted(kinds.items()))
        self.examples = tuple(self._kinds)
        """The character that represents each kind of the Basic Multilingual Plane."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code)
        for example, kind in self._kinds.items():
            if kind >> code & 1:
                self[code] = example
                break
        return self[code]
