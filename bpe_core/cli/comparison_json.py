"""A comparison of tokenizers as one JSON object."""

from argparse import Namespace
from collections.abc import Iterable
from typing import Any, Final

from bpe_core.metrics import Amounts, Comparison, Overlap, merges_in_common, overlap
from bpe_core.metrics.catalog import OF_PARTS, called, of_all_texts, of_amounts
from bpe_core.metrics.comparison import TextPlace
from bpe_core.tokenizer import Tokenizer

_SPLITS: Final = 10
"""Ways to cut numbers that are told of each tokenizer."""
_LISTED: Final = 100
"""Tokens of only one vocabulary that are listed, by rank."""


def as_json(comparison: Comparison, options: Namespace) -> dict[str, Any]:
    """The comparison without its texts; a list of numbers has one for each tokenizer, in the order of their names.

    `options` are those of the command.
    """
    tokenizers, total = comparison.tokenizers, comparison.total
    folders = comparison.folders()
    reference = called(folders, options.reference)
    return {
        "tokenizers": list(options.tokenizer),
        "vocabularies": [{"name": one.name, "tokens": one.n_vocab, "pattern": one.pattern} for one in tokenizers],
        "total": {
            "texts": len(comparison.texts),
            "bytes": total.n_bytes,
            "characters": total.n_characters,
            "words": total.n_words,
            **of_all_texts(comparison),
        },
        "folders": [_named("folder", one, reference) for one in folders],
        "scripts": [_named("script", one, None) for one in comparison.scripts()],
        "token_lengths": [dict(sorted(comparison.token_lengths(i).items())) for i in range(len(tokenizers))],
        "number_splits": [
            [{"digits": list(way), "count": n} for way, n in splits.most_common(_SPLITS)]
            for splits in comparison.number_splits
        ],
        "pairs": [_pair(comparison, index, options.examples) for index in range(len(comparison.pairs))],
        "worst_lines": [_worst_lines(comparison, index, options.lines) for index in range(len(tokenizers))],
    }


def texts_as_json(comparison: Comparison, options: Namespace) -> list[dict[str, Any]]:
    """Each text with its metrics, and where it comes from."""
    reference = called([text.amounts for text in comparison.texts], options.reference)
    return [
        _named("name", text.amounts, reference) | {"path": text.path, "folder": text.folder, "line": text.line}
        for text in comparison.texts
    ]


def _named(what: str, amounts: Amounts, reference: Amounts | None) -> dict[str, Any]:
    sizes = {"bytes": amounts.n_bytes, "characters": amounts.n_characters, "words": amounts.n_words}
    values: dict[str, list[float | None]] = {
        key: [of_amounts(key, amounts, i, reference=reference) for i in range(len(amounts.n_tokens))]
        for key in OF_PARTS
    }
    return {what: amounts.name, **sizes} | {key: found for key, found in values.items() if None not in found}


def _pair(comparison: Comparison, index: int, n_examples: int) -> dict[str, Any]:
    pair, first, other = comparison.pairs[index], comparison.tokenizers[0], comparison.tokenizers[index + 1]
    return {
        "tokenizers": [0, index + 1],
        "boundaries": {
            "first": pair.agreement.n_first,
            "second": pair.agreement.n_second,
            "shared": pair.agreement.n_shared,
            "precision": pair.agreement.precision,
            "recall": pair.agreement.recall,
            "f1": pair.agreement.f1,
        },
        "vocabularies": _vocabularies(first, other, overlap(first, other)),
        "disagreements": [
            {"text": example.stretch, "count": example.n_times, **_place(comparison, example.place)}
            | {"tokens": [_hex(first, example.first), _hex(other, example.other)]}
            for example in pair.examples(n_examples)
        ],
    }


def _vocabularies(first: Tokenizer, other: Tokenizer, shared: Overlap) -> dict[str, Any]:
    return {
        "shared": shared.n_shared,
        "only_first": len(shared.only_first),
        "only_second": len(shared.only_second),
        "jaccard": shared.jaccard,
        "same_merges": merges_in_common(first, other),
        "first_only_first": [[id, first.token_bytes(id).hex()] for id in shared.only_first[:_LISTED]],
        "first_only_second": [[id, other.token_bytes(id).hex()] for id in shared.only_second[:_LISTED]],
    }


def _worst_lines(comparison: Comparison, index: int, most: int) -> list[dict[str, Any]]:
    if comparison.worst_lines is None:
        return []
    return [
        {"text": one.line, "excess": one.excess(index), "tokens": list(one.n_tokens), "count": one.n_times}
        | _place(comparison, TextPlace(one.text, one.number, 0))
        for one in comparison.worst_lines.of(index)[: max(0, most)]
    ]


def _place(comparison: Comparison, place: TextPlace) -> dict[str, Any]:
    """The name of the text, the line, and the place by numbers: index of the text, line, characters before it there."""
    return {"in": comparison.texts[place.text].amounts.name, "line": place.line, "place": list(place)}


def _hex(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    return [tokenizer.token_bytes(id).hex() for id in ids]
