"""Merges found again: rank files hold tokens in the order of their making, but not what each was made of."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from time import perf_counter
from typing import Final

from bpe_core.errors import UnknownTokenError
from bpe_core.merging.merge_loop import Triple, merge_piece
from bpe_core.merging.rank_merging import merge_parts
from bpe_core.vocabulary.symbols import Symbols

_SLICE: Final = 500
"""Tokens whose merges are recovered between two looks at the clock."""


class Recovery:
    """For each token, in the order of their ranks, the merge that makes it; None for one that no merge makes.

    What a token is made of is what its bytes become under the smaller ranks. If that is two parts, no text will ever
    join it from another two: until it is made, the same merges happen inside of it whatever stands around it. If it is
    more, only a piece equal to the token becomes it, or a merge out of the order that a training would have.
    """

    def __init__(self, id_of: Mapping[bytes, int], symbols: Symbols) -> None:
        """`id_of` has the tokens that take part, in the order of their ranks."""
        self.merges: list[Triple] = []
        """Those found so far, in order."""
        self.rank_of: dict[tuple[int, int], int] = {}
        """(left, right) -> rank of these."""
        self.n_done = 0
        """Tokens looked at so far."""
        self._found = self._each(id_of, symbols)

    def __iter__(self) -> Iterator[Triple | None]:
        return self._found

    def go_on(self, seconds: float) -> bool:
        """Recover for so long; whether all is done."""
        deadline = perf_counter() + seconds
        while True:
            n_found = len(list(islice(self._found, _SLICE)))
            self.n_done += n_found
            if n_found < _SLICE:
                return True
            if perf_counter() >= deadline:
                return False

    def _each(self, id_of: Mapping[bytes, int], symbols: Symbols) -> Iterator[Triple | None]:
        merges, rank_of = self.merges, self.rank_of
        smaller: dict[bytes, int] = {}
        is_regular = True
        for rank, token in enumerate(id_of):
            parts: Sequence[int] = ()
            if is_regular and len(token) > 1:  # while every token has its merge, pairs do what joined bytes do, faster
                try:
                    parts = merge_piece(symbols.ids(token), rank_of, merges, len(merges))
                except UnknownTokenError:  # a symbol without an id, which may still be joined to another
                    is_regular = False
            if not is_regular or len(token) < 2:
                joined = merge_parts(symbols.parts(token), smaller)
                parts = [id_of[part] for part in joined if part in id_of] if len(joined) > 1 else []
                parts = parts if len(parts) == len(joined) else []
            smaller[token] = rank
            if len(parts) != 2:
                is_regular &= len(parts) < 2
                yield None
                continue
            rank_of[parts[0], parts[1]] = len(merges)
            merges.append((parts[0], parts[1], id_of[token]))
            yield merges[-1]
