"""Compare the orders of the merges that two vocabularies have in common.

**Lists in order.** Let A and B have the same symbols and the same live merges (see `live_merges`), and let each merge
come after those that make its parts. Then encoding is the same as applying each merge everywhere before the next, as
`bpe_core.reference` does. Two merges *overlap* if one joins x and y, and the other y and z: where x, y and z are side
by side, one of them takes y away from the other.

- If no two overlapping merges have different orders in A and B, all pieces become the same tokens. Proof: both lists
  respect the same order of overlapping merges, and of each merge and those that make its parts. So one list can be
  turned into the other by exchanging two adjacent merges at a time, and each list on the way respects these orders,
  too. The two merges exchanged have no token in common, and neither makes a part of the other. So applying one leaves
  the occurrences of the other as they are, and either order gives the same.
- If A joins (x, y) first and B joins (y, z) first, the bytes of x + y + z become different tokens. Proof: in A, when
  the turn of (x, y) comes, x and y are there, since (x, y) is live; z may still be in parts, but nothing has joined y
  to it, since (y, z) is live and its turn comes later. So A joins x and y, and in the same way B joins y and z. The
  results could only be equal if all three became one token. But a token is built in the same way in A and B, and not
  both from x + y and from y + z.

In some published lists a few merges come before those that make their parts. Then the first proof does not hold, so two
such lists are only known to be the same if their orders are equal.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from bpe_core.difference.live_merges import LiveMerges, Parts, occurs_in_utf8


class Overlap(NamedTuple):
    """Three tokens side by side. A and B both join the first two and the last two, but not in the same order."""

    first: bytes
    middle: bytes
    last: bytes

    @property
    def merges(self) -> tuple[Parts, Parts]:
        return Parts(self.first, self.middle), Parts(self.middle, self.last)


class MergeOrders:
    """The merges that A and B have in common, in both orders."""

    def __init__(self, a: LiveMerges, b: LiveMerges) -> None:
        self.merges = [parts for parts in a.rank_of if parts in b.rank_of]
        """In the order of A. A merge is known by its place in this list."""
        self._ranks_in_b = [b.rank_of[parts] for parts in self.merges]
        self._place_of_token = {
            parts.token: place for place, parts in enumerate(self.merges)
        }
        self._ending: defaultdict[bytes, list[int]] = defaultdict(list)
        self._beginning: defaultdict[bytes, list[int]] = defaultdict(list)
        for place, parts in enumerate(self.merges):
            self._ending[parts.right].append(place)
            self._beginning[parts.left].append(place)

    @property
    def are_equal(self) -> bool:
        return self._ranks_in_b == sorted(self._ranks_in_b)

    def overlaps(self) -> Iterator[Overlap]:
        """Yield each overlap of two merges that have different orders in A and B, if a text can contain it.

        Takes O(n log n) time for n merges, and more if there are many overlaps.
        """
        for middle, lefts in self._ending.items():
            rights = self._beginning.get(middle, [])
            if not self._has_inversion(lefts, rights):
                continue
            for left, right in product(lefts, rights):
                overlap = Overlap(
                    self.merges[left].left, middle, self.merges[right].right
                )
                if self._is_inverted(left, right) and occurs_in_utf8(b"".join(overlap)):
                    yield overlap

    def _is_inverted(self, place: int, other: int) -> bool:
        """Whether two merges have different orders in A and B."""
        is_first_in_b = self._ranks_in_b[place] < self._ranks_in_b[other]
        return place != other and (place < other) != is_first_in_b

    def _has_inversion(self, lefts: list[int], rights: list[int]) -> bool:
        """Whether one of `lefts` and one of `rights` have different orders, in O(n log n) time."""
        highest_left = -1
        highest_right = -1
        merges = [(place, True) for place in lefts]
        merges += [(place, False) for place in rights]
        for place, is_left in sorted(merges):
            rank = self._ranks_in_b[place]
            if rank < (highest_right if is_left else highest_left):
                return True
            if is_left:
                highest_left = max(highest_left, rank)
            else:
                highest_right = max(highest_right, rank)
        return False

    def has_late_merges(self) -> bool:
        """Whether a merge comes before one that makes a part of it, in A or B."""
        for place, parts in enumerate(self.merges):
            for part in parts:
                maker = self._place_of_token.get(part)
                if maker is None:
                    continue
                is_late_in_a = maker > place
                is_late_in_b = self._ranks_in_b[maker] > self._ranks_in_b[place]
                if is_late_in_a or is_late_in_b:
                    return True
        return False
