"""Search for the shortest texts that tell two plain patterns apart.

The search goes through all states that texts lead to, breadth first, with one character for each kind that the patterns
distinguish. Each state is reached by its shortest text. So if no text is found in the end, there is none.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from bpe_core.patterns.alphabet import ANY_CHARACTER, Alphabet, sources_of
from bpe_core.patterns.matching import Matcher
from bpe_core.patterns.syntax import Node

S = TypeVar("S")


class PairSearch(Generic[S]):
    """A search through the states of two patterns, A and B."""

    def __init__(
        self, a: Node, b: Node, *, skips: bool = False, most_states: int
    ) -> None:
        """Compile two patterns. `skips` is described in `Matcher`. Raises `ValueError` as `Matcher` does."""
        self.alphabet: Final = Alphabet({*sources_of(a), *sources_of(b), ANY_CHARACTER})
        self.a: Final = Matcher(a, self.alphabet, skips=skips)
        self.b: Final = Matcher(b, self.alphabet, skips=skips)
        self.n_states = 0
        """The number of states that were examined."""
        self._most_states: Final = most_states
        self._examined: Final = max(self.a.examined, self.b.examined)
        self._lookaheads: Final = self.a.lookaheads + self.b.lookaheads
        self._decided: Final[dict[str, bool]] = {}

    @abstractmethod
    def read(self, state: S, rest: str) -> S:
        """Return the state after the first character of `rest`, or at the end of the text if it is "".

        `rest` is the rest of the text, or as much of it as decides the look-aheads.
        """

    @abstractmethod
    def is_different(self, state: S) -> bool:
        """Whether a state at the end of a text shows a difference."""

    def texts(self, start: S) -> Iterator[str]:
        """Yield a text for each state that shows a difference, the shortest first. `start` is the state before any text.

        Raises:
            ValueError: There are too many states.
        """
        known = {(start, "")}
        waiting = deque([(start, "", "")])
        while waiting:
            state, unread, text = waiting.popleft()
            self.n_states += 1
            if text and self.is_different(self._at_end(state, unread)):
                yield text
            for character in self.alphabet.sets_of:
                after = self._after(state, unread + character)
                if after in known:
                    continue
                if len(known) == self._most_states:
                    raise ValueError
                known.add(after)
                waiting.append((*after, text + character))

    def _after(self, state: S, unread: str) -> tuple[S, str]:
        """Read as many characters as possible. Return the state, and those whose look-aheads depend on what follows."""
        while unread and self.is_decided(unread):
            state = self.read(state, unread)
            unread = unread[1:]
        return state, unread

    def _at_end(self, state: S, unread: str) -> S:
        for start in range(len(unread) + 1):
            state = self.read(state, unread[start:])
        return state

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
