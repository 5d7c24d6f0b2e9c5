"""Choose the texts by which a lock tells tokenizers apart: some for every tokenizer, and some for one.

`probes.json` has the texts for every tokenizer, where files and libraries differ in practice. The choice depends on the
tokenizer alone, so that a lock of the same tokenizer is the same file again.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, TypeVar

from bpe_core.difference.live_merges import LiveMerges, Parts
from bpe_core.difference.records import encoded
from bpe_core.difference.surroundings import added_tokens
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8

_TEXTS: Final[dict[str, list[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_CONTEXTS: Final = ("{}", " {} ", "a{}b", "a {} b", "{}\n{}a")
"""Where an added token is put: alone, with spaces around it, inside a word, and at the start of a text."""
_DECODED: Final = ("Hello world", " a", "a  b", "caf\u00e9", "\U0001f600", "\ue000")
"""Texts whose ids are decoded, whole and without the first or the last id."""
_N_COMPETING: Final = 40
T = TypeVar("T")


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
    lists: list[tuple[int, ...]] = []
    for text in _DECODED:
        ids = encoded(tokenizer, text, False) or ()
        lists += [ids, ids[:-1], ids[1:]]
    a = encoded(tokenizer, "a", False) or ()
    for special in _spread(sorted(tokenizer.special_tokens.values()), 4):
        lists += [(special,), (*a, special, *a)]
    lists += [(token,) for token in _spread(tokenizer.vocabulary.ids(), 6)]
    return [ids for ids in dict.fromkeys(lists) if ids]


def _spread(values: Sequence[T], n_values: int) -> list[T]:
    """Return at most `n_values` of the values, evenly spread, with the first and the last."""
    if len(values) <= n_values:
        return list(values)
    last = len(values) - 1
    return [values[last * n // (n_values - 1)] for n in range(n_values)]


def _with_added_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield added tokens in contexts: some of all, and the newest ones."""
    added = sorted(added_tokens(tokenizer).values(), key=lambda each: each.token)
    texts = [token.text for token in added]
    for text in dict.fromkeys(_spread(texts, 10) + texts[-4:]):
        for context in _CONTEXTS:
            yield context.replace("{}", text)
    yield "".join(texts[-10:])


def _of_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the texts of tokens of several bytes: the first, the last, the longest, and some between them."""
    bytes_of = tokenizer.vocabulary.bytes_of
    tokens = [
        data.decode()
        for _, data in sorted(bytes_of.items())
        if len(data) > 1 and is_utf8(data)
    ]
    yield from tokens[:6]
    yield from _spread(tokens, 24)
    yield from sorted(tokens, key=len)[-8:]
    yield from tokens[-6:]


def _of_competing_merges(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield texts xyz in which a merge of x + y competes with one of y + z, of almost the same rank.

    The merges are divided into `_N_COMPETING` equal parts, and each part gives at most one text.
    """
    live = LiveMerges(tokenizer.vocabulary)
    last_place: dict[bytes, int] = {}
    last_ending: dict[bytes, Parts] = {}
    size = len(live.rank_of) // _N_COMPETING + 1
    candidates: list[tuple[int, bytes, set[int]]] = []
    for place, parts in enumerate(live.rank_of):
        other = last_ending.get(parts.left)
        if other:
            distance = place - last_place[parts.left]
            winners = {live.ids[other.token], live.ids[parts.token]}
            candidates.append((distance, other.left + parts.token, winners))
        last_ending[parts.right] = parts
        last_place[parts.right] = place
        if (place + 1) % size == 0:
            yield from _first_with_winner(tokenizer, candidates)
            candidates = []


def _first_with_winner(
    tokenizer: Tokenizer, candidates: list[tuple[int, bytes, set[int]]]
) -> Iterator[str]:
    """Yield the first text, by distance, whose ids contain a token that one of its two merges makes."""
    for _, data, winners in sorted(candidates, key=lambda candidate: candidate[:2]):
        if is_utf8(data):
            ids = encoded(tokenizer, data.decode(), False) or ()
            if not winners.isdisjoint(ids):
                yield data.decode()
                return
