"""A comparison of tokenizers as the JSON object that `compare --json` prints."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from bpe_core.metrics.catalog import METRICS, OF_PARTS, Metric, OnMetric, of_all_texts
from bpe_core.metrics.comparison import Amounts, Comparison
from bpe_core.metrics.disagreements import (
    FrequentDisagreement,
    TextPlace,
    TokenizerPair,
    WorstLine,
)
from bpe_core.metrics.labels import NamedTokenizer, labels_of
from bpe_core.tokenizer import Tokenizer

TokenizerSource = tuple[str, str]
"""(file, split pattern); the pattern is "" for the pattern in the file."""
_SPLITS: Final = 10
"""Maximum number of ways to cut numbers: 7 of up to 3 digits, and 3 of more digits."""
_SHORT_NUMBER: Final = 3
"""Maximum number of digits of a short number. Only the splits of longer numbers are shown."""
_SPLITS_SHOWN: Final = 3
_LISTED: Final = 100
"""Maximum number of tokens listed that only one vocabulary of a pair has, the lowest ids first."""


def summary(
    comparison: Comparison,
    sources: Sequence[TokenizerSource],
    *,
    reference: str | None = None,
    n_examples: int = 0,
    n_lines: int = 0,
    progress: OnMetric | None = None,
) -> dict[str, Any]:
    """Return a comparison without its texts. Lists of numbers have one number per tokenizer.

    Args:
        comparison: The tokenizers, and the texts added so far.
        sources: The file and the pattern of each tokenizer.
        reference: The text or folder that parity is relative to; None for the first folder.
        n_examples: Maximum number of disagreements of each pair.
        n_lines: Maximum number of lines to list for each tokenizer.
        progress: Called before each metric of all texts.
    """
    tokenizers = comparison.tokenizers
    indexes = range(len(tokenizers))
    total: dict[str, Any] = {"texts": len(comparison.texts)}
    total |= measures_of(comparison.all_texts())
    total |= of_all_texts(comparison, progress)
    folders = comparison.folders()
    parity_base = _find(folders, reference)
    return {
        "tokenizers": [path for path, _ in sources],
        "labels": labels_of(
            [
                NamedTokenizer(tokenizer.name, *source)
                for tokenizer, source in zip(tokenizers, sources, strict=True)
            ]
        ),
        "vocabularies": [
            {
                "name": tokenizer.name,
                "tokens": tokenizer.n_tokens,
                "pattern": tokenizer.pattern,
            }
            for tokenizer in tokenizers
        ],
        "total": total,
        "folders": [
            {"folder": folder.name, **measures_of(folder, parity_base)}
            for folder in folders
        ],
        "scripts": [
            {"script": script.name, **measures_of(script)}
            for script in comparison.scripts()
        ],
        "token_lengths": [
            dict(sorted(comparison.token_lengths(index).items())) for index in indexes
        ],
        "number_splits": [
            [{"digits": way, "count": n} for way, n in splits.most_common(_SPLITS)]
            for splits in comparison.number_splits
        ],
        "pairs": [_pair(comparison, index, n_examples) for index in indexes[:-1]],
        "worst_lines": [_worst_lines(comparison, index, n_lines) for index in indexes],
    }


def texts_as_json(
    comparison: Comparison, reference: str | None
) -> list[dict[str, Any]]:
    """Return each text with its metrics and its source.

    `reference` is the name of the text that parity is relative to; None for the first text.
    """
    parity_base = _find((text.amounts for text in comparison.texts), reference)
    return [
        {
            "name": text.amounts.name,
            **measures_of(text.amounts, parity_base),
            "path": text.path,
            "folder": text.folder,
            "line": text.line,
        }
        for text in comparison.texts
    ]


def _find(parts: Iterable[Amounts], name: str | None) -> Amounts | None:
    """Return the first part with this name, or the very first if `name` is None."""
    for part in parts:
        if name is None or part.name == name:
            return part
    return None


class MetricRow(NamedTuple):
    """A metric of all texts, with its values as text."""

    metric: Metric
    values: list[str]
    """By tokenizer."""


def metric_rows(summary: Mapping[str, Any]) -> Iterator[MetricRow]:
    """Yield the metrics in the result of `summary` that are known for all texts together."""
    for key, metric in METRICS.items():
        values = summary["total"].get(key)
        if values:
            yield MetricRow(metric, [format(value, metric.form) for value in values])


def number_split_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return a row with each tokenizer's most frequent split of long numbers, then a row with the second, and so on.

    A split is written as "3+1 (12)" if 12 numbers such as 2024 are split so, or "" if there is none.
    """
    by_tokenizer = []
    for splits in summary["number_splits"]:
        written = [
            f"{'+'.join(map(str, split['digits']))} ({split['count']:,})"
            for split in splits
            if sum(split["digits"]) > _SHORT_NUMBER
        ]
        by_tokenizer.append(written[:_SPLITS_SHOWN])
    return list(zip_longest(*by_tokenizer, fillvalue=""))


def boundaries_sentence(pair: Mapping[str, Any], first: str, other: str) -> str:
    """Describe how far two tokenizers, called `first` and `other`, agree on boundaries."""
    shared = pair["boundaries"]
    return (
        f"{first} and {other} share {shared['shared']:,} boundaries: "
        f"{shared['precision']:.3f} of {other}'s (precision), "
        f"{shared['recall']:.3f} of {first}'s (recall) · F1 {shared['f1']:.3f}"
    )


def measures_of(
    amounts: Amounts,
    parity_base: Amounts | None = None,
    keys: Collection[str] = OF_PARTS.keys(),
) -> dict[str, Any]:
    """Return the size of a part of the texts, and those of its metrics in `keys` that are known for all tokenizers."""
    measures: dict[str, Any] = {
        "bytes": amounts.n_bytes,
        "characters": amounts.n_characters,
        "words": amounts.n_words,
    }
    indexes = range(len(amounts.n_tokens))
    for key in keys:
        values = [OF_PARTS[key](amounts, parity_base, index) for index in indexes]
        if None not in values:
            measures[key] = values
    return measures


def _pair(comparison: Comparison, index: int, n_examples: int) -> dict[str, Any]:
    """Return the comparison of the first tokenizer with the tokenizer at `index` + 1."""
    pair = comparison.pairs[index]
    first = comparison.tokenizers[0]
    other = comparison.tokenizers[index + 1]
    agreement = pair.agreement
    return {
        "tokenizers": [0, index + 1],
        "boundaries": {
            "first": agreement.n_first,
            "second": agreement.n_second,
            "shared": agreement.n_shared,
            "precision": agreement.precision,
            "recall": agreement.recall,
            "f1": agreement.f1,
        },
        "vocabularies": _vocabularies(pair, first, other),
        "disagreements": [
            _disagreement(comparison, example, first, other)
            for example in pair.examples(n_examples)
        ],
    }


def _vocabularies(
    pair: TokenizerPair, first: Tokenizer, other: Tokenizer
) -> dict[str, Any]:
    n_shared, only_first, only_second, n_same_merges = pair.vocabularies
    n_different = n_shared + len(only_first) + len(only_second)
    return {
        "shared": n_shared,
        "only_first": len(only_first),
        "only_second": len(only_second),
        "jaccard": n_shared / n_different if n_different else 1.0,
        "same_merges": n_same_merges,
        "first_only_first": [
            [token, first.token_bytes(token).hex()] for token in only_first[:_LISTED]
        ],
        "first_only_second": [
            [token, other.token_bytes(token).hex()] for token in only_second[:_LISTED]
        ],
    }


def _disagreement(
    comparison: Comparison,
    example: FrequentDisagreement,
    first: Tokenizer,
    other: Tokenizer,
) -> dict[str, Any]:
    return {
        "text": example.stretch,
        "count": example.n_times,
        **_place(comparison, example.place),
        "tokens": [
            [first.token_bytes(token).hex() for token in example.first],
            [other.token_bytes(token).hex() for token in example.other],
        ],
    }


def _worst_lines(
    comparison: Comparison, index: int, n_lines: int
) -> list[dict[str, Any]]:
    """Return the lines for which a tokenizer needs the most extra tokens."""
    lines: list[WorstLine] = comparison.worst_lines(index)[:n_lines]
    return [
        {
            "text": line.line,
            "excess": line.excess(index),
            "tokens": list(line.n_tokens),
            "count": line.n_times,
            **_place(comparison, line.place),
        }
        for line in lines
    ]


def _place(comparison: Comparison, place: TextPlace) -> dict[str, Any]:
    """Return a place: the name of its text, its line as text, and three numbers.

    The numbers are the index of the text, the line, and the number of characters before the place.
    """
    return {
        "in": comparison.texts[place.text].amounts.name,
        "line": place.line,
        "place": list(place),
    }
