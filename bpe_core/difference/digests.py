"""Describe each part of a tokenizer by a digest that does not depend on the format of its file.

Two tokenizers with equal digests give the same ids and texts. Different digests prove only that the data are different:
another order of two merges may make no difference for any text.
"""

import json
from array import array
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from itertools import compress
from operator import attrgetter
from typing import Any

from bpe_core.difference.live_merges import LiveMerges
from bpe_core.difference.records import PARTS
from bpe_core.difference.split_pattern import splits_of
from bpe_core.difference.surroundings import (
    added_tokens,
    bytes_of_ids,
    changes,
    decoder,
    fallback,
    texts_found_first,
)
from bpe_core.patterns.splitting import Splitter
from bpe_core.tokenizer import Tokenizer
from bpe_core.tokenizer.preparation import AddedToken, found_at_once
from bpe_core.vocabulary import Vocabulary


def digests(tokenizer: Tokenizer) -> dict[str, str]:
    """Return the SHA-256 of each part, in the order of `PARTS`. Takes seconds for 200,000 tokens."""
    added = _added(tokenizer)
    # If added tokens overlap, their order matters.
    finds_specials_first = tokenizer.preparation is None and not found_at_once(added)
    rules, steps, has_metaspace = changes(tokenizer)
    splits = splits_of(tokenizer)
    # One for each place before, between and after other steps.
    splits_there = [each.pattern not in ("", "none") for each in splits.splitters]
    found_first = frozenset(texts_found_first(tokenizer))
    drops_space, byte_ids = decoder(tokenizer)
    ids = bytes_of_ids(tokenizer)
    data: dict[str, Any] = {
        "normalizer": [
            rules,
            steps,
            splits_there,
            has_metaspace,
            _normalized_texts(tokenizer),
        ],
        "special tokens": [token for token in added if token.special],
        "added tokens": [
            finds_specials_first,
            [token for token in added if not token.special],
        ],
        "split pattern": [
            list(compress(splits.splitters, splits_there)),
            splits.within,
            sorted(found_first.difference(token.text for token in added)),
        ],
        "vocabulary": sorted(tokenizer.vocabulary.bytes_of.values()),
        "merges": _merges(tokenizer.vocabulary, found_first),
        "ids": sorted(ids.items()),
        "byte fallback": fallback(tokenizer),
        "decoding": [drops_space, sorted(ids[token] for token in byte_ids)],
    }
    found = {}
    for part in PARTS:
        written = json.dumps(data[part], default=_described)
        found[part] = sha256(written.encode()).hexdigest()
    return found


def _described(value: Any) -> Any:
    """Return a value that JSON does not know: a record as a list that begins with its name, without names of patterns."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Splitter):
        return value.tree
    if isinstance(value, array):
        return value.tolist()
    if is_dataclass(value):
        compared = [getattr(value, each.name) for each in fields(value) if each.compare]
        return [type(value).__name__, *map(_sorted, compared)]
    return value.__name__


def _sorted(value: Any) -> Any:
    return sorted(value.items()) if isinstance(value, Mapping) else value


def _added(tokenizer: Tokenizer) -> list[AddedToken]:
    """Return the added tokens. A flag that makes no difference gets its usual value."""
    added = sorted(added_tokens(tokenizer).values(), key=attrgetter("token", "text"))
    preparation = tokenizer.preparation
    if found_at_once(added) and not (preparation and preparation.normalize):
        return [replace(token, normalized=not token.special) for token in added]
    return added


def _normalized_texts(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return what is searched for, and the added token that is found, if normalizing has changed its text.

    If two tokens become one text, the first one is found.
    """
    if tokenizer.preparation is None:
        return []
    found = tokenizer.preparation.normalized.tokens.items()
    return sorted((text, token.text) for text, token in found if text != token.text)


def _merges(vocabulary: Vocabulary, found_first: frozenset[str]) -> list[Any]:
    """Describe how pieces become tokens, by their bytes; by all data of the vocabulary if bytes don't identify tokens."""
    live = LiveMerges(vocabulary)
    if not live.is_exact:
        return list(map(_sorted, vocabulary.__reduce__()[1]))
    first_ids = vocabulary.id_by_bytes
    odd_ids = sorted(item for item in live.ids.items() if item not in first_ids.items())
    symbols = sorted(live.ids.keys() - live.parts_of.keys())
    # A text that is found first is always the same token.
    texts = {text.encode() for text in found_first}
    whole = sorted(item for item in live.whole.items() if item[0] not in texts)
    return [live.has_marker, symbols, odd_ids, whole, *live.rank_of]
