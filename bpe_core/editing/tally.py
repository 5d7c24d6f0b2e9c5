"""The number of tokens of each part of a text, as far as it is known, and their sum."""

from collections.abc import Sequence


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

    def next_unknown(self) -> int:
        """The index of the first count that is not known; there must be one."""
        self._first_unknown = self._counts.index(None, self._first_unknown)
        return self._first_unknown

    def known(self, first: int, last: int) -> int | None:
        """The sum of the counts from `first` up to, not including, `last`; None if one of them is not known."""
        counts = self._counts[first:last]
        return None if None in counts else sum(filter(None, counts))

    def exchange(self, first: int, last: int, counts: Sequence[int | None]) -> None:
        """Replace the counts from `first` up to, not including, `last` by `counts`, which may be more or fewer."""
        gone = self._counts[first:last]
        self.n_tokens += sum(filter(None, counts)) - sum(filter(None, gone))
        self.n_unknown += counts.count(None) - gone.count(None)
        self._counts[first:last] = counts
        self._first_unknown = min(self._first_unknown, first)
