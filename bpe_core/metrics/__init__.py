"""Metrics of texts under tokenizers: compression, tokens per word, and how evenly a text uses its tokens.

`counts` are the occurrences of each token type in a text, in any order; zeros are ignored. p_i is a count divided by
the sum of all counts. Entropies are in bits.
"""

import math
from collections.abc import Iterable

from bpe_core.errors import OptionError


def bytes_per_token(n_bytes: int, n_tokens: int) -> float:
    """n_bytes / n_tokens, the compression ratio, for a text of `n_bytes` in UTF-8; 0.0 for no tokens.

    Comparable between tokenizers on the same text, and, unlike characters per token, also between scripts.

    >>> bytes_per_token(11, 5)
    2.2
    """
    return n_bytes / n_tokens if n_tokens else 0.0


def renyi_entropy(counts: Iterable[int], alpha: float = 2.5) -> float:
    """The Rényi entropy of order `alpha`, in bits: log2(sum of p_i ** alpha) / (1 - alpha); 0.0 for no tokens.

    The larger the order, the more the frequent types weigh: order 0 is log2 of the number of types (Hartley), 1 is
    Shannon's entropy, infinity depends on the most frequent type only (min-entropy). Raises `OptionError` for a
    negative order. Source: A. Rényi, "On measures of entropy and information" (1961).

    >>> renyi_entropy([3, 2, 1, 1])
    1.653012966845049
    """
    if not alpha >= 0:
        raise OptionError(f"The order of a Rényi entropy is 0 or more, not {alpha}; the usual one is 2.5.")
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

    Order 2.5 correlates best with the quality of translation models trained on the tokens: Zouhar et al., "Tokenization
    and the Noiseless Channel" (2023, arXiv 2306.16842). Raises `OptionError` for a negative order.

    >>> renyi_efficiency([3, 2, 1, 1])
    0.8265064834225245
    """
    used = [count for count in counts if count > 0]
    entropy = renyi_entropy(used, alpha)
    return min(entropy / math.log2(len(used)), 1.0) if len(used) > 1 else 0.0  # rounding may exceed it


def shannon_efficiency(counts: Iterable[int]) -> float:
    """`renyi_efficiency` of order 1: Shannon's entropy / the most that so many types could have.

    Source: C. E. Shannon, "A Mathematical Theory of Communication" (1948); as a measure of subwords, Gutierrez-Vasques
    et al. (2021).
    """
    return renyi_efficiency(counts, 1)


def utilization(counts: Iterable[int], n_vocab: int) -> float:
    """Types that occur at least once / `n_vocab`; 0.0 for an empty vocabulary.

    >>> utilization([3, 0, 1, 0], 4)
    0.5
    """
    return sum(count > 0 for count in counts) / n_vocab if n_vocab else 0.0
