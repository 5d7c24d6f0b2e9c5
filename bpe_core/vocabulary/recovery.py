"""Recovering merges from ranks: rank files have the tokens in the order of training, but not what each is made of."""

from collections.abc import Iterator
from itertools import chain
from operator import sub
from typing import Final

from bpe_core.merging.merge_loop import Triple
from bpe_core.vocabulary.compiled import Compiled
from bpe_core.vocabulary.encoder import RankEncoder, merge_parts

_BATCH: Final = 500
"""Tokens that the kernel is asked for at a time, which takes it less than a millisecond."""


def recovered(encoder: RankEncoder) -> Iterator[Triple | None]:
    """For each token, in the order of the ranks, the merge that makes it; None if no merge does.

    A token is made of what its bytes become by the tokens of smaller rank, if that is two tokens. These are compatible
    then (see `bpe_core.merging.windows`), so no text ever joins the token from another two. If its bytes become more
    than two parts, no merge makes it in the order of a training; a piece equal to it may still be looked up whole.

    `encoder.id_of` must have the order of the ranks, and no two tokens the same rank.
    """
    yield from _by_kernel(encoder, encoder.compiled) if encoder.compiled else _by_python(encoder)


def _by_kernel(encoder: RankEncoder, compiled: Compiled) -> Iterator[Triple | None]:
    tokens, made = list(encoder.id_of), list(encoder.id_of.values())
    for first in range(0, len(tokens), _BATCH):
        ids, ends = compiled.parents(tokens[first : first + _BATCH])
        n_parts = map(sub, ends, chain((0,), ends))
        for token, end, n in zip(made[first : first + _BATCH], ends, n_parts, strict=True):
            yield (ids[end - 2], ids[end - 1], token) if n == 2 else None


def _by_python(encoder: RankEncoder) -> Iterator[Triple | None]:
    smaller: dict[bytes, int] = {}
    for rank, (token, made) in enumerate(encoder.id_of.items()):
        match [encoder.id_of.get(part) for part in merge_parts(encoder.symbols.parts(token), smaller)]:
            case [int() as left, int() as right]:
                yield left, right, made
            case _:
                yield None
        smaller[token] = rank
