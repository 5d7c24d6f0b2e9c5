"""Choose the texts by which a lock tells tokenizers apart: some for every tokenizer, and some for one.

`probes.json` has the texts for every tokenizer, where files and libraries differ in practice. The choice depends on the
tokenizer alone, so that a lock of the same tokenizer is the same file again.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from bpe_core.difference.records import encoded
from bpe_core.difference.surroundings import added_tokens
from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import AddedToken
from bpe_core.utf8 import is_utf8

_TEXTS: Final[dict[str, list[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_CONTEXTS: Final = ("{}", " {} ", "a{}b", "a {} b", "{}\n{}a")
"""Where an added token is put: alone, with spaces around it, inside a word, and at the start of a text."""
_N_ADDED: Final = 10
_N_NEWEST: Final = 4
_N_AT_ENDS: Final = 6
_N_LONG: Final = 8
_N_SPREAD: Final = 24
_N_COMPETING: Final = 40
_DECODED: Final = ("Hello world", " a", "a  b", "caf\u00e9", "\U0001f600", "\ue000")
"""Texts whose ids are decoded, whole and without the last id."""
T = TypeVar("T")


class _Competitors(NamedTuple):
    """A merge of x + y and one of y + z."""

    distance: int
    """The difference of their ranks."""
    xyz: bytes
    xy: int  # the token of x + y
    yz: int


def probe_texts(tokenizer: Tokenizer) -> list[str]:
    """Return the texts, each once."""
    texts = chain(
        chain.from_iterable(_TEXTS.values()),
        _with_added_tokens(tokenizer),
        _of_tokens(tokenizer),
        _of_competing_merges(tokenizer),
    )
    return list(dict.fromkeys(texts))


def probe_ids(tokenizer: Tokenizer) -> list[tuple[int, ...]]:
    """Return lists of ids to decode, each once."""
    ids = tokenizer.vocabulary.ids()
    lists: list[tuple[int, ...]] = []
    for text in _DECODED:
        ids_of_text = encoded(tokenizer, text, False) or ()
        lists += [ids_of_text, ids_of_text[:-1], ids_of_text[1:]]
    specials = sorted(tokenizer.special_tokens.values())
    a = encoded(tokenizer, "a", False) or ()
    for special in _spread(specials, _N_NEWEST):
        lists += [(special,), (*a, special, *a)]
    lists += [(token,) for token in (*ids[:3], *ids[-3:])]
    return [each for each in dict.fromkeys(lists) if each]


def _spread(values: Sequence[T], n_values: int) -> list[T]:
    """Return at most `n_values` of the values, evenly spread, with the first and the last."""
    if len(values) <= n_values:
        return list(values)
    last = len(values) - 1
    return [values[last * n // (n_values - 1)] for n in range(n_values)]


def _with_added_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield added tokens in contexts: some of all, the newest ones, and the first of each combination of flags."""
    added = sorted(added_tokens(tokenizer).values(), key=lambda token: token.token)
    chosen = {token.text for token in _spread(added, _N_ADDED)}
    chosen.update(token.text for token in added[-_N_NEWEST:])
    first_with_flags: dict[AddedToken, str] = {}
    for token in added:
        flags = replace(token, text="", token=0)
        first_with_flags.setdefault(flags, token.text)
    chosen.update(first_with_flags.values())
    for token in added:
        if token.text in chosen:
            for context in _CONTEXTS:
                yield context.replace("{}", token.text)
    if added:
        yield "".join(token.text for token in _spread(added, _N_ADDED))


def _of_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the texts of tokens that merges make: the first, the last, the longest, and some between them."""
    bytes_of = tokenizer.vocabulary.bytes_of
    tokens = [
        data for _, data in sorted(bytes_of.items()) if len(data) > 1 and is_utf8(data)
    ]
    longest = sorted(tokens, key=len, reverse=True)[:_N_LONG]
    for data in (
        *tokens[:_N_AT_ENDS],
        *_spread(tokens, _N_SPREAD),
        *longest,
        *tokens[-_N_AT_ENDS:],
    ):
        yield data.decode()


def _of_competing_merges(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield texts xyz in which a merge of x + y competes with one of y + z, of almost the same rank.

    The merges are divided into `_N_COMPETING` equal parts, and each part gives one text.
    """
    try:
        vocabulary = tokenizer.vocabulary.as_merges()
    except OptionError:  # some tokens have equal ranks
        return
    merges = vocabulary.merges
    ranks_by_left = defaultdict[int, list[int]](list)
    for rank, (left, _, _) in enumerate(merges):
        ranks_by_left[left].append(rank)
    bytes_of = vocabulary.bytes_of
    for part in range(_N_COMPETING):
        start = len(merges) * part // _N_COMPETING
        end = len(merges) * (part + 1) // _N_COMPETING
        candidates: list[_Competitors] = []
        for rank in range(start, end):
            left, middle, token = merges[rank]
            other = _nearest(ranks_by_left[middle], rank)
            if other is not None:
                _, right, other_token = merges[other]
                xyz = bytes_of[left] + bytes_of[middle] + bytes_of[right]
                candidates.append(
                    _Competitors(abs(rank - other), xyz, token, other_token)
                )
        for candidate in sorted(candidates):
            if not is_utf8(candidate.xyz):
                continue
            ids = encoded(tokenizer, candidate.xyz.decode(), False) or ()
            if candidate.xy in ids or candidate.yz in ids:
                yield candidate.xyz.decode()
                break


def _nearest(ranks: Sequence[int], rank: int) -> int | None:
    """Return the one of ascending ranks that is nearest to `rank`, but not `rank` itself."""
    place = bisect_left(ranks, rank)
    around = [other for other in ranks[max(0, place - 1) : place + 2] if other != rank]
    return min(around, key=lambda other: abs(other - rank), default=None)
