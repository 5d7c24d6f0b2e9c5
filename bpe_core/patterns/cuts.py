r"""Where a text may be cut so that splitting the parts gives the same pieces as splitting the whole, by proof.

Call "a follows b" the pairs of character sets that stand one after the other on some way through the pattern. A match
attempt that starts before a cut can look at the character after it only by consuming the one before it with some set
and going on to a set that may follow. So between two characters that are in no such pair of sets no attempt ever
looks across: it does not matter whether the text goes on there. An assertion counts as a set that holds everything.
The follow relation is the one of Glushkov's automaton (V. M. Glushkov, 1961).

A cut must not fall into text that the pattern leaves over either, since that is one piece. So the character after a
cut is one that by itself is enough for some option: where it stands, a piece surely begins.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import pairwise, product

from bpe_core.patterns.char_sets import ASCII, BMP, Ranges, members, set_source, union, without
from bpe_core.patterns.syntax import Atomic, Chain, Chars, Choice, End, Look, Node, Repeat

ANYTHING = "anything"
"""Stands for an assertion among the sources of character sets: it may look at whatever comes next."""

Follows = dict[str, set[str]]
"""Source of a character set -> sources of those that may come directly after it."""


class CutFinder:
    """Finds the safe cuts of a pattern, and is false if there are none.

    Characters past the Basic Multilingual Plane are never beside a cut: that keeps the classes small. A text that is
    ASCII is searched with classes of ASCII, which are there in a tenth of the time.
    """

    def __init__(self, node: Node, unless: Collection[str] = ()) -> None:
        """`node` is the tree of the pattern; between the two characters of a pair in `unless` it shall not be cut."""
        self._node = node
        self._unless = frozenset(unless)

    def __bool__(self) -> bool:
        return bool(self._in_ascii or self._in_plane)

    def end_of_first(self, text: str, start: int) -> int | None:
        """The first safe cut behind the character at `start` or a later one; None if there is none."""
        finder = self._in_ascii if text.isascii() else self._in_plane
        found = finder.search(text, start) if finder else None
        return found.end() if found else None

    def without(self, pairs: Collection[str]) -> "CutFinder":
        """The same, but for cuts between the two characters of one of these pairs."""
        return CutFinder(self._node, self._unless.union(pairs))

    def compile_all(self) -> None:
        """Have both expressions ready."""
        _ = self._in_ascii, self._in_plane

    @cached_property
    def _in_ascii(self) -> re.Pattern[str] | None:
        return self._below(ASCII)

    @cached_property
    def _in_plane(self) -> re.Pattern[str] | None:
        return self._below(BMP)

    def _below(self, end: int) -> re.Pattern[str] | None:
        """What every match of ends at a safe cut; None where no two characters below `end` are safe to part."""
        sides: dict[Ranges, list[Ranges]] = defaultdict(list)
        for before, after in _sides(self._node, end):
            sides[after].append(before)
        safe = "|".join(f"{set_source(union(before))}(?={set_source(after)})" for after, before in sides.items())
        unless = f"(?!{'|'.join(map(re.escape, self._unless))})" if self._unless else ""
        return re.compile(f"{unless}(?:{safe})") if safe else None


def _sides(node: Node, end: int) -> Iterator[tuple[Ranges, Ranges]]:
    """Characters below `end` such that it is safe to cut between any of the first and any of the second ones."""
    follows: Follows = defaultdict(set)
    ways = _ways(node, follows)
    if ways.empty:
        return  # an empty match can take the place of the piece that should begin after the cut
    options = node.options if isinstance(node, Choice) else (node,)
    begins = union(_enough(option, end) for option in options)
    for forbidden, before in _by_forbidden(ways.sources, follows, end).items():
        taken = union(members(chars, end) for chars in forbidden - {ANYTHING})
        after = () if ANYTHING in forbidden else without(begins, taken)
        if after:
            yield before, after


class Kinds(dict[int, str]):
    """Character by code point -> one that the pattern cannot tell from it; a table for `str.translate`."""

    def __init__(self, node: Node) -> None:
        examples: dict[frozenset[str], str] = {}
        stretches = list(_alike(_ways(node, defaultdict(set)).sources, BMP))
        self._lows = [low for low, _, _ in stretches]
        self._examples = [examples.setdefault(sets, chr(low)) for low, _, sets in stretches]
        self.examples = tuple(examples.values())
        """One character of each kind, as far as the Basic Multilingual Plane has them."""

    def __missing__(self, code: int) -> str:
        example = self[code] = self._examples[bisect_right(self._lows, code) - 1] if code < BMP else chr(code)
        return example


class _Ways:
    """How a part of a pattern can begin and end."""

    __slots__ = ("empty", "first", "last", "sources")

    def __init__(self, empty: bool, first: set[str], last: set[str], sources: set[str]) -> None:
        self.empty = empty
        """Whether it can match without consuming a character."""
        self.first = first
        self.last = last
        self.sources = sources
        """All character sets in it."""


def _ways(node: Node, follows: Follows) -> _Ways:
    """The ways of `node`; notes in `follows` what can follow what inside it."""
    match node:
        case Chars(source):
            return _Ways(False, {source}, {source}, {source})
        case End():
            return _Ways(True, {ANYTHING}, set(), set())
        case Look(item):
            return _Ways(True, {ANYTHING}, set(), _ways(item, follows).sources)
        case Atomic(item):
            return _ways(item, follows)
        case Repeat(item, least, most):
            ways = _ways(item, follows)
            if most != 1:
                _join(ways.last, ways.first, follows)
            return _Ways(ways.empty or least == 0, ways.first, ways.last, ways.sources)
        case Choice(options):
            parts = [_ways(option, follows) for option in options]
            return _Ways(
                any(part.empty for part in parts),
                {chars for part in parts for chars in part.first},
                {chars for part in parts for chars in part.last},
                {chars for part in parts for chars in part.sources},
            )
        case Chain(items):
            return _chain_ways([_ways(item, follows) for item in items], follows)


def _chain_ways(parts: list[_Ways], follows: Follows) -> _Ways:
    chain = _Ways(True, set(), set(), set())
    for part in parts:
        _join(chain.last, part.first, follows)
        chain.first |= part.first if chain.empty else set()
        chain.last = part.last | (chain.last if part.empty else set())
        chain.empty &= part.empty
        chain.sources |= part.sources
    return chain


def _join(before: set[str], after: set[str], follows: Follows) -> None:
    for left, right in product(before, after):
        follows[left].add(right)


def _by_forbidden(sources: set[str], follows: Follows, end: int) -> dict[frozenset[str], Ranges]:
    """What must not come after a character -> the characters below `end` it holds for."""
    groups: dict[frozenset[str], list[tuple[int, int]]] = defaultdict(list)
    for low, high, sets in _alike(sources, end):
        groups[frozenset(right for left in sets for right in follows[left])].append((low, high))
    return {forbidden: union([tuple(ranges)]) for forbidden, ranges in groups.items()}


def _alike(sources: set[str], end: int) -> Iterator[tuple[int, int, frozenset[str]]]:
    """(low, high, the sets they are in) for stretches of characters below `end` that are in the same sets."""
    toggles: dict[int, set[str]] = defaultdict(set)
    for source in sources:
        for low, high in members(source, end):
            toggles[low] ^= {source}
            toggles[high] ^= {source}
    here: set[str] = set()
    for low, high in pairwise(sorted({0, end, *toggles})):
        here ^= toggles.get(low, set())
        yield low, high, frozenset(here)


def _enough(option: Node, end: int) -> Ranges:
    """The characters below `end` that are enough for the option to match, whatever comes after them."""
    items = option.items if isinstance(option, Chain) else (option,)
    taken: list[Ranges] = []
    for position, item in enumerate(items):
        match item:
            case Repeat(Chars(source), 0, _, "+"):
                taken.append(members(source, end))  # it keeps what it takes, so nothing may be left for the next
            case Repeat(_, 0, _, mode) if mode != "+":
                continue
            case Chars(source) | Repeat(Chars(source), 1):
                rest_is_optional = all(
                    isinstance(later, Repeat) and later.least == 0 for later in items[position + 1 :]
                )
                return without(members(source, end), union(taken)) if rest_is_optional else ()
            case _:
                return ()
    return ()
