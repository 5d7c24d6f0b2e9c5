"""The registry of metrics: title, unit, meaning, and the function that computes the value for each tokenizer."""

import json
from collections.abc import Callable, Mapping
from math import log2
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.metrics import ratio, renyi_efficiency, renyi_entropy
from bpe_core.metrics.boundaries import edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison


class Metric(NamedTuple):
    """What people read about a metric of texts under a tokenizer."""

    title: str
    unit: str
    form: str  # the format specification that values are written with
    meaning: str  # one sentence of at most 100 characters


OF_PARTS: Final[
    Mapping[str, Callable[[Amounts, Amounts | None, int], float | None]]
] = {
    "tokens": lambda one, _, i: one.n_tokens[i],
    "bytes_per_token": lambda one, _, i: ratio(one.n_bytes, one.n_tokens[i]),
    "characters_per_token": lambda one, _, i: ratio(one.n_characters, one.n_tokens[i]),
    "fertility": lambda one, _, i: ratio(one.n_tokens[i], one.n_words),
    "continued_words": lambda one, _, i: (
        ratio(one.n_words - one.n_whole_words[i], one.n_words)
        if one.n_whole_words
        else None
    ),
    "parity": lambda one, other, i: (
        ratio(one.n_tokens[i], other.n_tokens[i]) if other else None
    ),
}
"""The metrics of texts, folders and scripts: each of the amounts of one and, for parity, of another, and the index of a
tokenizer; None where whole words are not counted yet, or there is no other."""

_OF_TEXTS: Final[Mapping[str, Callable[[Comparison, int], float]]] = {
    "whole_words": lambda all, i: ratio(all.total.n_whole_words[i], all.total.n_words),
    "renyi_entropy": lambda all, i: renyi_entropy(all.token_counts[i].values()),
    "renyi_efficiency": lambda all, i: renyi_efficiency(all.token_counts[i].values()),
    "renyi_efficiency_of_vocabulary": lambda all, i: (
        renyi_entropy(all.token_counts[i].values())
        / log2(max(2, all.tokenizers[i].n_tokens))
    ),
    "shannon_entropy": lambda all, i: renyi_entropy(all.token_counts[i].values(), 1),
    "shannon_efficiency": lambda all, i: renyi_efficiency(
        all.token_counts[i].values(), 1
    ),
    "utilization": lambda all, i: ratio(
        len(all.token_counts[i]), all.tokenizers[i].n_tokens
    ),
    "edit_survival": lambda all, i: edit_survival(all.tokenizers[i], all.sample),
    "morpheme_recall": lambda all, i: all.morpheme_agreements[i].recall,
    "morpheme_precision": lambda all, i: all.morpheme_agreements[i].precision,
    "morpheme_f1": lambda all, i: all.morpheme_agreements[i].f1,
}
OnMetric = Callable[[int, int, str], object]
"""Called with how many values are known, how many there will be, and the title of the next metric."""
_LISTED: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
METRICS: Final[Mapping[str, Metric]] = {
    key: Metric(**texts) for key, texts in _LISTED.items()
}
"""By their names in JSON, in the order in which they are listed."""


def of_all_texts(
    comparison: Comparison, progress: OnMetric = lambda done, total, title: None
) -> dict[str, list[float]]:
    """Each metric that takes all texts -> its value for each tokenizer; edits and morphemes where there are some.
    What `progress` raises, before each value, is passed on."""
    needs = {"morpheme": comparison.morphemes, "edit": comparison.n_sample}
    wanted = [key for key in _OF_TEXTS if needs.get(key.partition("_")[0], True)]
    n_tokenizers = len(comparison.tokenizers)
    values: dict[str, list[float]] = {key: [] for key in wanted}
    for n_done, key in enumerate(wanted):
        for index in range(n_tokenizers):
            progress(
                n_done * n_tokenizers + index,
                len(wanted) * n_tokenizers,
                METRICS[key].title,
            )
            values[key].append(_OF_TEXTS[key](comparison, index))
    return values
