"""Prove that two patterns that split texts differently never do so inside a token.

Merging a piece gives the same tokens as merging its two parts, if no token crosses the place between them. So the ids of a
text depend only on those cuts that a token of the vocabulary could cross. The search reads all texts at once, breadth first,
one character for each kind that the patterns distinguish, and keeps track of

- the match attempts of both patterns. An attempt that has found a match may still find one that replaces it. So the next
  attempt, which begins at the end of the match, is conditional: it is dropped if an attempt before it matches again.
- the places where a pattern cuts, or will cut unless such an attempt is dropped, as long as a token can cross the place.

A token that crosses a place is known by the kind of the character before the place and by the kinds after it. A repeated
kind counts once, and only four kinds after the place are compared: too many tokens may seem to cross a place, never too
few.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, product
from typing import Final, NamedTuple

from bpe_core.patterns.first_match import MatcherPair
from bpe_core.patterns.matching import Alphabet, Matcher, Threads, matches_empty
from bpe_core.patterns.syntax import Node

_MOST_STATES: Final = 20_000
"""Maximum number of states: a few seconds."""
_MOST_KINDS: Final = 4
"""Maximum number of kinds after a place that are compared with tokens."""
_PART: Final = "\udc80"
"""Stands for a character of which a token has only some bytes."""
_PARTS: Final = re.compile("[\ud800-\udfff]+")
_FIRST_BYTES: Final = re.compile("(?!^)[\udcc0-\udcff]")  # as surrogates

_NOT_CUT: Final = -1
_CUT: Final = 0
"""The pattern cuts at a place. A positive number: it does if so many attempts, the first ones, find no other match."""
_CROSSED: Final = -1
"""In the place of a number of kinds: a token crosses the place."""


class _Place(NamedTuple):
    """A place between two characters where at least one pattern may cut."""

    a: int  # `_CUT`, `_NOT_CUT`, or the number of attempts that decide it
    b: int
    crossing: int  # the number of the kinds after the place, as far as they are read; or `_CROSSED`


class _State(NamedTuple):
    a: tuple[Threads, ...]
    """The attempts of A that may still find a match. Each begins after the match of the one before."""
    b: tuple[Threads, ...]
    places: tuple[_Place, ...]
    last: str
    """The last character; "" at the beginning of the text."""
    unread: str
    """Characters that can't be read yet, since look-aheads depend on what follows them."""


class _Progress(NamedTuple):
    """What follows from one more character for the attempts of one pattern."""

    attempts: tuple[Threads, ...]
    n_left: list[int]
    """For a number of attempts, the first ones: how many of them are left. It ends before an attempt that matches."""
    cut: int | None
    """Whether there is a cut before the character, as in `_Place`; None if there is none."""
    is_skip: bool
    """Whether the cut is after a skipped character."""

    def updated(self, cut: int) -> int:
        """Return what is known of an earlier place now."""
        if cut in (_CUT, _NOT_CUT):
            return cut
        return self.n_left[cut] if cut < len(self.n_left) else _NOT_CUT


class Crossings:
    """The kinds of the characters around the places inside of tokens."""

    def __init__(self, alphabet: Alphabet, tokens: Iterable[bytes]) -> None:
        self._after: Final[list[dict[str, int]]] = [{}]
        self._is_end: Final = [False]
        texts = {token.decode(errors="surrogateescape") for token in tokens}
        kinds = alphabet.kinds_of_characters(set(chain.from_iterable(texts)))
        table = str.maketrans(kinds)
        self._partial: Final = alphabet.beyond_ascii
        for text in {self._parts_marked(text).translate(table) for text in texts}:
            runs = [(kind, len(list(run))) for kind, run in groupby(text)]
            names = [kind for kind, _ in runs]
            for number, (kind, length) in enumerate(runs):
                if length > 1:
                    self._add(kind, names[number:])
                if number + 1 < len(runs):
                    self._add(kind, names[number + 1 :])

    def _parts_marked(self, text: str) -> str:
        """Replace the bytes of incomplete characters by one sign per character."""

        def marks(part: re.Match[str]) -> str:
            return _PART * (1 + len(_FIRST_BYTES.findall(part[0])))

        return _PARTS.sub(marks, text)

    def _add(self, before: str, after: Sequence[str]) -> None:
        names = (before, *after[:_MOST_KINDS])
        choices = [self._partial if name == _PART else [name] for name in names]
        for kinds in product(*choices):
            number = 0
            for kind in kinds:
                number = self._after[number].setdefault(kind, len(self._after))
                if number == len(self._after):
                    self._after.append({})
                    self._is_end.append(False)
            self._is_end[number] = True

    def begin(self, before: str) -> int | None:
        """Return a number for the kind before a place; None if no token has a character after it."""
        return self._after[0].get(before)

    def next(
        self, number: int, last: str, character: str, is_first: bool
    ) -> int | None:
        """Return the number after one more character; None if no token goes on like that."""
        if number == _CROSSED:
            return number
        if is_first or last != character:
            found = self._after[number].get(character)
            if found is None:
                return None
            number = found
        return _CROSSED if self._is_end[number] else number


def may_matter(a: Node, b: Node, tokens: Iterable[bytes]) -> bool:
    """Whether one of two patterns may cut a text where the other one doesn't, inside of a token. False is a proof.

    Args:
        a: The first pattern.
        b: The second pattern.
        tokens: The bytes of the tokens.

    Raises:
        ValueError: A pattern can't be simulated exactly, or there are too many states.
    """
    if matches_empty(a) or matches_empty(b):
        raise ValueError
    pair = MatcherPair(a, b, skips=True)
    search = _CutSearch(pair, Crossings(pair.alphabet, tokens))
    return search.finds_difference()


class _CutSearch:
    """A search for a text in which a token crosses a place where only one pattern cuts."""

    def __init__(self, pair: MatcherPair, crossings: Crossings) -> None:
        self._pair = pair
        self._crossings = crossings
        self._is_found = False

    def finds_difference(self) -> bool:
        start = _State((), (), (), "", "")
        known = {start}
        waiting = deque([start])
        while waiting and not self._is_found:
            state = waiting.popleft()
            if state.last or state.unread:
                self._end(state)
            for character in self._pair.alphabet.sets_of:
                next_state = self._after(state, character)
                if next_state not in known:
                    if len(known) == _MOST_STATES:
                        raise ValueError
                    known.add(next_state)
                    waiting.append(next_state)
        return self._is_found

    def _after(self, state: _State, character: str) -> _State:
        unread = state.unread + character
        while unread and self._pair.is_decided(unread):
            state = self._read(state, unread)
            unread = unread[1:]
        return state._replace(unread=unread)

    def _end(self, state: _State) -> None:
        """Look for a difference if the text ends in a state."""
        for start in range(len(state.unread)):
            state = self._read(state, state.unread[start:])
        of_a = _progress(self._pair.a, state.a, "")
        of_b = _progress(self._pair.b, state.b, "")
        for place in state.places:
            is_cut_by_a = of_a.updated(place.a) != _NOT_CUT
            is_cut_by_b = of_b.updated(place.b) != _NOT_CUT
            if place.crossing == _CROSSED and is_cut_by_a != is_cut_by_b:
                self._is_found = True

    def _read(self, state: _State, rest: str) -> _State:
        """Read the first character of `rest`."""
        character = rest[0]
        of_a = _progress(self._pair.a, state.a, rest)
        of_b = _progress(self._pair.b, state.b, rest)
        places = list(self._places_before(state, character, of_a, of_b))
        if of_a.cut is not None or of_b.cut is not None:
            number = self._crossings.begin(state.last)
            if number is not None:
                number = self._crossings.next(number, "", character, is_first=True)
            if number is not None:
                place = _Place(_known(of_a.cut), _known(of_b.cut), number)
                if of_a.is_skip or of_b.is_skip:
                    # Two skipped characters are not cut apart. It is not known yet whether the next one is skipped.
                    place = _Place(_CUT, _NOT_CUT, number)
                places.append(place)
        return _State(
            a=of_a.attempts,
            b=of_b.attempts,
            places=tuple(self._open(places)),
            last=character,
            unread="",
        )

    def _places_before(
        self, state: _State, character: str, of_a: _Progress, of_b: _Progress
    ) -> Iterator[_Place]:
        """Yield what is known after one more character of the places before it, if a token may cross them."""
        for place in state.places:
            number = self._crossings.next(
                place.crossing, state.last, character, is_first=False
            )
            if number is not None:
                yield _Place(of_a.updated(place.a), of_b.updated(place.b), number)

    def _open(self, places: Iterable[_Place]) -> Iterator[_Place]:
        """Yield the places that may still show a difference."""
        for place in places:
            is_known = place.a <= _CUT and place.b <= _CUT
            if is_known and place.a == place.b:
                continue
            if is_known and place.crossing == _CROSSED:
                self._is_found = True
            yield place


def _known(cut: int | None) -> int:
    return _NOT_CUT if cut is None else cut


def _progress(matcher: Matcher, attempts: tuple[Threads, ...], rest: str) -> _Progress:
    """Let all attempts of a pattern read the first character of `rest`; "" at the end of the text.

    The last attempt finds a match at the latest after its first character, since it skips a character otherwise.
    """
    left: list[Threads] = []
    n_left = [0]
    cut = None if attempts else _CUT
    is_skip = False
    for threads in attempts:
        step = matcher.step(threads, rest, is_first=False)
        if step.threads:
            left.append(step.threads)
        if step.is_match:
            cut = len(left)
            is_skip = step.is_skip
            break
        n_left.append(len(left))
    if cut is not None and rest:
        left.append(matcher.step(matcher.start, rest, is_first=True).threads)
    return _Progress(tuple(left), n_left, cut, is_skip)
