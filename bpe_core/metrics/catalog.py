"""The registry of metrics: title, unit, meaning, and the function that computes the value for each tokenizer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from bpe_core.metrics.boundaries import edit_survival
from bpe_core.metrics.comparison import Amounts, Comparison
from bpe_core.metrics.formulas import (
    bytes_per_token,
    characters_per_token,
    fertility,
    parity,
    renyi_efficiency,
    renyi_entropy,
    shannon_efficiency,
    utilization,
)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of texts under a tokenizer. Exactly one of `of_amounts` and `of_texts` is there, but for parity neither:
    it needs another text."""

    title: str
    unit: str
    meaning: str
    """One sentence of at most 100 characters."""
    form: str
    """How a value is written: a format specification."""
    of_amounts: Callable[[Amounts, int], float] | None = None
    """The value for the tokenizer of that index, from sizes alone: for one text, a folder or a script, too."""
    of_texts: Callable[[Comparison, int], float] | None = None
    """The value for the tokenizer of that index, over all texts of a comparison."""

    def text(self, value: float) -> str:
        """
        >>> METRICS["continued_words"].text(0.0625)
        '6.2%'
        """
        return format(value, self.form)


def _whole_words(one: Amounts, i: int) -> float:
    return one.n_whole_words[i] / one.n_words if one.n_words else 0.0


METRICS: Final[Mapping[str, Metric]] = {
    "tokens": Metric(
        "tokens",
        "tokens",
        "How many tokens the text becomes: what a model reads, and what is paid.",
        ",d",
        lambda one, i: one.n_tokens[i],
    ),
    "bytes_per_token": Metric(
        "bytes per token",
        "bytes",
        "Bytes in UTF-8 / tokens: how far the text is compressed.",
        ".3f",
        lambda one, i: bytes_per_token(one.n_bytes, one.n_tokens[i]),
    ),
    "characters_per_token": Metric(
        "characters per token",
        "characters",
        "Code points / tokens; below 1 where characters are several tokens.",
        ".3f",
        lambda one, i: characters_per_token(one.n_characters, one.n_tokens[i]),
    ),
    "fertility": Metric(
        "fertility",
        "tokens",
        "Tokens / words, words being what white space separates (Rust et al. 2021).",
        ".3f",
        lambda one, i: fertility(one.n_tokens[i], one.n_words),
    ),
    "continued_words": Metric(
        "continued words",
        "of words",
        "Words with a token boundary inside / words (Rust et al. 2021).",
        ".1%",
        lambda one, i: 1 - _whole_words(one, i) if one.n_words else 0.0,
    ),
    "whole_words": Metric(
        "whole words",
        "of words",
        "Words that are one token, the space before it aside.",
        ".1%",
        of_texts=lambda all, i: _whole_words(all.total, i),
    ),
    "parity": Metric(
        "parity",
        "times",
        "Tokens / tokens of the reference: what a translation costs more (Petrov et al. 2023).",
        ".2f",
    ),
    "renyi_entropy": Metric(
        "Rényi entropy",
        "bits",
        "Of order 2.5, of how often each token occurs (Zouhar et al. 2023).",
        ".4f",
        of_texts=lambda all, i: renyi_entropy(all.token_counts[i].values()),
    ),
    "renyi_efficiency": Metric(
        "Rényi efficiency",
        "of 1",
        "Rényi entropy / the most that so many different tokens could have; 1 if all are equally frequent.",
        ".4f",
        of_texts=lambda all, i: renyi_efficiency(all.token_counts[i].values()),
    ),
    "shannon_entropy": Metric(
        "Shannon entropy",
        "bits",
        "Of how often each token occurs (Shannon 1948).",
        ".4f",
        of_texts=lambda all, i: renyi_entropy(all.token_counts[i].values(), 1),
    ),
    "shannon_efficiency": Metric(
        "Shannon efficiency",
        "of 1",
        "Shannon entropy / the most that so many different tokens could have.",
        ".4f",
        of_texts=lambda all, i: shannon_efficiency(all.token_counts[i].values()),
    ),
    "utilization": Metric(
        "utilization",
        "of tokens",
        "Tokens of the vocabulary that occur / all tokens of the vocabulary.",
        ".2%",
        of_texts=lambda all, i: utilization(all.token_counts[i].values(), all.tokenizers[i].n_vocab),
    ),
    "edit_survival": Metric(
        "boundary survival",
        "of boundaries",
        "Boundaries near an edit of one character that it leaves: within 32 characters, 200 edits.",
        ".1%",
        of_texts=lambda all, i: edit_survival(all.tokenizers[i], all.sample),
    ),
    "morpheme_recall": Metric(
        "morpheme recall",
        "of boundaries",
        "Boundaries of the given morphemes that are token boundaries too.",
        ".1%",
        of_texts=lambda all, i: all.morpheme_agreements[i].recall,
    ),
    "morpheme_precision": Metric(
        "morpheme precision",
        "of boundaries",
        "Token boundaries in the given words that are those of morphemes.",
        ".1%",
        of_texts=lambda all, i: all.morpheme_agreements[i].precision,
    ),
    "morpheme_f1": Metric(
        "morpheme F1",
        "of 1",
        "Harmonic mean of the two before (Morpho Challenge, Kurimo et al. 2010).",
        ".4f",
        of_texts=lambda all, i: all.morpheme_agreements[i].f1,
    ),
}
"""By their names in JSON, in the order in which they are listed."""

OF_PARTS: Final = (*(key for key, metric in METRICS.items() if metric.of_amounts), "parity")
"""The metrics of each text, folder and script."""


def of_amounts(key: str, amounts: Amounts, index: int, *, reference: Amounts | None = None) -> float | None:
    """A metric of `OF_PARTS` for the tokenizer `index`; None for parity without a `reference` to relate to.

    >>> of_amounts("bytes_per_token", Amounts("a", 11, 11, 2, (5,), (0,)), 0)
    2.2
    """
    if compute := METRICS[key].of_amounts:
        return compute(amounts, index)
    return None if reference is None else parity(amounts.n_tokens[index], reference.n_tokens[index])


def called(parts: Iterable[Amounts], name: str | None) -> Amounts | None:
    """The part of that name, the first if `name` is None; None if there is none."""
    return next((one for one in parts if name in (None, one.name)), None)


def of_all_texts(comparison: Comparison) -> dict[str, list[float]]:
    """Metric -> its value for each tokenizer, over all texts of the comparison.

    All but parity, and those of morphemes only where there are some. Boundary survival is that of the first 100,000
    characters.
    """
    values: dict[str, list[float]] = {}
    for key, metric in METRICS.items():
        indices = range(len(comparison.tokenizers))
        if metric.of_amounts:
            values[key] = [metric.of_amounts(comparison.total, index) for index in indices]
        elif metric.of_texts and (comparison.morphemes or not key.startswith("morpheme")):
            values[key] = [metric.of_texts(comparison, index) for index in indices]
    return values
