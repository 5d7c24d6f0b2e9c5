"""Prove that two patterns that split texts differently never do so inside a token.

Merging a piece gives the same tokens as merging its two parts, if no token crosses the place between them. So the ids of a
text depend only on those cuts that a token of the vocabulary could cross. The search reads all texts at once, breadth first,
one character for each kind that the patterns distinguish, and keeps track of

- the match attempts of both patterns. An attempt that has found a match may still find one that replaces it. So the next
  attempt, which begins at the end of the match, is conditional: it is dropped if an attempt before it matches again.
- the places where a pattern cuts, or will cut unless such an attempt is dropped, as long as a token can cross the place.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from bpe_core.patterns.crossings import CROSSED, Crossings
from bpe_core.patterns.first_match import MatcherPair
from bpe_core.patterns.matching import Matcher, Threads, matches_empty
from bpe_core.patterns.syntax import Node

_MOST_STATES: Final = 5_000
"""Maximum number of states: a few seconds. Published patterns have about a thousand."""
_MOST_OPEN: Final = 8
"""Maximum number of attempts, and of places, of one state. More are likely to become ever more."""
_NOT_CUT: Final = -1
_CUT: Final = 0
"""The pattern cuts at a place. A number n above it: the pattern cuts if none of the first n attempts matches again."""


class _Place(NamedTuple):
    """A place between two characters where at least one pattern may cut."""

    a: int  # `_CUT`, `_NOT_CUT`, or the number of attempts that decide it
    b: int
    crossings: frozenset[int]
    """Numbers of the kinds around the place of tokens that may cross it, as far as they are read; or `CROSSED`."""
    is_skip: bool
    """Whether the cut is after a skipped character. Two skipped characters are not cut apart, so it may be none."""

    @property
    def is_different(self) -> bool:
        """Whether only one pattern cuts, or may cut."""
        return self.a != self.b or (self.is_skip and self.a != _NOT_CUT)


class _State(NamedTuple):
    a: tuple[Threads, ...]
    """The attempts of A that may still find a match. Each begins after the match of the one before."""
    b: tuple[Threads, ...]
    places: tuple[_Place, ...]
    last: str
    """The last two characters, or fewer at the beginning of the text."""
    unread: str
    """Characters that can't be read yet, since look-aheads depend on what follows them."""


class _Progress(NamedTuple):
    """What follows from one more character for the attempts of one pattern."""

    attempts: tuple[Threads, ...]
    n_left: list[int]
    """At index n: how many of the first n attempts are still open. There is no index beyond an attempt that matches."""
    cut: int | None
    """Whether there is a cut before the character, as in `_Place`; None without one."""
    is_skip: bool
    """Whether the cut is after a skipped character."""

    def updated(self, cut: int) -> int:
        """Return what is known of an earlier place now."""
        if cut in (_CUT, _NOT_CUT):
            return cut
        return self.n_left[cut] if cut < len(self.n_left) else _NOT_CUT


def text_with_token_cut(a: Node, b: Node, tokens: Iterable[bytes]) -> str:
    """Return the shortest text in which a token may cross a place where only one of two patterns cuts; "" if none can.

    Args:
        a: The first pattern.
        b: The second pattern.
        tokens: The bytes of the tokens. A token seems to cross a place if it has characters of the same kinds; see
            `patterns.crossings`.

    Raises:
        ValueError: A pattern can't be simulated exactly, or there are too many states.
    """
    if matches_empty(a) or matches_empty(b):
        raise ValueError
    pair = MatcherPair(a, b, skips=True)
    return _CutSearch(pair, Crossings(pair.alphabet, tokens)).text()


class _CutSearch:
    """A search for a text in which a token crosses a place where only one pattern cuts."""

    def __init__(self, pair: MatcherPair, crossings: Crossings) -> None:
        self._pair = pair
        self._a = _Side(pair.a, pair)
        self._b = _Side(pair.b, pair)
        self._crossings = crossings
        self._is_found = False

    def text(self) -> str:
        """Return the shortest text found; "" if none was found."""
        start = _State((), (), (), "", "")
        known = {start}
        waiting = deque([(start, "")])
        while waiting:
            state, text = waiting.popleft()
            if text:
                self._end(state)
            if self._is_found:
                return text
            for character in self._pair.alphabet.sets_of:
                next_state = self._after(state, character)
                if self._is_found:
                    return text + character
                if next_state not in known:
                    n_open = max(map(len, next_state[:3]))
                    if len(known) == _MOST_STATES or n_open > _MOST_OPEN:
                        raise ValueError
                    known.add(next_state)
                    waiting.append((next_state, text + character))
        return ""

    def _after(self, state: _State, character: str) -> _State:
        unread = state.unread + character
        while unread and self._pair.is_decided(unread):
            state = self._read(state, unread)
            unread = unread[1:]
        return state._replace(unread=unread)

    def _end(self, state: _State) -> None:
        """Look for a difference if the text ends in a state."""
        unread = state.unread
        for start in range(len(unread)):
            state = self._read(state, unread[start:])
        of_a = self._a.progress(state.a, "")
        of_b = self._b.progress(state.b, "")
        for place in state.places:
            place = place._replace(
                a=min(of_a.updated(place.a), _CUT), b=min(of_b.updated(place.b), _CUT)
            )
            if place.crossings == CROSSED and place.is_different:
                self._is_found = True

    def _read(self, state: _State, rest: str) -> _State:
        """Read the first character of `rest`."""
        character = rest[0]
        of_a = self._a.progress(state.a, rest)
        of_b = self._b.progress(state.b, rest)
        places = list(self._places_before(state, character, of_a, of_b))
        if of_a.cut is not None or of_b.cut is not None:
            crossings = self._crossings.begin(state.last, character)
            is_skip = of_a.is_skip or of_b.is_skip
            places.append(
                _Place(_known(of_a.cut), _known(of_b.cut), crossings, is_skip)
            )
        return _State(
            a=of_a.attempts,
            b=of_b.attempts,
            places=tuple(self._open(places)),
            last=(state.last + character)[-2:],
            unread="",
        )

    def _places_before(
        self, state: _State, character: str, of_a: _Progress, of_b: _Progress
    ) -> Iterator[_Place]:
        """Yield what is known after one more character of the places before it."""
        for place in state.places:
            yield place._replace(
                a=of_a.updated(place.a),
                b=of_b.updated(place.b),
                crossings=self._crossings.next(
                    place.crossings, state.last[-1:], character
                ),
            )

    def _open(self, places: Iterable[_Place]) -> Iterator[_Place]:
        """Yield the places that may still show a difference."""
        for place in places:
            is_known = place.a <= _CUT and place.b <= _CUT
            if not place.crossings or (is_known and not place.is_different):
                continue
            if is_known and place.crossings == CROSSED:
                self._is_found = True
            yield place


def _known(cut: int | None) -> int:
    return _NOT_CUT if cut is None else cut


class _Side:
    """The match attempts of one pattern."""

    def __init__(self, matcher: Matcher, pair: MatcherPair) -> None:
        self._matcher = matcher
        self._rests = list(_rests(pair, ""))
        self._certain: dict[Threads, bool] = {}

    def progress(self, attempts: tuple[Threads, ...], rest: str) -> _Progress:
        """Let all attempts read the first character of `rest`; "" at the end of the text.

        The last attempt finds a match at the latest after its first character, since it skips a character otherwise.
        """
        left: list[Threads] = []
        n_left = [0]
        cut = None if attempts else _CUT
        is_skip = False
        for threads in attempts:
            step = self._matcher.step(threads, rest, is_first=False)
            if step.threads:
                left.append(step.threads)
            if step.is_match:
                # If another match is certain to replace this one, the text is not cut here.
                if not self._is_certain(step.threads):
                    cut = len(left)
                is_skip = step.is_skip
                break
            n_left.append(len(left))
        if cut is not None and rest:
            first = self._matcher.step(self._matcher.start, rest, is_first=True)
            left.append(first.threads)
        return _Progress(tuple(left), n_left, cut, is_skip and cut is not None)

    def _is_certain(self, start: Threads) -> bool:
        """Whether an attempt will find a match however the text goes on."""
        if start not in self._certain:
            self._certain[start] = self._always_matches(start)
        return self._certain[start]

    def _always_matches(self, start: Threads) -> bool:
        known = {start}
        waiting = [start]
        while waiting:
            threads = waiting.pop()
            for rest in self._rests:
                step = self._matcher.step(threads, rest, is_first=False)
                if step.is_match:
                    continue
                if not step.threads or not rest:
                    return False
                if step.threads not in known:
                    known.add(step.threads)
                    waiting.append(step.threads)
        return True


def _rests(pair: MatcherPair, start: str) -> Iterator[str]:
    """Yield all beginnings of texts that decide the look-aheads, and shorter texts."""
    yield start
    if start and pair.is_decided(start):
        return
    for character in pair.alphabet.sets_of:
        yield from _rests(pair, start + character)
