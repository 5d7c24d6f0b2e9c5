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

**Late merges.** In some published lists a few merges come before those that make their parts. Such a merge is applied
at once when its parts are there: it belongs to the merge that makes the later part, and may bring others along that are
due already. These are the *followers* of that merge. Two merges *touch* if one of them or of its followers overlaps
with one of the other or of its followers, or makes a part of it. The first proof holds as before if "overlap" is
replaced by "touch": the occurrences of a merge, each with its followers, leave those of the other merge as they are.
The followers are the same in all lists on the way, since a merge touches the merges that make its parts.
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

    def late_merges_agree(self) -> bool:
        """Whether all merges that touch because of followers have the same order in A and B."""
        makers_of_late = set()
        for place, parts in enumerate(self.merges):
            for maker in self._makers(parts):
                if self._is_inverted(place, maker):
                    return False
                if maker > place:
                    makers_of_late.add(maker)
        groups = {maker: self._with_followers(maker) for maker in makers_of_late}
        for maker, group in groups.items():
            touched = self._touched_by(group)
            for other, other_group in groups.items():
                if not touched.isdisjoint(other_group):
                    touched.add(other)
            if any(self._is_inverted(maker, place) for place in touched):
                return False
        return True

    def _makers(self, parts: Parts) -> list[int]:
        """Return the merges that make these parts."""
        places = [self._place_of_token.get(part) for part in parts]
        return [place for place in places if place is not None]

    def _with_followers(self, maker: int) -> set[int]:
        """Return a merge and the merges of lower rank that can be applied because of it."""
        group = {maker}
        new = [maker]
        while new:
            token = self.merges[new.pop()].token
            users = self._beginning.get(token, []) + self._ending.get(token, [])
            for place in users:
                if place < maker and place not in group:
                    group.add(place)
                    new.append(place)
        return group

    def _touched_by(self, group: set[int]) -> set[int]:
        """Return all merges that overlap with one of the group or use its token.

        A merge that makes a part of one comes before it, and so before the group's maker, or has it as a follower, too.
        """
        touched: set[int] = set()
        for place in group:
            parts = self.merges[place]
            for token in (parts.token, parts.right):
                touched.update(self._beginning.get(token, ()))
            for token in (parts.token, parts.left):
                touched.update(self._ending.get(token, ()))
        return touched
