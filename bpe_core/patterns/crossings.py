"""Which tokens may cross a place between two characters of a text.

A token is known by the kinds of the two characters before the place and by the kinds after it. After the place, a repeated
kind counts once, and only four kinds are compared: too many tokens may seem to cross a place, never too few.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, product
from typing import Final, NamedTuple

from bpe_core.patterns.alphabet import Alphabet

_MOST_KINDS: Final = 4
"""Maximum number of kinds after a place that are compared with tokens."""
_PART: Final = "\udc80"
"""Represents a character, if a token has only some of its bytes."""
_PARTS: Final = re.compile("[\ud800-\udfff]+")
_RUNS: Final = re.compile(r"(.)\1*", re.DOTALL)
_LONG_RUNS: Final = re.compile(r"(.)\1{3,}", re.DOTALL)
_FIRST_BYTES: Final = re.compile("(?!^)[\udcc0-\udcff]")  # as surrogates
CROSSED: Final = frozenset((-1,))
"""Instead of numbers of kinds: a token crosses the place."""


class _Surroundings(NamedTuple):
    """The kinds around a place in a token."""

    before: str
    after: str


def _places_in(token: str) -> Iterator[_Surroundings]:
    """Yield what is around the places between the characters of a token, each of which is replaced by its kind.

    In "aab", with two kinds, they are "a" before "ab" (between the two a), and "aa" before "b".
    """
    runs = [run[0] for run in _RUNS.finditer(token)]
    kinds = "".join(run[0] for run in runs)
    before = ""  # the last kind before the run
    for number, run in enumerate(runs):
        rest = kinds[number : number + _MOST_KINDS]
        if len(run) > 1:
            yield _Surroundings(before + run[0], rest)
        if len(run) > 2:
            yield _Surroundings(run[:2], rest)
        rest = kinds[number + 1 : number + 1 + _MOST_KINDS]
        if rest:
            yield _Surroundings((before + run)[-2:], rest)
        before = run[0]


class Crossings:
    """The kinds of the characters around the places inside of tokens."""

    def __init__(self, alphabet: Alphabet, tokens: Iterable[bytes]) -> None:
        self._after: Final[list[dict[str, int]]] = [{}]
        self._is_end: Final = [False]
        texts = {token.decode(errors="surrogateescape") for token in tokens}
        kinds = alphabet.kinds_of_characters(set(chain.from_iterable(texts)))
        table = str.maketrans(kinds)
        self._partial: Final = alphabet.beyond_ascii
        names = {self._parts_marked(text).translate(table) for text in texts}
        # Whether a kind is repeated more than twice makes no difference.
        shapes = {_LONG_RUNS.sub(r"\1\1\1", name) for name in names}
        for place in set(chain.from_iterable(map(_places_in, shapes))):
            self._add(place)

    def _parts_marked(self, text: str) -> str:
        """Replace the bytes of incomplete characters by one sign per character."""

        def marks(part: re.Match[str]) -> str:
            return _PART * (1 + len(_FIRST_BYTES.findall(part[0])))

        return _PARTS.sub(marks, text)

    def _add(self, place: "_Surroundings") -> None:
        before, after = place
        choices = [
            self._partial if name == _PART else [name] for name in before + after
        ]
        for kinds in product(*choices):
            number = self._follow(0, "".join(kinds[: len(before)]))
            for kind in kinds[len(before) :]:
                number = self._follow(number, kind)
            self._is_end[number] = True

    def _follow(self, number: int, kinds: str) -> int:
        """Return the number after some kinds; a new one if it is the first time."""
        new = len(self._after)
        following = self._after[number].setdefault(kinds, new)
        if following == new:
            self._after.append({})
            self._is_end.append(False)
        return following

    def begin(self, before: str, character: str) -> frozenset[int]:
        """Return the numbers of tokens that may cross a place after `before`, if a character follows."""
        starts = {before, before[-1:]}
        numbers = [self._after[0][start] for start in starts if start in self._after[0]]
        return self._reached(numbers, character)

    def next(
        self, numbers: frozenset[int], last: str, character: str
    ) -> frozenset[int]:
        """Return the numbers after one more character; none if no token goes on like that."""
        if numbers == CROSSED or last == character:
            return numbers
        return self._reached(numbers, character)

    def _reached(self, numbers: Iterable[int], character: str) -> frozenset[int]:
        reached = frozenset(
            self._after[number][character]
            for number in numbers
            if character in self._after[number]
        )
        if any(self._is_end[number] for number in reached):
            return CROSSED
        return reached
