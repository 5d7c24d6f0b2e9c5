"""The registry of metrics: the title, unit and meaning of each, and how it is computed."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from bpe_core.metrics import ratio
from bpe_core.metrics.boundaries import edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison
from bpe_core.metrics.token_use import TokenUse


class Metric(NamedTuple):
    """The title, unit and meaning of a metric."""

    title: str
    unit: str
    form: str  # the format specification that values are written with
    meaning: str
    """One sentence of at most 100 characters, with the source of the metric."""


_TABLE: Final = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
METRICS: Final[Mapping[str, Metric]] = {
    name: Metric(**row) for name, row in _TABLE.items()
}
"""The metrics by their names in JSON, in the order in which they are listed."""

OfPart = Callable[[Amounts, Amounts | None, int], float | None]
"""Computes a metric of a text, a folder or a script. The arguments are the amounts of that part, the
amounts of a reference, and the index of a tokenizer. The result is None if a value is missing."""
OnMetric = Callable[[int, int, str], object]
"""Called with the number of known values, the number of all values, and the title of the next metric."""


def _of_part(
    name: str, part: Amounts, reference: Amounts | None, index: int
) -> float | None:
    """Compute the metric `name` of a text, a folder or a script. See `OfPart`."""
    n_tokens = part.n_tokens[index]
    match name:
        case "tokens":
            return n_tokens
        case "bytes_per_token":
            return ratio(part.n_bytes, n_tokens)
        case "characters_per_token":
            return ratio(part.n_characters, n_tokens)
        case "fertility":
            return ratio(n_tokens, part.n_words)
        case "continued_words" if part.n_whole_words:
            return ratio(part.n_words - part.n_whole_words[index], part.n_words)
        case "whole_words" if part.n_whole_words:
            return ratio(part.n_whole_words[index], part.n_words)
        case "parity" if reference:
            return ratio(n_tokens, reference.n_tokens[index])
    if part.token_use:
        return _of_token_use(name, part.token_use[index])
    return None


def _of_token_use(name: str, use: TokenUse) -> float | None:
    match name:
        case "renyi_entropy":
            return use.renyi_entropy
        case "renyi_efficiency":
            return use.renyi_efficiency
        case "renyi_efficiency_of_vocabulary":
            return use.renyi_efficiency_of_vocabulary
        case "shannon_entropy":
            return use.shannon_entropy
        case "shannon_efficiency":
            return use.shannon_efficiency
        case "utilization":
            return use.utilization
    return None


_PART_METRICS: Final = (
    "tokens",
    "bytes_per_token",
    "characters_per_token",
    "fertility",
    "continued_words",
    "whole_words",
    "parity",
    "renyi_entropy",
    "renyi_efficiency",
    "renyi_efficiency_of_vocabulary",
    "shannon_entropy",
    "shannon_efficiency",
    "utilization",
)
OF_PARTS: Final[Mapping[str, OfPart]] = {
    name: partial(_of_part, name) for name in _PART_METRICS
}
"""The metrics of each text, folder and script. The others measure random edits or a list of words."""


def _of_all_texts(name: str, comparison: Comparison, index: int) -> float:
    """Compute the metric `name` of all texts for the tokenizer at `index`."""
    match name:
        case "edit_survival":
            return edit_survival(comparison.tokenizers[index], comparison.sample)
        case "morpheme_recall":
            return comparison.morpheme_agreements[index].recall
        case "morpheme_precision":
            return comparison.morpheme_agreements[index].precision
        case "morpheme_f1":
            return comparison.morpheme_agreements[index].f1
    raise KeyError(name)


def of_all_texts(
    comparison: Comparison, progress: OnMetric | None = None
) -> dict[str, list[float]]:
    """Compute the metrics that are only known for all texts together.

    Args:
        comparison: The comparison, with its texts. Without morphemes, the morpheme metrics are
            left out; without a sample, `edit_survival` is.
        progress: Called before each value. Its exceptions are passed on.

    Returns:
        For each metric, its value for each tokenizer.
    """
    names = [
        name
        for name in METRICS
        if name not in OF_PARTS and _is_possible(name, comparison)
    ]
    values: dict[str, list[float]] = {name: [] for name in names}
    indexes = range(len(comparison.tokenizers))
    for n_done, (name, index) in enumerate(product(names, indexes)):
        if progress:
            progress(n_done, len(names) * len(indexes), METRICS[name].title)
        values[name].append(_of_all_texts(name, comparison, index))
    return values


def _is_possible(name: str, comparison: Comparison) -> bool:
    if name.startswith("morpheme_"):
        return bool(comparison.morphemes)
    if name == "edit_survival":
        return comparison.n_sample > 0
    return True
