"""How many tokens each part of a text has, as far as somebody has counted."""


class Tally:
    """A count for each of some items in a row, or None."""

    __slots__ = ("_counts", "_first_unknown", "n_unknown")

    def __init__(self, n_items: int) -> None:
        self._counts: list[int | None] = [None] * n_items
        self._first_unknown = 0  # all before it are known
        self.n_unknown = n_items
        """How many items nobody has counted."""

    def next_unknown(self) -> int:
        """The first item that nobody has counted; there must be one."""
        self._first_unknown = self._counts.index(None, self._first_unknown)
        return self._first_unknown

    def known(self, first: int, last: int) -> int | None:
        """The sum of some counts; None if one of them is not known."""
        total = 0
        for count in self._counts[first:last]:
            if count is None:
                return None
            total += count
        return total

    def sum(self) -> int:
        """The sum of all that is known."""
        return sum(count for count in self._counts if count is not None)

    def grow(self, index: int, n_tokens: int) -> None:
        """Let the count at `index`, if there is one, be greater by so much."""
        count = self._counts[index]
        if count is not None:
            self._counts[index] = count + n_tokens

    def exchange(self, first: int, last: int, counts: list[int | None]) -> None:
        """Let `counts` be those of the items that came in the place of `first` up to, not including, `last`."""
        self.n_unknown += counts.count(None) - self._counts[first:last].count(None)
        self._counts[first:last] = counts
        self._first_unknown = min(self._first_unknown, first)
