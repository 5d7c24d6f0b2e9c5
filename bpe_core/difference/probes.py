"""Choose the texts by which a lock tells tokenizers apart: some for every tokenizer, and some for one.

`probes.json` has the texts for every tokenizer, where files and libraries differ in practice. The choice depends on the
tokenizer alone, so that a lock of the same tokenizer is the same file again.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final

from bpe_core.difference.live_merges import LiveMerges, Parts
from bpe_core.difference.surroundings import added_tokens
from bpe_core.tokenizer import Tokenizer
from bpe_core.utf8 import is_utf8

_TEXTS: Final[dict[str, list[str]]] = json.loads(
    Path(__file__).with_suffix(".json").read_text("utf-8")
)
_CONTEXTS: Final = ("{}", " {} ", "a{}b", "a {} b", "{}\n{}a")
"""Where an added token is put: alone, with spaces around it, inside a word, and at the start of a text."""
_N_COMPETING: Final = 40


def probe_texts(tokenizer: Tokenizer) -> list[str]:
    """Return the texts, each once."""
    texts = chain(
        *_TEXTS.values(),
        _with_added_tokens(tokenizer),
        _of_tokens(tokenizer),
        _of_competing_merges(tokenizer),
    )
    return list(dict.fromkeys(texts))


def _spread(values: Sequence[str], n_values: int) -> Sequence[str]:
    """Return at most `n_values` of the values, evenly spread, with the first and the last."""
    if len(values) <= n_values:
        return values
    last = len(values) - 1
    return [values[last * n // (n_values - 1)] for n in range(n_values)]


def _with_added_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield added tokens in contexts, and some of them side by side."""
    added = sorted(added_tokens(tokenizer).values(), key=attrgetter("token"))
    texts = [token.text for token in added]
    for text in _spread(texts, 12):
        for context in _CONTEXTS:
            yield context.replace("{}", text)
    yield "".join(texts[-10:])


def _of_tokens(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield the texts of tokens of several bytes: the longest, and some of all."""
    bytes_of = tokenizer.vocabulary.bytes_of
    texts = [
        data.decode()
        for _, data in sorted(bytes_of.items())
        if len(data) > 1 and is_utf8(data)
    ]
    yield from _spread(texts, 36)
    yield from sorted(texts, key=len)[-8:]


def _of_competing_merges(tokenizer: Tokenizer) -> Sequence[str]:
    """Return texts xyz in which a merge of x + y competes with one of y + z, of almost the same rank."""
    last_ending: dict[bytes, tuple[int, Parts]] = {}
    candidates = []
    for place, parts in enumerate(LiveMerges(tokenizer.vocabulary).rank_of):
        if parts.left in last_ending:
            other_place, other = last_ending[parts.left]
            candidates.append((place - other_place, other.left + parts.token))
        last_ending[parts.right] = (place, parts)
    texts = [data.decode() for _, data in sorted(candidates) if is_utf8(data)]
    return _spread(texts[: 10 * _N_COMPETING], _N_COMPETING)
