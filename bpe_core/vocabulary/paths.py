"""Vocabularies of files that list several merges for one token.

Llama 3's tokenizer.json, for example, lists each way to split a token into two. Only one of them is ever applied, so a
`Vocabulary` has only that one among its merges, and all of them in `listed_merges`. They matter if a token is removed: then
another merge in the list may be the first that is possible.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from bpe_core.vocabulary import Vocabulary
from bpe_core.vocabulary.merge_loop import NO_RANK, Triple, merge
from bpe_core.vocabulary.symbols import Symbols


def vocabulary_of(
    tokens: Mapping[int, bytes],
    merges: Sequence[Triple],
    special_tokens: Mapping[str, int],
    *,
    symbols: Symbols,
    whole_pieces: Mapping[bytes, int],
) -> Vocabulary:
    """Return the vocabulary of some tokens, and of merges as a file lists them.

    Args:
        tokens: Id -> bytes of all tokens, except those that are only special.
        merges: In the order of their ranks, perhaps with several for one token.
        special_tokens: Text -> id.
        symbols: How a piece becomes symbols.
        whole_pieces: Bytes -> the token that a piece equal to them becomes without merging.

    Raises:
        OptionError: The merges or special tokens are invalid.
    """

    def with_merges(merges: Sequence[Triple], listed: Sequence[Triple]) -> Vocabulary:
        return Vocabulary(
            _base(tokens, merges, symbols.token_ids),
            merges,
            special_tokens,
            symbols=symbols,
            whole_pieces=whole_pieces,
            listed=listed,
        )

    vocabulary = with_merges(merges, ())
    if not vocabulary.has_repeats:
        return vocabulary
    groups = [list(group) for _, group in groupby(merges, itemgetter(2))]
    made = {group[0][2] for group in groups}
    if len(groups) > len(made):  # the merges of some token do not follow each other
        return vocabulary
    return with_merges(_ever_applied(vocabulary, groups), merges)


def _base(
    tokens: Mapping[int, bytes], merges: Iterable[Triple], symbol_ids: set[int]
) -> dict[int, bytes]:
    """Return the tokens that must exist before the first merge.

    Symbols are always among them. Some published files have merges before those that make their parts; such parts are
    among them too.
    """
    made: set[int] = set()
    used_before_made: set[int] = set()
    for left, right, token in merges:
        used_before_made |= {left, right} - made
        made.add(token)
    base = (tokens.keys() - made) | symbol_ids | used_before_made
    return {token: data for token, data in tokens.items() if token in base}


def _ever_applied(vocabulary: Vocabulary, groups: list[list[Triple]]) -> list[Triple]:
    """Return the merges without those that are never applied.

    The merges of one token follow each other. Mostly, all merges before them turn its bytes into two tokens. Any text has
    these two when they join (see `bpe_core.vocabulary.merge_loop`), so no other merge of the token is applied. Otherwise
    its bytes, merged by all merges, show which one is applied, if any.
    """
    encoder = vocabulary.encoding.compiled
    bytes_of = vocabulary.bytes_of
    ranks = vocabulary.ranks

    def parts_at(step: int, data: bytes) -> tuple[int, ...]:
        if encoder:
            return encoder.part(data, step)
        return vocabulary.at(step).join(data)

    applied: list[Triple] = []
    step = 0
    for group in groups:
        data = bytes_of[group[0][2]]
        parts: tuple[int, ...] = ()
        with suppress(LookupError):  # a character has no token
            parts = parts_at(step, data)
        first = [triple for triple in group if triple[:2] == parts]
        if not first:
            with suppress(LookupError):
                rank = last_rank(vocabulary, data)
                first = [triple for triple in group if rank == ranks.get(triple[:2])]
        applied += first
        step += len(group)
    return applied


def last_rank(vocabulary: Vocabulary, data: bytes) -> int | None:
    """Return the rank of the last merge that is applied to `data`; None without one. Raises `UnknownTokenError`."""
    merges = vocabulary.merges
    ranks = vocabulary.ranks
    last = None

    def rank_of(left: int, right: int) -> int:
        return ranks.get((left, right), NO_RANK)

    def join(left: int, right: int, rank: int) -> int:
        nonlocal last
        last = rank
        return merges[rank][2]

    merge(vocabulary.symbols(data), rank_of, join)
    return last
