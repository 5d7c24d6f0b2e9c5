"""How many tokens each part of a text has, as far as somebody has counted."""

from collections.abc import Sequence


class Tally:
    """A count for each of some items in a row, or None."""

    __slots__ = ("_counts", "_first_unknown", "n_tokens", "n_unknown")

    def __init__(self, n_items: int) -> None:
        self._counts: list[int | None] = [None] * n_items
        self._first_unknown = 0  # all before it are known
        self.n_unknown = n_items
        """How many items nobody has counted."""
        self.n_tokens = 0
        """The sum of all that is known."""

    def next_unknown(self) -> int:
        """The first item that nobody has counted; there must be one."""
        self._first_unknown = self._counts.index(None, self._first_unknown)
        return self._first_unknown

    def known(self, first: int, last: int) -> int | None:
        """The sum of some counts; None if one of them is not known."""
        counts = self._counts[first:last]
        return None if None in counts else sum(filter(None, counts))

    def exchange(self, first: int, last: int, counts: Sequence[int | None]) -> None:
        """Let `counts` be those of the items that came in the place of `first` up to, not including, `last`."""
        gone = self._counts[first:last]
        self.n_tokens += sum(filter(None, counts)) - sum(filter(None, gone))
        self.n_unknown += counts.count(None) - gone.count(None)
        self._counts[first:last] = counts
        self._first_unknown = min(self._first_unknown, first)
