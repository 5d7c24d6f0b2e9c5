"""Search for the shortest texts at whose beginning two plain patterns match differently.

If there are none, the two patterns match alike at the beginning of every text.

Where a pattern matches the empty string, `regex` searches for another match from the same place, which must not be empty. So
two things count: the first match that is not empty, and, if there is none, whether there is an empty one, since it ends the
text without a match.
"""

from enum import Enum, auto
from typing import Final, NamedTuple

from bpe_core.patterns.matching import Threads
from bpe_core.patterns.pair_search import PairSearch
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


class FirstMatchSearch(PairSearch[_State]):
    """A search for texts at whose beginning two patterns match differently."""

    def __init__(
        self, a: Node, b: Node, *, a_drops: bool = False, b_drops: bool = False
    ) -> None:
        """Prepare a search.

        Args:
            a: The first pattern.
            b: The second pattern.
            a_drops: Whether text that the first pattern does not match is dropped.
            b_drops: The same for the second pattern.

        Raises:
            ValueError: A pattern can't be simulated exactly.
        """
        super().__init__(a, b, most_states=_MOST_STATES)
        self._differences: Final = {_Found.DIFFERENT}
        if a_drops != b_drops:
            # Where neither matches, one drops the text, and the other keeps it.
            self._differences.add(_Found.NOTHING)
        if not (a_drops and b_drops):
            # If both drop text without a match, an empty match makes no difference: it adds no piece.
            self._differences.add(_Found.EMPTY)
        self.start: Final = _State(self.a.start, self.b.start, _Found.UNREAD)

    def read(self, state: _State, rest: str) -> _State:
        """Return the state after one more character."""
        is_first = state.found is _Found.UNREAD
        of_a = self.a.step(state.a, rest, is_first=is_first)
        of_b = self.b.step(state.b, rest, is_first=is_first)
        found = state.found
        if is_first:
            found = _Found.NOTHING if of_a.is_match == of_b.is_match else _Found.EMPTY
        elif of_a.is_match and of_b.is_match:
            found = _Found.THE_SAME
        elif of_a.is_match or of_b.is_match:
            found = _Found.DIFFERENT
        return _State(of_a.threads, of_b.threads, found)

    def is_different(self, state: _State) -> bool:
        """Whether the patterns have matched differently."""
        return state.found in self._differences
