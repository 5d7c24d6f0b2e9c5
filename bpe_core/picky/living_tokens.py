"""The tokens that live at a step of Picky BPE: their ids, and what a removed one falls into."""

from collections.abc import Sequence
from heapq import heappop, heappush


class LivingTokens:
    """Tokens by id. Those of `base` are never removed; each other one gets the lowest id that is free, from `first` on.

    A token is told by its *spelling*: a text with one character for each token of the base in it, the one whose code is
    the place of that token in `base`.
    """

    def __init__(self, base: Sequence[int], first: int) -> None:
        self.spelling_of = {token: chr(place) for place, token in enumerate(base)}
        """Id -> spelling, of the tokens that live."""
        self.id_of = {spelling: token for token, spelling in self.spelling_of.items()}
        """Spelling -> id, of the tokens that live."""
        self._base = frozenset(base)
        self._made_of: dict[str, tuple[str, str]] = {}  # spelling -> those of the two it was first made of
        self._free: list[int] = []
        self._next = first

    def make(self, left: int, right: int, token: int | None = None) -> int:
        """The id of the token that two living ones make, which lives from now on; perhaps it does already.

        A new one gets the id `token`, which must be free, or if that is None the lowest free one.
        """
        parts = self.spelling_of[left], self.spelling_of[right]
        spelling = "".join(parts)
        if (known := self.id_of.get(spelling)) is not None:
            return known
        if token is None:
            token = heappop(self._free) if self._free else self._next
            self._next = max(self._next, token + 1)
        self.id_of[spelling], self.spelling_of[token] = token, spelling
        self._made_of.setdefault(spelling, parts)
        return token

    def is_removable(self, token: int) -> bool:
        """Whether it lives, and was made by a merge."""
        return token in self.spelling_of and token not in self._base

    def remove(self, token: int) -> tuple[int, ...]:
        """Remove a token that is removable, which frees its id; returns the living ones that it falls into."""
        spelling = self.spelling_of.pop(token)
        del self.id_of[spelling]
        heappush(self._free, token)
        return tuple(self._parts(spelling))

    def _parts(self, spelling: str) -> list[int]:
        parts: list[int] = []
        waiting = [spelling]
        while waiting:
            one = waiting.pop()
            token = self.id_of.get(one)
            if token is None:
                waiting += reversed(self._made_of[one])
            else:
                parts.append(token)
        return parts
