"""Search for the shortest texts at whose beginning two plain patterns match differently.

The search goes through all pairs of states of the two patterns, breadth first, with one character for each kind that
they distinguish. Each pair of states is reached by its shortest text. If no text is found in the end, the two patterns
match alike at the beginning of every text.

Where a pattern matches the empty string, `regex` searches for another match from the same place, which must not be empty. So
two things count: the first match that is not empty, and, if there is none, whether there is an empty one, since it ends the
text without a match.
"""

from collections import deque
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

from bpe_core.patterns.alphabet import ANY_CHARACTER, Alphabet, sources_of
from bpe_core.patterns.matching import Matcher, Threads
from bpe_core.patterns.syntax import Node

_MOST_STATES: Final = 20_000
"""Maximum number of pairs of states: a few seconds. Published patterns have a few hundred."""


class _Found(Enum):
    """The matches of the two patterns so far."""

    UNREAD = auto()
    """The first character is not read yet."""
    NOTHING = auto()
    EMPTY = auto()
    """Only one of them has an empty match, and neither has another one."""
    THE_SAME = auto()
    DIFFERENT = auto()


class _State(NamedTuple):
    a: Threads
    b: Threads
    found: _Found
    unread: str
    """Characters of the text that can't be read yet, since look-aheads depend on what follows them."""


class MatcherPair:
    """The matchers of two patterns, A and B, and the characters that they distinguish."""

    def __init__(self, a: Node, b: Node, *, skips: bool = False) -> None:
        """Compile two patterns. `skips` is described in `Matcher`. Raises `ValueError` as `Matcher` does."""
        self.alphabet: Final = Alphabet({*sources_of(a), *sources_of(b), ANY_CHARACTER})
        self.a: Final = Matcher(a, self.alphabet, skips=skips)
        self.b: Final = Matcher(b, self.alphabet, skips=skips)
        self._examined: Final = max(self.a.examined, self.b.examined)
        self._lookaheads: Final = self.a.lookaheads + self.b.lookaheads
        self._decided: Final[dict[str, bool]] = {}

    def is_decided(self, rest: str) -> bool:
        """Whether all look-aheads before `rest` give the same results however the text goes on, or if it ends."""
        if len(rest) >= self._examined:
            return True
        if rest not in self._decided:
            self._decided[rest] = all(
                bool(lookahead.match(rest + character)) == bool(lookahead.match(rest))
                and self.is_decided(rest + character)
                for character in self.alphabet.sets_of
                for lookahead in self._lookaheads
            )
        return self._decided[rest]


class FirstMatchSearch:
    """A search for texts at whose beginning two patterns match differently."""

    def __init__(
        self, a: Node, b: Node, *, a_drops: bool = False, b_drops: bool = False
    ) -> None:
        """Prepare a search.

        Args:
            a: The first pattern.
            b: The second pattern.
            a_drops: Whether text that the first pattern does not match is dropped.
            b_drops: The same of the second pattern.

        Raises:
            ValueError: A pattern can't be simulated exactly.
        """
        self._pair: Final = MatcherPair(a, b)
        differences = {_Found.DIFFERENT}
        if a_drops != b_drops:
            differences.add(_Found.NOTHING)
        if not (a_drops and b_drops):
            differences.add(_Found.EMPTY)
        self._differences: Final = differences
        self.n_states = 0
        """The number of pairs of states that were examined."""

    @property
    def characters(self) -> list[str]:
        """A character of each kind."""
        return list(self._pair.alphabet.sets_of)

    def texts(self) -> Iterator[str]:
        """Yield a text for each pair of states that shows a difference, the shortest first.

        Raises:
            ValueError: There are too many states.
        """
        start = _State(self._pair.a.start, self._pair.b.start, _Found.UNREAD, "")
        known = {start}
        waiting = deque([(start, "")])
        while waiting:
            state, text = waiting.popleft()
            self.n_states += 1
            if text and self._is_different_at_end(state):
                yield text
            for character in self._pair.alphabet.sets_of:
                next_state = self._after(state, character)
                if next_state in known:
                    continue
                if len(known) == _MOST_STATES:
                    raise ValueError
                known.add(next_state)
                waiting.append((next_state, text + character))

    def _after(self, state: _State, character: str) -> _State:
        """Return the state after one more character of the text."""
        unread = state.unread + character
        while unread and self._pair.is_decided(unread):
            state = self._read(state, unread)
            unread = unread[1:]
        return state._replace(unread=unread)

    def _is_different_at_end(self, state: _State) -> bool:
        """Whether the patterns have matched differently if the text ends in a state."""
        for start in range(len(state.unread) + 1):
            state = self._read(state, state.unread[start:])
        return state.found in self._differences

    def _read(self, state: _State, rest: str) -> _State:
        """Read the first character of `rest`; it is the rest of the text, or as much of it as decides the look-aheads."""
        is_first = state.found is _Found.UNREAD
        of_a = self._pair.a.step(state.a, rest, is_first=is_first)
        of_b = self._pair.b.step(state.b, rest, is_first=is_first)
        found = state.found
        if is_first:
            found = _Found.NOTHING if of_a.is_match == of_b.is_match else _Found.EMPTY
        elif of_a.is_match and of_b.is_match:
            found = _Found.THE_SAME
        elif of_a.is_match or of_b.is_match:
            found = _Found.DIFFERENT
        return state._replace(a=of_a.threads, b=of_b.threads, found=found)
