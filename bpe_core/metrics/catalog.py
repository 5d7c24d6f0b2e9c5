"""The registry of metrics: title, unit, meaning, and the function that computes the value for each tokenizer."""

import json
from collections.abc import Callable, Iterable, Mapping
from math import log2
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core import metrics
from bpe_core.metrics import ratio
from bpe_core.metrics.boundaries import edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison


class Metric(NamedTuple):
    """What people read about a metric of texts under a tokenizer."""

    title: str
    unit: str
    form: str  # the format specification that values are written with
    meaning: str  # one sentence of at most 100 characters


def _of_counts(formula: Callable[[Iterable[int]], float]) -> Callable[[Comparison, int], float]:
    return lambda all, i: formula(all.token_counts[i].values())


# Each gives the value for the tokenizer of an index: from sizes alone, so for one text, a folder or a script, too.
_OF_AMOUNTS: Final[Mapping[str, Callable[[Amounts, int], float]]] = {
    "tokens": lambda one, i: one.n_tokens[i],
    "bytes_per_token": lambda one, i: ratio(one.n_bytes, one.n_tokens[i]),
    "characters_per_token": lambda one, i: ratio(one.n_characters, one.n_tokens[i]),
    "fertility": lambda one, i: ratio(one.n_tokens[i], one.n_words),
    "continued_words": lambda one, i: ratio(one.n_words - one.n_whole_words[i], one.n_words),
}
_OF_TEXTS: Final[Mapping[str, Callable[[Comparison, int], float]]] = {
    "whole_words": lambda all, i: ratio(all.total.n_whole_words[i], all.total.n_words),
    "renyi_entropy": _of_counts(metrics.renyi_entropy),
    "renyi_efficiency": _of_counts(metrics.renyi_efficiency),
    "renyi_efficiency_of_vocabulary": lambda all, i: (
        metrics.renyi_entropy(all.token_counts[i].values()) / log2(max(2, all.tokenizers[i].n_vocab))
    ),
    "shannon_entropy": _of_counts(lambda counts: metrics.renyi_entropy(counts, 1)),
    "shannon_efficiency": _of_counts(metrics.shannon_efficiency),
    "utilization": lambda all, i: ratio(len(all.token_counts[i]), all.tokenizers[i].n_vocab),
    "edit_survival": lambda all, i: edit_survival(all.tokenizers[i], all.sample),
    "morpheme_recall": lambda all, i: all.morpheme_agreements[i].recall,
    "morpheme_precision": lambda all, i: all.morpheme_agreements[i].precision,
    "morpheme_f1": lambda all, i: all.morpheme_agreements[i].f1,
}
_LISTED: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
METRICS: Final[Mapping[str, Metric]] = {key: Metric(**texts) for key, texts in _LISTED.items()}
"""By their names in JSON, in the order in which they are listed."""

OF_PARTS: Final = (*_OF_AMOUNTS, "parity")
"""Those of texts, folders and scripts; parity needs another text."""


def of_amounts(key: str, amounts: Amounts, index: int, *, reference: Amounts | None = None) -> float | None:
    """A metric of `OF_PARTS` for the tokenizer `index`; None for parity without a `reference` to relate to, and where
    whole words are not counted yet."""
    if compute := _OF_AMOUNTS.get(key):
        return compute(amounts, index) if amounts.n_whole_words or key != "continued_words" else None
    return None if reference is None else ratio(amounts.n_tokens[index], reference.n_tokens[index])


def of_all_texts(comparison: Comparison) -> dict[str, list[float]]:
    """Metric -> its value for each tokenizer, over all texts; no parity; edits and morphemes where there are some."""
    values: dict[str, list[float]] = {}
    indices = range(len(comparison.tokenizers))
    needs = {"morpheme": comparison.morphemes, "edit": comparison.n_sample}
    for key in METRICS:
        if key in _OF_AMOUNTS:
            values[key] = [_OF_AMOUNTS[key](comparison.total, index) for index in indices]
        elif key in _OF_TEXTS and needs.get(key.partition("_")[0], True):
            values[key] = [_OF_TEXTS[key](comparison, index) for index in indices]
    return values
