"""The registry of metrics: title, unit, meaning, and the function that computes the value for each tokenizer."""

from collections.abc import Callable, Iterable, Mapping
from math import log2
from typing import Final, NamedTuple

from bpe_core import metrics
from bpe_core.metrics.boundaries import edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison


class Metric(NamedTuple):
    """A metric of texts under a tokenizer.

    One of `of_amounts` and `of_texts` is there; each gives the value for the tokenizer of an index, the first from
    sizes alone, so for one text, a folder or a script, too. Parity has neither: it needs another text.
    """

    title: str
    unit: str
    form: str  # the format specification that values are written with
    of_amounts: Callable[[Amounts, int], float] | None = None
    of_texts: Callable[[Comparison, int], float] | None = None


def _ratio(a: int, b: int) -> float:
    return a / b if b else 0.0


def _of_counts(formula: Callable[[Iterable[int]], float]) -> Callable[[Comparison, int], float]:
    return lambda all, i: formula(all.token_counts[i].values())


def _utilization(all: Comparison, i: int) -> float:
    return _ratio(len(all.token_counts[i]), all.tokenizers[i].n_vocab)


def _by_vocabulary(all: Comparison, i: int) -> float:
    return metrics.renyi_entropy(all.token_counts[i].values()) / log2(max(2, all.tokenizers[i].n_vocab))


METRICS: Final[Mapping[str, Metric]] = {
    "tokens": Metric("tokens", "tokens", ",d", lambda one, i: one.n_tokens[i]),
    "bytes_per_token": Metric("bytes per token", "bytes", ".3f", lambda one, i: _ratio(one.n_bytes, one.n_tokens[i])),
    "characters_per_token": Metric(
        "characters per token", "characters", ".3f", lambda one, i: _ratio(one.n_characters, one.n_tokens[i])
    ),
    "fertility": Metric("fertility", "tokens", ".3f", lambda one, i: _ratio(one.n_tokens[i], one.n_words)),
    "continued_words": Metric(
        "continued words", "of words", ".1%", lambda one, i: _ratio(one.n_words - one.n_whole_words[i], one.n_words)
    ),
    "whole_words": Metric(
        "whole words", "of words", ".1%", None, lambda all, i: _ratio(all.total.n_whole_words[i], all.total.n_words)
    ),
    "parity": Metric("parity", "times", ".2f"),
    "renyi_entropy": Metric("Rényi entropy", "bits", ".4f", None, _of_counts(metrics.renyi_entropy)),
    "renyi_efficiency": Metric("Rényi efficiency", "of occurring", ".4f", None, _of_counts(metrics.renyi_efficiency)),
    "renyi_efficiency_of_vocabulary": Metric("Rényi efficiency by |V|", "of all tokens", ".4f", None, _by_vocabulary),
    "shannon_entropy": Metric(
        "Shannon entropy", "bits", ".4f", None, _of_counts(lambda counts: metrics.renyi_entropy(counts, 1))
    ),
    "shannon_efficiency": Metric(
        "Shannon efficiency", "of occurring", ".4f", None, _of_counts(metrics.shannon_efficiency)
    ),
    "utilization": Metric("utilization", "of tokens", ".2%", None, _utilization),
    "edit_survival": Metric(
        "boundary survival", "of boundaries", ".1%", None, lambda all, i: edit_survival(all.tokenizers[i], all.sample)
    ),
    "morpheme_recall": Metric(
        "morpheme recall", "of boundaries", ".1%", None, lambda all, i: all.morpheme_agreements[i].recall
    ),
    "morpheme_precision": Metric(
        "morpheme precision", "of boundaries", ".1%", None, lambda all, i: all.morpheme_agreements[i].precision
    ),
    "morpheme_f1": Metric("morpheme F1", "of 1", ".4f", None, lambda all, i: all.morpheme_agreements[i].f1),
}
"""By their names in JSON, in the order in which they are listed."""

MEANINGS: Final[Mapping[str, str]] = {
    "tokens": "How many tokens the text becomes: what a model reads, and what is paid.",
    "bytes_per_token": "Bytes in UTF-8 / tokens: how far the text is compressed.",
    "characters_per_token": "Code points / tokens; below 1 where characters are several tokens.",
    "fertility": "Tokens / words, which white space separates; not for scripts without (Ács 2019; Rust et al. 2021).",
    "continued_words": "Words with a token boundary inside / words (Rust et al. 2021).",
    "whole_words": "Words that are one token, the space before it aside.",
    "parity": "Tokens / tokens of the reference: what a translation costs more (Petrov et al. 2023).",
    "renyi_entropy": "Of order 2.5, of how often each token occurs (Zouhar et al. 2023).",
    "renyi_efficiency": "Rényi entropy / the most that the tokens that occur could have; 1 if all are as frequent.",
    "renyi_efficiency_of_vocabulary": "Rényi entropy / the most that all tokens of the vocabulary could have.",
    "shannon_entropy": "Of how often each token occurs (Shannon 1948).",
    "shannon_efficiency": "Shannon entropy / the most that the tokens that occur could have.",
    "utilization": "Tokens of the vocabulary that occur / all tokens of the vocabulary.",
    "edit_survival": "Boundaries near an edit of one character that it leaves: within 32 characters, 200 edits.",
    "morpheme_recall": "Boundaries of the given morphemes that are token boundaries too.",
    "morpheme_precision": "Token boundaries in the given words that are those of morphemes.",
    "morpheme_f1": "Harmonic mean of the two before (Morpho Challenge, Kurimo et al. 2010).",
}
"""Key of a metric -> its meaning, in one sentence of at most 100 characters."""

OF_PARTS: Final = (*(key for key, metric in METRICS.items() if metric.of_amounts), "parity")
"""Those of texts, folders and scripts."""


def of_amounts(key: str, amounts: Amounts, index: int, *, reference: Amounts | None = None) -> float | None:
    """A metric of `OF_PARTS` for the tokenizer `index`; None for parity without a `reference` to relate to, and where
    whole words are not counted yet.

    >>> of_amounts("bytes_per_token", Amounts("a", 11, 11, 2, (5,), (0,)), 0)
    2.2
    """
    if compute := METRICS[key].of_amounts:
        return compute(amounts, index) if amounts.n_whole_words or key != "continued_words" else None
    return None if reference is None else _ratio(amounts.n_tokens[index], reference.n_tokens[index])


def of_all_texts(comparison: Comparison) -> dict[str, list[float]]:
    """Metric -> its value for each tokenizer, over all texts; no parity; edits and morphemes where there are some."""
    values: dict[str, list[float]] = {}
    indices = range(len(comparison.tokenizers))
    needs = {"morpheme": comparison.morphemes, "edit": comparison.n_sample}
    for key, metric in METRICS.items():
        if metric.of_amounts:
            values[key] = [metric.of_amounts(comparison.total, index) for index in indices]
        elif metric.of_texts and needs.get(key.partition("_")[0], True):
            values[key] = [metric.of_texts(comparison, index) for index in indices]
    return values
