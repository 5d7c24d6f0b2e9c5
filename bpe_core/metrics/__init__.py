"""Formulas of metrics: compression, entropies, shared vocabulary, and the curve of a training run."""

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.weighted import Count

ALPHA: Final = 2.5
"""The order of the Rényi efficiency."""
_BITS: Final = 52
"""Powers of counts are summed in units of 2 ** -52. Every float from 1 up is a whole number of these
units, so sums of powers are exact, and a power can be subtracted again."""


def ratio(a: Count, b: Count) -> float:
    """Return a / b, or 0.0 if b is 0.

    The compression ratio is the bytes of a text in UTF-8 / its tokens.
    """
    return float(a / b) if b else 0.0


def renyi_entropy(counts: Iterable[int], alpha: float = 2.5) -> float:
    """Return the Rényi entropy of the tokens of a text: how evenly the text uses them.

    It is log2(sum of p ** alpha) / (1 - alpha), where p is the count of a token type divided by
    the sum of all counts. Order 0 is log2 of the number of types (Hartley's entropy), order 1 is Shannon's
    entropy, and with an infinite order only the most frequent type matters (min-entropy). The
    higher the order, the more weight frequent types have.

    Source: A. Rényi, "On measures of entropy and information" (1961).

    Args:
        counts: Occurrences of each token type; zeros are ignored.
        alpha: The order: 0 or more; may be infinite.

    Returns:
        The entropy in bits; 0.0 for a text without tokens.

    Raises:
        OptionError: The order is negative or not a number.

    Examples:
        >>> renyi_entropy([3, 2, 1, 1])
        1.653012966845049
    """
    if not alpha >= 0:  # also true for NaN
        raise OptionError(
            f"Invalid order of a Rényi entropy: {alpha}; give 0 or more, usually 2.5."
        )
    used = [count for count in counts if count > 0]
    if not used:
        return 0.0
    total = sum(used)
    most = max(used)
    if alpha == 1:
        return math.fsum(count / total * math.log2(total / count) for count in used)
    min_entropy = math.log2(total / most)
    if math.isinf(alpha):
        return min_entropy
    # Relative to the most frequent type, so that no power of a small frequency underflows.
    powers = math.fsum((count / most) ** alpha for count in used)
    return (alpha * min_entropy - math.log2(powers)) / (alpha - 1)


def renyi_efficiency(counts: Iterable[int], alpha: float = 2.5) -> float:
    """Return the Rényi entropy / the largest entropy that is possible with as many token types.

    Of all orders, 2.5 correlates best with the quality of translation models: Zouhar et al.,
    "Tokenization and the Noiseless Channel" (2023, arXiv 2306.16842). Order 1 is Shannon's
    efficiency, applied to subwords by Gutierrez-Vasques et al. (2021).

    Args:
        counts: Occurrences of each token type; zeros are ignored.
        alpha: The order: 0 or more; may be infinite.

    Returns:
        The efficiency from 0 to 1. It is 1 if all types are equally frequent, and 0.0 for fewer
        than two types.

    Raises:
        OptionError: The order is negative or not a number.

    Examples:
        >>> renyi_efficiency([3, 2, 1, 1])
        0.8265064834225245
    """
    used = [count for count in counts if count > 0]
    entropy = renyi_entropy(used, alpha)
    return efficiency(entropy, len(used))


def efficiency(entropy: float, n_types: int) -> float:
    """Return an entropy / the largest entropy of as many token types; 0.0 for fewer than two types."""
    if n_types < 2:
        return 0.0
    return min(entropy / math.log2(n_types), 1.0)  # rounding may exceed 1


class Overlap(NamedTuple):
    """The tokens that two vocabularies share, and the tokens that only one of them has. Special tokens don't count."""

    n_shared: int  # byte strings that are tokens of both
    only_first: list[int]
    """The ids of the other tokens of the first vocabulary, ascending."""
    only_second: list[int]
    """The ids of the other tokens of the second vocabulary, ascending."""
    n_same_merges: int  # at the start of both lists of merges


def overlap(first: Tokenizer, second: Tokenizer) -> Overlap:
    """Compare the vocabularies of two tokenizers. Takes O(n log n) time for n tokens."""
    # To recover merges takes much memory, so it is done before the ids are collected.
    n_same_merges = merges_in_common(first, second)
    first_ids = _ids_by_bytes(first)
    second_ids = _ids_by_bytes(second)
    only_first = first_ids.keys() - second_ids.keys()
    only_second = second_ids.keys() - first_ids.keys()
    return Overlap(
        n_shared=len(first_ids) - len(only_first),
        only_first=sorted(first_ids[data] for data in only_first),
        only_second=sorted(second_ids[data] for data in only_second),
        n_same_merges=n_same_merges,
    )


def _ids_by_bytes(tokenizer: Tokenizer) -> dict[bytes, int]:
    vocabulary = tokenizer.vocabulary
    bytes_of = vocabulary.bytes_of
    special = set(tokenizer.special_tokens.values())
    return {bytes_of[id]: id for id in vocabulary.ids() if id not in special}


def merges_in_common(first: Tokenizer, second: Tokenizer) -> int:
    """Return how many merges at the start of both lists join the same byte strings."""
    n_common = 0
    merges = zip(first.vocabulary.merges, second.vocabulary.merges, strict=False)
    for (first_left, first_right, _), (second_left, second_right, _) in merges:
        if first.token_bytes(first_left) != second.token_bytes(second_left):
            break
        if first.token_bytes(first_right) != second.token_bytes(second_right):
            break
        n_common += 1
    return n_common


class CurvePoint(NamedTuple):
    """The state of the training corpus after one step.

    The last three values are None if the record lacks the counts of the bytes.
    """

    step: int  # 0 before the first merge
    n_vocab: int  # the size of the vocabulary, including special tokens
    n_tokens: Count  # the length of the corpus in tokens
    saved: Count  # by how many tokens this step made the corpus shorter
    bytes_per_token: float
    n_used: int | None  # the number of different tokens that occur
    utilization: float | None  # n_used / n_vocab, from 0 to 1
    renyi_efficiency: float | None  # of order `ALPHA`, from 0 to 1


def training_curve(tokenizer: Tokenizer) -> list[CurvePoint]:
    """Return a point for each step of the training that made a tokenizer, from step 0 to the last.

    A vocabulary of k merges is a prefix of its own merges, so one training run gives the values for all
    sizes. Each point follows from the one before in constant time, and nothing is encoded again: a
    merge that joins n occurrences of two tokens takes n from their counts, and the new token starts
    with n.

    Raises:
        OptionError: The tokenizer has no record of a training run.
    """
    record = tokenizer.record
    vocabulary = tokenizer.vocabulary
    if record is None:
        raise OptionError(
            "This tokenizer has no curve, because its file has no record of a training run; "
            "choose one that bpescope trained."
        )
    n_vocab_start = vocabulary.at(0).n_tokens
    merges = vocabulary.merges
    use = None
    if record.first_counts:
        byte_ids = vocabulary.symbols(bytes(range(256)))
        use = _TokenUse(dict(zip(byte_ids, record.first_counts, strict=True)))
    lengths = [record.n_tokens_start]
    for _, _, n_tokens in record.steps[: len(merges)]:
        lengths.append(n_tokens)
    points = list[CurvePoint]()
    for step, n_tokens in enumerate(lengths):
        saved = lengths[step - 1] - n_tokens if step else 0
        n_vocab = n_vocab_start + step
        n_used = utilization = efficiency = None
        if use:
            if saved:
                use.merge(*merges[step - 1], saved)
            n_used = len(use.counts)
            utilization = n_used / n_vocab
            efficiency = use.renyi_efficiency(n_tokens)
        points.append(
            CurvePoint(
                step=step,
                n_vocab=n_vocab,
                n_tokens=n_tokens,
                saved=saved,
                bytes_per_token=ratio(record.n_bytes, n_tokens),
                n_used=n_used,
                utilization=utilization,
                renyi_efficiency=efficiency,
            )
        )
    return points


class _TokenUse:
    """How often each token occurs in a corpus, from one merge to the next."""

    def __init__(self, counts: dict[int, Count]) -> None:
        self.counts = {token: count for token, count in counts.items() if count}
        self._powers = sum(map(_power, self.counts.values()))

    def merge(self, left: int, right: int, token: int, n: Count) -> None:
        """Join `n` occurrences of a pair to one token."""
        for changed, by in ((left, -n), (right, -n), (token, n)):
            before = self.counts.pop(changed, 0)
            after = before + by
            self._powers += _power(after) - _power(before)
            if after:
                self.counts[changed] = after

    def renyi_efficiency(self, n_tokens: Count) -> float:
        """Return the Rényi efficiency of order `ALPHA`. `n_tokens` is the sum of all counts."""
        if len(self.counts) < 2:
            return 0.0
        log_of_powers = math.log2(self._powers) - _BITS
        entropy = (log_of_powers - ALPHA * math.log2(n_tokens)) / (1 - ALPHA)
        return efficiency(entropy, len(self.counts))


def _power(count: Count) -> int:
    """Return count ** ALPHA in units of 2 ** -_BITS."""
    return int(math.ldexp(float(count) ** ALPHA, _BITS))
