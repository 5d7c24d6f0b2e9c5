"""Formulas of metrics: compression, how evenly a text uses its tokens, what two vocabularies share, and what a larger
vocabulary gains.

`counts` are the occurrences of each token type in a text; zeros are ignored. p_i is a count / the sum of all counts.
"""

import math
from collections.abc import Iterable
from itertools import takewhile
from typing import Final, NamedTuple

from bpe_core.errors import OptionError
from bpe_core.tokenizer import Tokenizer
from bpe_core.weighted import Count

ALPHA: Final = 2.5  # the order of the Rényi efficiency
_BITS: Final = 52  # powers are summed in units of 2 ** -_BITS: each float from 1 up is a whole number, sums are exact


def ratio(a: Count, b: Count) -> float:
    """a / b, such as the bytes of a text in UTF-8 / its tokens, the compression ratio; 0.0 if b is 0."""
    return float(a / b) if b else 0.0


def renyi_entropy(counts: Iterable[int], alpha: float = 2.5) -> float:
    """The Rényi entropy of order `alpha`, in bits: log2(sum of p_i ** alpha) / (1 - alpha); 0.0 for no tokens.

    The larger the order, the more the frequent types weigh: order 0 is log2 of the number of types (Hartley), 1 is
    Shannon's entropy, infinity depends on the most frequent type only (min-entropy). Raises `OptionError` for a
    negative order. Source: A. Rényi, "On measures of entropy and information" (1961).

    >>> renyi_entropy([3, 2, 1, 1])
    1.653012966845049
    """
    if not alpha >= 0:
        raise OptionError(
            f"The order of a Rényi entropy is 0 or more, not {alpha}; the usual one is 2.5."
        )
    used = [count for count in counts if count > 0]
    if not used:
        return 0.0
    total, most = sum(used), max(used)
    if alpha == 1:
        return math.fsum(count / total * math.log2(total / count) for count in used)
    least_surprise = math.log2(total / most)
    if math.isinf(alpha):
        return least_surprise
    # Relative to the most frequent type, so that no power of a small frequency underflows.
    powers = math.fsum((count / most) ** alpha for count in used)
    return (alpha * least_surprise - math.log2(powers)) / (alpha - 1)


def renyi_efficiency(counts: Iterable[int], alpha: float = 2.5) -> float:
    """Rényi entropy of order `alpha` / log2(types that occur), 0 to 1 (all equally frequent); 0.0 for fewer than 2.

    Order 2.5 correlates best with how well models translate: Zouhar et al., "Tokenization and the Noiseless Channel"
    (2023, arXiv 2306.16842); with order 1 it is Shannon's (of subwords: Gutierrez-Vasques et al. 2021). Raises
    `OptionError` for a negative order.

    >>> renyi_efficiency([3, 2, 1, 1])
    0.8265064834225245
    """
    used = [count for count in counts if count > 0]
    entropy = renyi_entropy(used, alpha)
    return (
        min(entropy / math.log2(len(used)), 1.0) if len(used) > 1 else 0.0
    )  # rounding may exceed it


def overlap(first: Tokenizer, second: Tokenizer) -> tuple[int, list[int], list[int]]:
    """(how many byte strings are ordinary tokens of two vocabularies, the ids of the others of the first, ascending,
    and those of the second); O(n log n) for n tokens."""
    ours, theirs = _ids_by_bytes(first), _ids_by_bytes(second)
    only_ours = sorted(ours[data] for data in ours.keys() - theirs.keys())
    only_theirs = sorted(theirs[data] for data in theirs.keys() - ours.keys())
    return len(ours.keys() & theirs.keys()), only_ours, only_theirs


def _ids_by_bytes(tokenizer: Tokenizer) -> dict[bytes, int]:
    ids, bytes_of = tokenizer.vocabulary.ids(), tokenizer.vocabulary.bytes_of
    special = set(tokenizer.special_tokens.values())
    return {bytes_of[id]: id for id in ids if id not in special}


def merges_in_common(first: Tokenizer, second: Tokenizer) -> int:
    """The length of the common prefix of two merge lists; merges are equal if they join the same two byte strings."""

    def same(merges: tuple[tuple[int, int, int], tuple[int, int, int]]) -> bool:
        (a, b, _), (c, d, _) = merges
        return first.token_bytes(a) == second.token_bytes(c) and first.token_bytes(
            b
        ) == second.token_bytes(d)

    return sum(
        1
        for _ in takewhile(
            same, zip(first.vocabulary.merges, second.vocabulary.merges, strict=False)
        )
    )


class CurvePoint(NamedTuple):
    """The training corpus after one step; the last three are None if the counts of the bytes are not known."""

    step: int  # 0 before the first merge
    n_vocab: int  # special tokens included
    n_tokens: Count  # the length of the corpus
    saved: Count  # by how many tokens this step has made it shorter
    bytes_per_token: float
    n_used: int | None  # different tokens that occur
    utilization: float | None  # n_used / n_vocab
    renyi_efficiency: float | None  # of order ALPHA, 0 to 1


def training_curve(tokenizer: Tokenizer) -> list[CurvePoint]:
    """The points of the training that made a tokenizer, from step 0 to its own; `OptionError` without a record.

    A vocabulary of k merges is a prefix of its own merges, so one training gives the values for all sizes. A merge that
    joins n occurrences takes n from the counts of its parts, and its token begins with the count n. So each point
    follows from the one before in constant time, and nothing is encoded again.
    """
    record, vocabulary = tokenizer.record, tokenizer.vocabulary
    if record is None:
        raise OptionError(
            "There is no curve of this tokenizer: its file has no record of a training."
        )
    ids = vocabulary.symbols(bytes(range(256)))
    counts = {
        token: count
        for token, count in zip(ids, record.first_counts or [0] * len(ids), strict=True)
        if count
    }
    powers, merges, n_vocab = (
        sum(map(_power, counts.values())),
        vocabulary.merges,
        vocabulary.at(0).n_tokens,
    )
    lengths = [
        record.n_tokens_start,
        *(n_tokens for _, _, n_tokens in record.steps[: len(merges)]),
    ]
    points = list[CurvePoint]()
    for step, n_tokens in enumerate(lengths):
        saved = lengths[step - 1] - n_tokens if step else 0
        use: tuple[int | None, float | None, float | None] = None, None, None
        if record.first_counts:
            for one, by in (
                zip(merges[step - 1], (-saved, -saved, saved), strict=True)
                if saved
                else ()
            ):
                before = counts.pop(one, 0)
                powers += _power(before + by) - _power(before)
                if before + by:
                    counts[one] = before + by
            n_used, efficiency = len(counts), 0.0
            if n_used > 1:
                entropy = (math.log2(powers) - _BITS - ALPHA * math.log2(n_tokens)) / (
                    1 - ALPHA
                )
                efficiency = min(
                    entropy / math.log2(n_used), 1.0
                )  # rounding may exceed it
            use = n_used, n_used / (n_vocab + step), efficiency
        points.append(
            CurvePoint(
                step,
                n_vocab + step,
                n_tokens,
                saved,
                ratio(record.n_bytes, n_tokens),
                *use,
            )
        )
    return points


def _power(count: Count) -> int:
    return int(math.ldexp(float(count) ** ALPHA, _BITS))
