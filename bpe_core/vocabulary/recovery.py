"""Merges found again: rank files hold tokens in the order of their making, but not what each was made of."""

from collections.abc import Iterable, Iterator, Mapping

from bpe_core.bpe import Triple, merge_piece
from bpe_core.vocabulary.joined import merge_parts
from bpe_core.vocabulary.symbols import Symbols


def recovered(tokens: Iterable[bytes], id_of: Mapping[bytes, int], symbols: Symbols) -> Iterator[Triple | None]:
    """For each token, in the order of their ranks, the merge that makes it; None for one that no merge makes.

    What a token is made of is what its bytes become under the smaller ranks. If that is two parts, no text will ever
    join it from another two: until it is made, the same merges happen inside of it whatever stands around it. If it is
    more, only a piece equal to the token becomes it, or a merge out of the order that a training would have.
    """
    merges: list[Triple] = []
    rank_of: dict[tuple[int, int], int] = {}
    smaller: dict[bytes, int] = {}
    is_regular = True
    for rank, token in enumerate(tokens):
        if is_regular and len(token) > 1:  # while every token has its merge, pairs do what joined bytes do, and faster
            parts = merge_piece(symbols.ids(token), rank_of, merges, len(merges))
        else:
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
