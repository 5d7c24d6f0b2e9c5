"""What Picky BPE did, step by step: the merges, and the tokens that were removed after each.

An id stands for different tokens at different steps. Inside of here each token has a number of its own for all steps,
the place of its spelling among all that were ever learned.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from bpe_core.errors import OptionError
from bpe_core.picky.living_tokens import LivingTokens

Row = tuple[int, ...]
"""A step in the ids of that step: (left, right, token), and behind them the ids of the tokens that were removed."""

Event = tuple[tuple[int, ...], tuple[int, ...]]
"""(numbers of neighbors, numbers of what they are replaced by): a pair by one token, or one token by what it falls
into."""


class History:
    """The steps of all versions of a vocabulary; they are only ever appended."""

    def __init__(self, base: Mapping[int, bytes]) -> None:
        self.base: Final = dict(base)
        """Id -> bytes of the tokens that are there from the beginning and are never removed."""
        self.rows: Final[list[Row]] = []
        """A row for each step."""
        self.numbered: Final[list[Row]] = []
        """The same rows with numbers instead of ids."""
        self.bytes_of: Final = list(self.base.values())
        """Number -> bytes."""
        self.lengths: Final = [1] * len(self.base)
        """Number -> how many tokens of the base it is made of."""
        self.first_steps: Final = [0] * len(self.base)
        """Number -> the step that first made it; 0 for the base."""
        self.events: Final[list[Event]] = []
        """All that happened, in order: each merge, and behind it the removals of its step."""
        self.events_of: Final[dict[tuple[int, ...], list[int]]] = {}
        """Numbers of neighbors -> the events that replace them, ascending."""
        self.ends: Final = [0]
        """Step -> how many events there were after it."""
        self.sizes: Final = [len(self.base)]
        """Step -> how many tokens lived after it."""
        self._living = LivingTokens(list(self.base), 0)
        self._numbers = {spelling: number for number, spelling in enumerate(self._living.id_of)}

    def extend(self, rows: Iterable[Row]) -> None:
        """Append steps. Raises `OptionError` at the first with an id that stands for nothing or another thing."""
        living = self._living
        for row in rows:
            step = len(self.rows) + 1
            left, right, token, *removed = row
            for part in (left, right):
                if part not in living.spelling_of:
                    raise OptionError(f"Step {step} merges the id {part}, which is of no token then.")
            spelling = living.spelling_of[left] + living.spelling_of[right]
            if token != living.id_of.get(spelling, token) or (
                token in living.spelling_of and living.spelling_of[token] != spelling
            ):
                raise OptionError(f"Step {step} makes the token {token}, but not that one has the bytes of its parts.")
            numbers = [self._number(left), self._number(right)]
            living.make(left, right, token)
            numbers.append(self._number(token))
            self._happened((numbers[0], numbers[1]), (numbers[2],))
            for part in removed:
                if not living.is_removable(part):
                    raise OptionError(f"Step {step} removes the id {part}, which is of no token that was learned.")
                numbers.append(self._number(part))
                parts = living.remove(part)
                self._happened((numbers[-1],), tuple(map(self._number, parts)))
            self.rows.append(tuple(row))
            self.numbered.append(tuple(numbers))
            self.ends.append(len(self.events))
            self.sizes.append(len(living.id_of))

    def _number(self, token: int) -> int:
        """The number of a living token, a new one if it was never learned before."""
        spelling = self._living.spelling_of[token]
        number = self._numbers.setdefault(spelling, len(self._numbers))
        if number == len(self.lengths):
            self.lengths.append(len(spelling))
            self.bytes_of.append(b"".join(self.bytes_of[ord(part)] for part in spelling))
            self.first_steps.append(len(self.rows) + 1)
        return number

    def _happened(self, old: tuple[int, ...], new: tuple[int, ...]) -> None:
        self.events_of.setdefault(old, []).append(len(self.events))
        self.events.append((old, new))

    def step_of_event(self, event: int) -> int:
        """The step in which an event happened, from 1."""
        return bisect_left(self.ends, event + 1)

    def at_tip(self, n_steps: int) -> "History":
        """A history of the first `n_steps`, to be extended: this one if it has no more, else a copy of that part."""
        if len(self.rows) == n_steps:
            return self
        history = History(self.base)
        history.extend(islice(self.rows, n_steps))
        return history

    def names(self, n_steps: int) -> list[int]:
        """Number -> what a token is called after `n_steps`, for those learned until then.

        That is its id if it lives; if it was removed, the negative number of the step that first made it.
        """
        names = list(self.base)
        for row, numbers in zip(islice(self.rows, n_steps), self.numbered, strict=False):
            made = numbers[2]
            if made == len(names):
                names.append(row[2])
            else:
                names[made] = row[2]
            for number in numbers[3:]:
                names[number] = -self.first_steps[number]
        return names
