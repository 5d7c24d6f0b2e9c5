"""The metrics that are told of a tokenizer on texts: title, unit, meaning, and the value for each tokenizer."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bpe_core.metrics.comparison import Amounts, Comparison
from bpe_core.metrics.compression import bytes_per_token, characters_per_token, fertility, parity
from bpe_core.metrics.edits import edit_survival
from bpe_core.metrics.morphology import morphological_alignment


@dataclass(frozen=True, slots=True)
class Metric:
    """How a metric is told; what it is exactly, and who measured so first, says the function that computes it."""

    title: str
    unit: str
    meaning: str
    """One sentence of at most 100 characters."""
    form: str
    """How a value is written: a format specification."""

    def text(self, value: float) -> str:
        """A value as it is shown.

        >>> METRICS["continued_words"].text(0.0625)
        '6.2%'
        """
        return format(value, self.form)


METRICS: Final[Mapping[str, Metric]] = {
    "tokens": Metric(
        "tokens", "tokens", "How many tokens the text becomes: what a model reads, and what is paid.", ",d"
    ),
    "bytes_per_token": Metric(
        "bytes per token", "bytes", "Bytes in UTF-8 / tokens: how far the text is compressed.", ".3f"
    ),
    "characters_per_token": Metric(
        "characters per token",
        "characters",
        "Code points / tokens; below 1 where characters are several tokens.",
        ".3f",
    ),
    "fertility": Metric(
        "fertility", "tokens", "Tokens / words, words being what white space separates (Rust et al. 2021).", ".3f"
    ),
    "continued_words": Metric(
        "continued words", "of words", "Words with a token boundary inside / words (Rust et al. 2021).", ".1%"
    ),
    "whole_words": Metric("whole words", "of words", "Words that are one token, the space before it aside.", ".1%"),
    "parity": Metric(
        "parity",
        "times",
        "Tokens / tokens of the reference: what a translation costs more (Petrov et al. 2023).",
        ".2f",
    ),
    "renyi_entropy": Metric(
        "Rényi entropy", "bits", "Of order 2.5, of how often each token occurs (Zouhar et al. 2023).", ".4f"
    ),
    "renyi_efficiency": Metric(
        "Rényi efficiency",
        "of 1",
        "Rényi entropy / the most that so many different tokens could have; 1 if all are equally frequent.",
        ".4f",
    ),
    "shannon_entropy": Metric("Shannon entropy", "bits", "Of how often each token occurs (Shannon 1948).", ".4f"),
    "shannon_efficiency": Metric(
        "Shannon efficiency", "of 1", "Shannon entropy / the most that so many different tokens could have.", ".4f"
    ),
    "utilization": Metric(
        "utilization", "of tokens", "Tokens of the vocabulary that occur / all tokens of the vocabulary.", ".2%"
    ),
    "edit_survival": Metric(
        "boundary survival",
        "of boundaries",
        "Boundaries near an edit of one character that it leaves: within 32 characters, 200 edits.",
        ".1%",
    ),
    "morpheme_recall": Metric(
        "morpheme recall",
        "of boundaries",
        "Boundaries of the given morphemes that are token boundaries too.",
        ".1%",
    ),
    "morpheme_precision": Metric(
        "morpheme precision",
        "of boundaries",
        "Token boundaries in the given words that are those of morphemes.",
        ".1%",
    ),
    "morpheme_f1": Metric(
        "morpheme F1", "of 1", "Harmonic mean of the two before (Morpho Challenge, Kurimo et al. 2010).", ".4f"
    ),
}
"""By their names in JSON, in the order in which they are told."""

_OF_AMOUNTS: Final[Mapping[str, Callable[[Amounts, int], float]]] = {
    "tokens": lambda one, i: one.n_tokens[i],
    "bytes_per_token": lambda one, i: bytes_per_token(one.n_bytes, one.n_tokens[i]),
    "characters_per_token": lambda one, i: characters_per_token(one.n_characters, one.n_tokens[i]),
    "fertility": lambda one, i: fertility(one.n_tokens[i], one.n_words),
    "continued_words": lambda one, i: 1 - one.n_whole_words[i] / one.n_words if one.n_words else 0.0,
}
OF_PARTS: Final = (*_OF_AMOUNTS, "parity")
"""The metrics that are told of each text, folder and script too."""


def of_amounts(key: str, amounts: Amounts, index: int, *, reference: Amounts | None = None) -> float | None:
    """A metric of `OF_PARTS` for the tokenizer `index`; None for parity without a `reference` to relate to.

    >>> of_amounts("bytes_per_token", Amounts("a", 11, 11, 2, (5,), (0,)), 0)
    2.2
    """
    n_tokens = amounts.n_tokens[index]
    if key == "parity":
        return None if reference is None else parity(n_tokens, reference.n_tokens[index])
    return _OF_AMOUNTS[key](amounts, index)


def called(parts: Iterable[Amounts], name: str | None) -> Amounts | None:
    """The part of that name, the first if `name` is None; None if there is none."""
    return next((one for one in parts if name in (None, one.name)), None)


def of_all_texts(comparison: Comparison, *, words: Sequence[Sequence[str]] = ()) -> dict[str, list[float]]:
    """Metric -> its value for each tokenizer, over all texts of the comparison.

    `words` are words as their morphemes; without them their metrics are left out, as is parity. Boundary survival is
    that of the first 100,000 characters.
    """
    indices = range(len(comparison.tokenizers))
    everything = comparison.total
    found = {key: [of_amounts(key, everything, index) for index in indices] for key in OF_PARTS}
    values = {key: [value for value in values if value is not None] for key, values in found.items()}
    totals = comparison.totals
    values["whole_words"] = [total.whole_words for total in totals]
    values["renyi_entropy"] = [total.renyi_entropy for total in totals]
    values["renyi_efficiency"] = [total.renyi_efficiency for total in totals]
    values["shannon_entropy"] = [total.shannon_entropy for total in totals]
    values["shannon_efficiency"] = [total.shannon_efficiency for total in totals]
    pairs = zip(totals, comparison.tokenizers, strict=True)
    values["utilization"] = [total.utilization(tokenizer) for total, tokenizer in pairs]
    values["edit_survival"] = [edit_survival(tokenizer, comparison.sample) for tokenizer in comparison.tokenizers]
    if words:
        alignments = [morphological_alignment(tokenizer, words) for tokenizer in comparison.tokenizers]
        values["morpheme_recall"] = [one.recall for one in alignments]
        values["morpheme_precision"] = [one.precision for one in alignments]
        values["morpheme_f1"] = [one.f1 for one in alignments]
    return {key: values[key] for key in METRICS if values.get(key)}
