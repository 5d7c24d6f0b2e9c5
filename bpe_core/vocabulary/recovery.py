"""Merges found again: rank files hold tokens in the order of their making, but not what each was made of."""

from collections.abc import Iterator, Mapping

from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.encoder import merge_parts
from bpe_core.vocabulary.symbols import Symbols


def recovered(id_of: Mapping[bytes, int], symbols: Symbols) -> Iterator[Triple | None]:
    """For each token of `id_of`, in the order of their ranks, the merge that makes it; None if no merge does.

    What a token is made of is what its bytes become under the smaller ranks: two parts, if they are compatible there
    (see `bpe_core.merging.windows`). Then no text will ever join it from another two: until it is made, the same merges
    happen inside of it whatever stands around it. If its bytes become more parts, only a piece equal to the token
    becomes it, or a merge out of the order that a training would have.
    """
    smaller: dict[bytes, int] = {}
    for rank, token in enumerate(id_of):
        parts = merge_parts(symbols.parts(token), smaller) if len(token) > 1 else []
        smaller[token] = rank
        is_made = len(parts) == 2 and parts[0] in id_of and parts[1] in id_of
        yield (id_of[parts[0]], id_of[parts[1]], id_of[token]) if is_made else None
