"""Recovering merges from ranks: rank files have the tokens in the order of training, but not what each is made of."""

from collections.abc import Iterator, Mapping

from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.encoder import merge_parts
from bpe_core.vocabulary.symbols import Symbols


def recovered(id_of: Mapping[bytes, int], symbols: Symbols) -> Iterator[Triple | None]:
    """For each token of `id_of`, in the order of their ranks, the merge that makes it; None if no merge does.

    A token is made of what its bytes become by the tokens of smaller rank, if that is two tokens. These are compatible
    then (see `bpe_core.merging.windows`), so no text ever joins the token from another two. If its bytes become more
    than two parts, no merge makes it in the order of a training; a piece equal to it may still be looked up whole.
    """
    smaller: dict[bytes, int] = {}
    for rank, token in enumerate(id_of):
        parts = merge_parts(symbols.parts(token), smaller) if len(token) > 1 else []
        smaller[token] = rank
        is_made = len(parts) == 2 and parts[0] in id_of and parts[1] in id_of
        yield (id_of[parts[0]], id_of[parts[1]], id_of[token]) if is_made else None
