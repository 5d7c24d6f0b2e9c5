"""Prove that two patterns that split texts differently never do so inside a token.

Merging a piece gives the same tokens as merging its two parts, if no token crosses the place between them. So the ids of a
text depend only on those cuts that a token of the vocabulary could cross. The search reads all texts at once, one character
for each kind that the patterns distinguish, and keeps track of

- the match attempts of both patterns. An attempt that has found a match may still find one that replaces it. So the next
  attempt, which begins at the end of the match, is conditional: it is dropped if an attempt before it matches again.
- the places where a pattern cuts, or will cut unless such an attempt is dropped, as long as a token may cross the place.

A token may cross a place if the kinds of its characters are those around the place: one before it, and up to four after it,
where a repeated kind counts once. So too many tokens may seem to cross a place, never too few.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, product
from typing import Final, NamedTuple

from bpe_core.patterns.alphabet import Alphabet
from bpe_core.patterns.matching import Matcher, Threads, matches_empty
from bpe_core.patterns.pair_search import PairSearch
from bpe_core.patterns.syntax import Node

_MOST_STATES: Final = 5_000
"""Maximum number of states: a few seconds. Published patterns have about a thousand."""
_MOST_OPEN: Final = 8
"""Maximum number of attempts, and of places, of one state. More are likely to become ever more."""
_NOT_CUT: Final = -1
_CUT: Final = 0
"""The pattern cuts at a place. A number n above it: the pattern cuts if none of the first n attempts matches again."""
_MOST_KINDS: Final = 4
"""Maximum number of kinds after a place that are compared with tokens."""
_CROSSED: Final = ""
"""Instead of the kinds around a place: a token may cross it."""
_PART: Final = "\udc80"
"""Represents a character, if a token has only some of its bytes."""
_PARTS: Final = re.compile("[\ud800-\udfff]+")
_FIRST_BYTES: Final = re.compile("(?!^)[\udcc0-\udcff]")  # as surrogates


class _Place(NamedTuple):
    """A place between two characters where at least one pattern may cut."""

    a: int  # `_CUT`, `_NOT_CUT`, or the number of attempts that decide it
    b: int
    is_skip: bool
    """Whether the cut is after a skipped character. Two skipped characters are not cut apart, so it may be none."""
    around: str
    """The kinds around the place that are read, in which a token may begin to cross it; or `_CROSSED`."""

    @property
    def is_known(self) -> bool:
        """Whether it is known of both patterns if they cut."""
        return self.a <= _CUT and self.b <= _CUT

    @property
    def is_different(self) -> bool:
        """Whether only one pattern cuts, or may cut."""
        return self.a != self.b or (self.is_skip and self.a != _NOT_CUT)


class _State(NamedTuple):
    a: tuple[Threads, ...] = ()
    """The attempts of A that may still find a match. Each begins after the match of the one before."""
    b: tuple[Threads, ...] = ()
    places: tuple[_Place, ...] = ()
    last: str = ""
    """The last character; "" at the beginning of the text."""


class _Progress(NamedTuple):
    """What follows from one more character for the attempts of one pattern."""

    attempts: tuple[Threads, ...]
    n_left: list[int]
    """At index n: how many of the first n attempts are still open. There is no index beyond an attempt that matches."""
    cut: int
    """What is known of a cut before the character: a value such as `_Place.a`."""
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
        tokens: The bytes of the tokens.

    Raises:
        ValueError: A pattern can't be simulated exactly, or there are too many states.
    """
    if matches_empty(a) or matches_empty(b):
        raise ValueError
    return next(_CutSearch(a, b, tokens).texts(_State()), "")


class _CutSearch(PairSearch[_State]):
    """A search for a text in which a token crosses a place where only one pattern cuts."""

    def __init__(self, a: Node, b: Node, tokens: Iterable[bytes]) -> None:
        super().__init__(a, b, skips=True, most_states=_MOST_STATES)
        rests = list(self._rests(""))
        self._side_of_a = _Side(self.a, rests)
        self._side_of_b = _Side(self.b, rests)
        self._crossed = set(_kinds_around_places(tokens, self.alphabet))
        self._beginnings = {
            kinds[:length] for kinds in self._crossed for length in range(1, len(kinds))
        }

    def _rests(self, start: str) -> Iterator[str]:
        """Yield `start` and all longer texts, each up to the character that decides the look-aheads.

        `_Side` reads them as what may follow in a text, the shorter ones as the end of a text.
        """
        yield start
        if start and self.is_decided(start):
            return
        for character in self.alphabet.sets_of:
            yield from self._rests(start + character)

    def read(self, state: _State, rest: str) -> _State:
        """Return the state after one more character. A place that makes no difference is dropped."""
        character = rest[:1]
        of_a = self._side_of_a.progress(state.a, rest)
        of_b = self._side_of_b.progress(state.b, rest)
        places = []
        for place in state.places:
            around: str | None = place.around
            if around != _CROSSED and character != state.last:
                around = self._crossing(place.around + character)
            if around is not None:
                a = of_a.updated(place.a)
                b = of_b.updated(place.b)
                places.append(_Place(a, b, place.is_skip, around))
        around = self._crossing(state.last + character)
        if around is not None:
            is_skip = of_a.is_skip or of_b.is_skip
            places.append(_Place(of_a.cut, of_b.cut, is_skip, around))
        if not rest:  # nothing can match again
            places = [
                place._replace(a=min(place.a, _CUT), b=min(place.b, _CUT))
                for place in places
            ]
        left = [place for place in places if place.is_different or not place.is_known]
        after = _State(of_a.attempts, of_b.attempts, tuple(left), character)
        if max(map(len, after)) > _MOST_OPEN:
            raise ValueError
        return after

    def _crossing(self, around: str) -> str | None:
        """Return the kinds around a place, or `_CROSSED`; None if no token crosses it."""
        if around in self._crossed:
            return _CROSSED
        return around if around in self._beginnings else None

    def is_different(self, state: _State) -> bool:
        """Whether a token may cross a place where only one pattern cuts."""
        return any(place.around == _CROSSED for place in state.places)


def _kinds_around_places(tokens: Iterable[bytes], alphabet: Alphabet) -> Iterator[str]:
    """Yield, for each place inside of a token, the kind before it and the kinds after it, as `_Place.around`.

    In the token "the" + two digits, with the kinds "a" (letters) and "1" (digits), the places are t|h, h|e, e|1 and 1|1.
    The first two yield "aa1", the third "a1", and the last one "11".
    """
    texts = {token.decode(errors="surrogateescape") for token in tokens}
    kinds_of = alphabet.kinds_of_characters(set(chain.from_iterable(texts)))
    table = str.maketrans(kinds_of)
    for text in {_with_marked_parts(text).translate(table) for text in texts}:
        runs = [(kind, len(list(run))) for kind, run in groupby(text)]
        kinds = "".join(kind for kind, _ in runs)
        for number, (kind, length) in enumerate(runs):
            after = kinds[number + 1 : number + 1 + _MOST_KINDS]
            if after:
                yield from _completed(kind + after, alphabet)
            if length > 1:
                after = kinds[number : number + _MOST_KINDS]
                yield from _completed(kind + after, alphabet)


def _completed(kinds: str, alphabet: Alphabet) -> Iterator[str]:
    """Yield the kinds around a place, with each kind that a part of a character may belong to in place of the part."""
    choices = [alphabet.beyond_ascii if kind == _PART else kind for kind in kinds]
    for before, *after in product(*choices):
        yield before + "".join(kind for kind, _ in groupby(after))


def _with_marked_parts(text: str) -> str:
    """Replace the bytes of incomplete characters by one sign per character."""

    def marks(part: re.Match[str]) -> str:
        return _PART * (1 + len(_FIRST_BYTES.findall(part[0])))

    return _PARTS.sub(marks, text)


class _Side:
    """The match attempts of one pattern."""

    def __init__(self, matcher: Matcher, rests: list[str]) -> None:
        self._matcher = matcher
        self._rests = rests
        self._certain: dict[Threads, bool] = {}

    def progress(self, attempts: tuple[Threads, ...], rest: str) -> _Progress:
        """Let all attempts read the first character of `rest`; "" at the end of the text.

        The last attempt finds a match at the latest after its first character, since it skips a character otherwise.
        """
        left: list[Threads] = []
        n_left = [0]
        cut = _NOT_CUT if attempts else _CUT
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
        if cut != _NOT_CUT and rest:
            first = self._matcher.step(self._matcher.start, rest, is_first=True)
            left.append(first.threads)
        return _Progress(tuple(left), n_left, cut, is_skip)

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
                if not step.threads:
                    return False
                if step.threads not in known:
                    known.add(step.threads)
                    waiting.append(step.threads)
        return True
