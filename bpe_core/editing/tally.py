"""The number of tokens of each part of a text, as far as it is known, and their sum."""

from collections.abc import Sequence
from copy import copy


class Tally:
    """A list of counts, None where one is not known, whose sum and number of unknown ones are kept up to date."""

    __slots__ = ("_counts", "_first_unknown", "n_tokens", "n_unknown")

    def __init__(self, n_items: int) -> None:
        self._counts: list[int | None] = [None] * n_items
        self._first_unknown = 0  # all before it are known
        self.n_unknown = n_items
        """How many counts are not known."""
        self.n_tokens = 0
        """The sum of the known counts."""

    def copy(self) -> "Tally":
        """An independent copy."""
        copied = copy(self)
        copied._counts = self._counts[:]
        return copied

    def next_unknown(self, start: int = 0, stop: int | None = None) -> int | None:
        """The index of the first count from `start` up to, not including, `stop` that is not known; None if all are."""
        start = max(start, self._first_unknown)
        try:
            found = self._counts.index(None, start, len(self._counts) if stop is None else stop)
        except ValueError:
            return None
        if start == self._first_unknown:
            self._first_unknown = found
        return found

    def known(self, first: int, last: int) -> int | None:
        """The sum of the counts from `first` up to, not including, `last`; None if one of them is not known."""
        counts = self._counts[first:last]
        return None if None in counts else sum(filter(None, counts))

    def add(self, index: int, change: int) -> None:
        """Add `change`, which may be negative, to the count at `index`, if that is known."""
        count = self._counts[index]
        if count is not None:
            self._counts[index] = count + change
            self.n_tokens += change

    def exchange(self, first: int, last: int, counts: Sequence[int | None]) -> None:
        """Replace the counts from `first` up to, not including, `last` by `counts`, which may be more or fewer."""
        gone = self._counts[first:last]
        self.n_tokens += sum(filter(None, counts)) - sum(filter(None, gone))
        self.n_unknown += counts.count(None) - gone.count(None)
        self._counts[first:last] = counts
        self._first_unknown = min(self._first_unknown, first)
