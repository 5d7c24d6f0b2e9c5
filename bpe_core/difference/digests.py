"""Describe each part of a tokenizer by a digest that does not depend on the format of its file.

Two tokenizers with equal digests give the same ids and texts. Different digests prove only that the data are different:
another order of two merges may make no difference for any text.
"""

import json
from array import array
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from itertools import compress
from typing import Any, Final, NamedTuple

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
from bpe_core.visible import counted, shortened
from bpe_core.vocabulary import Vocabulary

_LONGEST_SUMMARY: Final = 160


class PartDigest(NamedTuple):
    """A short description of one part of a tokenizer, and the digest of its data."""

    summary: str
    sha256: str


def digests(tokenizer: Tokenizer) -> dict[str, PartDigest]:
    """Return the digest of each part, in the order of `PARTS`. Takes seconds for 200,000 tokens."""
    vocabulary = tokenizer.vocabulary
    added = _added(tokenizer)
    specials = [token for token in added if token.special]
    others = [token for token in added if not token.special]
    rules, steps, has_metaspace = changes(tokenizer)
    splits = splits_of(tokenizer)
    # One for each place before, between and after other steps.
    splits_there = [each.pattern not in ("", "none") for each in splits.splitters]
    splitters = list(compress(splits.splitters, splits_there))
    found_first = frozenset(texts_found_first(tokenizer))
    live = LiveMerges(vocabulary)
    drops_space, byte_ids = decoder(tokenizer)
    tokens = sorted(vocabulary.bytes_of.values())
    ids = bytes_of_ids(tokenizer)
    data: dict[str, Any] = {
        "normalizer": [
            rules,
            steps,
            splits_there,
            has_metaspace,
            _normalized_texts(tokenizer),
        ],
        "special tokens": specials,
        "added tokens": [_finds_specials_first(tokenizer, added), others],
        "split pattern": [
            splitters,
            splits.within,
            sorted(found_first.difference(token.text for token in added)),
        ],
        "vocabulary": tokens,
        "merges": _merges(live, vocabulary, found_first),
        "ids": sorted(ids.items()),
        "byte fallback": fallback(tokenizer),
        "decoding": [drops_space, sorted(ids[token] for token in byte_ids)],
    }
    summaries = {
        "normalizer": ", ".join(type(rule).__name__ for rule in rules),
        "special tokens": _listed(specials),
        "added tokens": _listed(others),
        "split pattern": " then ".join(each.pattern for each in splitters),
        "vocabulary": counted(len(tokens), "token"),
        "merges": counted(len(live.rank_of), "merge"),
        "ids": f"{counted(len(ids), 'id')} up to {vocabulary.highest_id}",
    }
    found = {}
    for part in PARTS:
        written = json.dumps(data[part], default=_described)
        summary = shortened(summaries.get(part, ""), _LONGEST_SUMMARY)
        found[part] = PartDigest(summary, sha256(written.encode()).hexdigest())
    return found


def _described(value: Any) -> Any:
    """Return a value that JSON does not know: a record as a list that begins with its name, without names of patterns."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Splitter):
        return value.tree
    if isinstance(value, Set):
        return sorted(value)
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
    added = sorted(
        added_tokens(tokenizer).values(), key=lambda each: (each.token, each.text)
    )
    preparation = tokenizer.preparation
    if found_at_once(added) and not (preparation and preparation.normalize):
        return [replace(token, normalized=not token.special) for token in added]
    return added


def _finds_specials_first(tokenizer: Tokenizer, added: list[AddedToken]) -> bool:
    """Whether added tokens overlap, so that their order matters, and the special ones come first."""
    return tokenizer.preparation is None and not found_at_once(added)


def _normalized_texts(tokenizer: Tokenizer) -> list[tuple[str, str]]:
    """Return what is searched for, and the added token that is found, if normalizing has changed its text.

    If two tokens become one text, the first one is found.
    """
    if tokenizer.preparation is None:
        return []
    found = tokenizer.preparation.normalized.tokens.items()
    return sorted((text, token.text) for text, token in found if text != token.text)


def _listed(tokens: list[AddedToken]) -> str:
    shown = ", ".join(f"{token.text} {token.token}" for token in tokens)
    return f"{len(tokens)}: {shown}".removesuffix(": ")


def _merges(
    live: LiveMerges, vocabulary: Vocabulary, found_first: frozenset[str]
) -> list[Any]:
    """Describe how pieces become tokens, by their bytes; by all data of the vocabulary if bytes don't identify tokens."""
    if not live.is_exact:
        return list(map(_sorted, vocabulary.__reduce__()[1]))
    first_ids = vocabulary.id_by_bytes
    odd_ids = sorted(item for item in live.ids.items() if item not in first_ids.items())
    symbols = sorted(live.ids.keys() - live.parts_of.keys())
    # A text that is found first is always the same token.
    texts = {text.encode() for text in found_first}
    whole = sorted(item for item in live.whole.items() if item[0] not in texts)
    return [live.has_marker, symbols, odd_ids, whole, *live.rank_of]
