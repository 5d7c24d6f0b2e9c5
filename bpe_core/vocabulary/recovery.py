"""Recovering merges from ranks: rank files have the tokens in the order of training, but not what each is made of."""

from collections.abc import Iterator, Mapping, Sequence

from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.compiled import compiled_ranks
from bpe_core.vocabulary.encoder import merge_parts
from bpe_core.vocabulary.symbols import Symbols


def recovered(id_of: Mapping[bytes, int], symbols: Symbols) -> Iterator[Triple | None]:
    """For each token of `id_of`, in the order of their ranks, the merge that makes it; None if no merge does.

    A token is made of what its bytes become by the tokens of smaller rank, if that is two tokens. These are compatible
    then (see `bpe_core.merging.windows`), so no text ever joins the token from another two. If its bytes become more
    than two parts, no merge makes it in the order of a training; a piece equal to it may still be looked up whole.
    """
    compiled = compiled_ranks(symbols, id_of, dict(zip(id_of, range(len(id_of)), strict=True)), whole_pieces=False)
    smaller: dict[bytes, int] = {}
    for rank, (token, made) in enumerate(id_of.items()):
        parts: Sequence[int | None] = ()
        if len(token) > 1 and compiled:
            parts = compiled.encoder.part(token, rank)
        elif len(token) > 1:
            parts = list(map(id_of.get, merge_parts(symbols.parts(token), smaller)))
        smaller[token] = rank
        match parts:
            case int() as left, int() as right:
                yield left, right, made
            case _:
                yield None
