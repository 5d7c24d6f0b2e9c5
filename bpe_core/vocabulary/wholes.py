"""Tokens that merging their own bytes surely leaves: a piece that is equal to one need not be merged.

That is so for a *regular* token: a byte, or what a merge makes of two regular ones, if no merge of a lower rank goes
across the border of the two. While their bytes are merged, only the last symbol of the left one and the first of the
right one can meet there. Going back in time, of these the one of the higher rank was made last, and before that its
part stood there. So one walks down both along the border, and sees whether the pair there would have been merged while
it was there. (So the Rust crate `bpe` by H. van Antwerpen and A. Neubeck, 2024, looks at two neighboring tokens.)
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from bpe_core.merging.merge_loop import Triple

LONGEST: Final = 64
"""Bytes of a piece that is looked up; its token may have been made in as many steps."""

_NEVER: Final = 1 << 62

_Making = tuple[int, int, int]
"""The rank of the merge that makes a token, and its two parts; -1 three times for a byte."""


class Wholes:
    """Regular tokens by their bytes, under merges of which there may come more."""

    __slots__ = ("_bytes_of", "_id_of", "_makings", "_merges", "_n_met", "_rank_of", "_step_of")

    def __init__(
        self,
        byte_tokens: Iterable[int],
        bytes_of: Mapping[int, bytes],
        merges: Sequence[Triple],
        rank_of: Mapping[tuple[int, int], int],
        step_of: Mapping[int, int],
    ) -> None:
        """`byte_tokens` are what pieces begin as."""
        self._bytes_of, self._merges, self._rank_of, self._step_of = bytes_of, merges, rank_of, step_of
        self._id_of: dict[bytes, int] = {}
        self._makings: dict[int, _Making | None] = dict.fromkeys(byte_tokens, (-1, -1, -1))
        self._n_met = 0

    def find(self, piece: bytes, n_merges: int) -> int | None:
        """The token that `n_merges` leave of a piece; None if that is more than one, or not known without merging."""
        if self._n_met < len(self._merges):
            self._meet()
        token = self._id_of.get(piece)
        if token is None:
            return None
        making = self._makings[token] if token in self._makings else self._look(token)
        return token if making and making[0] < n_merges else None

    def _meet(self) -> None:
        """Look at the merges that are new."""
        bytes_of, known = self._bytes_of, self._id_of.setdefault
        for _, _, token in islice(self._merges, self._n_met, None):
            known(bytes_of[token], token)
        self._n_met = len(self._merges)

    def _look(self, token: int) -> _Making | None:
        """How a token is made; None if it is not regular. Remembered."""
        makings = self._makings
        making = None
        rank = self._step_of.get(token, 0) - 1
        if rank >= 0 and len(self._bytes_of[token]) <= LONGEST:
            left, right, _ = self._merges[rank]
            one = makings[left] if left in makings else self._look(left)
            other = makings[right] if right in makings else self._look(right)
            if one and other and self._apart(left, one, right, other, rank):
                making = rank, left, right
        makings[token] = making
        return making

    def _apart(self, left: int, one: _Making, right: int, other: _Making, limit: int) -> bool:
        """Whether no merge of a rank below `limit` goes across the border of two regular tokens.

        Of equal ranks the leftmost goes first: the left token's own before the one at the border, and that before the
        right token's.
        """
        rank_of, makings = self._rank_of.get, self._makings
        while rank_of((left, right), _NEVER) >= limit:
            if one[0] > other[0]:
                limit, _, left = one
                one = makings[left]  # type: ignore[assignment]  # the parts of a regular token are regular
            elif other[0] >= 0:
                limit, right, _ = other
                limit += 1
                other = makings[right]  # type: ignore[assignment]
            else:
                return True
        return False
