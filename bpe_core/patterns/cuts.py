r"""Where a text may be cut so that splitting the parts gives the same pieces as splitting the whole, by proof.

A match attempt that begins before a cut can look at the character after it only by matching the one before it at some
position of the pattern's automaton, and going on to a position that follows. So between two characters that no
position and its follower match, no attempt ever looks across: it does not matter whether the text goes on there.

A cut must not fall into text that the pattern leaves over either, since that is one piece. So the character after a
cut is one that by itself is enough for some option: where it stands, a piece surely begins.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property

from bpe_core.patterns.automaton import END, Automaton
from bpe_core.patterns.char_sets import ASCII, BMP, Ranges, members, set_source, union, without
from bpe_core.patterns.kinds import same_sets
from bpe_core.patterns.syntax import Chain, Chars, Choice, Node, Repeat


class CutFinder:
    """Finds the safe cuts of a pattern, and is false if there are none.

    Characters past the Basic Multilingual Plane are never beside a cut: that keeps the classes small. A text that is
    ASCII is searched with classes of ASCII, which are there in a tenth of the time.
    """

    def __init__(self, node: Node, automaton: Automaton, unless: Collection[str] = ()) -> None:
        """`node` is the tree of the pattern; between the two characters of a pair in `unless` it shall not be cut."""
        self._node = node
        self._automaton = automaton
        self._unless = frozenset(unless)

    def __bool__(self) -> bool:
        return bool(self._in_ascii or self._in_plane)

    def end_of_first(self, text: str, start: int) -> int | None:
        """The first safe cut behind the character at `start` or a later one; None if there is none."""
        finder = self._in_ascii if text.isascii() else self._in_plane
        found = finder.search(text, start) if finder else None
        return found.end() if found else None

    def without(self, pairs: Collection[str]) -> "CutFinder":
        """A finder that finds no cut between the two characters of one of these pairs either."""
        return CutFinder(self._node, self._automaton, self._unless.union(pairs))

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
        before_of: dict[Ranges, list[Ranges]] = defaultdict(list)
        for before, after in _sides(self._node, self._automaton, end):
            before_of[after].append(before)
        safe = "|".join(f"{set_source(union(before))}(?={set_source(after)})" for after, before in before_of.items())
        unless = f"(?!{'|'.join(map(re.escape, self._unless))})" if self._unless else ""
        return re.compile(f"{unless}(?:{safe})") if safe else None


def _sides(node: Node, automaton: Automaton, end: int) -> Iterator[tuple[Ranges, Ranges]]:
    """Characters below `end` such that it is safe to cut between any of the first and any of the second ones."""
    if automaton.matches_empty:
        return  # an empty match can take the place of the piece that should begin after the cut
    options = node.options if isinstance(node, Choice) else (node,)
    begins = union(_enough(option, end) for option in options)
    sources = automaton.sources
    follows: dict[str, set[str]] = defaultdict(set)
    for source, positions in zip(sources, automaton.follow, strict=True):
        follows[source].update(map(sources.__getitem__, positions))
    befores: dict[frozenset[str], list[tuple[int, int]]] = defaultdict(list)
    for low, high, sets in same_sets(set(sources) - {END}, end):
        befores[frozenset().union(*map(follows.__getitem__, sets))].append((low, high))
    for looked_for, before in befores.items():
        after = () if END in looked_for else without(begins, union(members(chars, end) for chars in looked_for))
        if after:
            yield union([tuple(before)]), after


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
