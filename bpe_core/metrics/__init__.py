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


def characters_per_token(n_characters: int, n_tokens: int) -> float:
    """n_characters / n_tokens, in code points; 0.0 for no tokens. Below 1 where characters are several tokens."""
    return n_characters / n_tokens if n_tokens else 0.0


def fertility(n_tokens: int, n_words: int) -> float:
    """n_tokens / n_words, tokens per word (Ács 2019; Rust et al. 2021, arXiv 2012.15613); 0.0 for no words.

    Words are maximal substrings without white space. At least 1.0 unless tokens span words; for scripts written without
    spaces it is not comparable.
    """
    return n_tokens / n_words if n_words else 0.0


def parity(n_tokens: int, n_tokens_of_reference: int) -> float:
    """Tokens of a text / tokens of its translation into the reference language; 0.0 if the reference has no tokens.

    Source: Petrov et al., "Language Model Tokenizers Introduce Unfairness Between Languages" (2023, arXiv 2305.15425),
    where it is called the premium.
    """
    return n_tokens / n_tokens_of_reference if n_tokens_of_reference else 0.0


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


def renyi_efficiency(counts: Iterable[int], alpha: float = 2.5, *, n_types: int | None = None) -> float:
    """Rényi entropy of order `alpha` / log2(n_types), from 0 to 1 (a uniform distribution); 0.0 for fewer than 2 types.

    `n_types` defaults to the number of types that occur; pass the size of the vocabulary to relate the entropy to what
    the vocabulary could reach. Order 2.5 correlates best with the quality of translation models trained on the tokens:
    Zouhar et al., "Tokenization and the Noiseless Channel" (2023, arXiv 2306.16842). Raises `OptionError` for a
    negative order.

    >>> renyi_efficiency([3, 2, 1, 1])
    0.8265064834225245
    """
    used = [count for count in counts if count > 0]
    n_types = len(used) if n_types is None else n_types
    entropy = renyi_entropy(used, alpha)
    return min(entropy / math.log2(n_types), 1.0) if n_types > 1 else 0.0  # rounding may exceed it


def shannon_efficiency(counts: Iterable[int], *, n_types: int | None = None) -> float:
    """Shannon's entropy / log2(n_types): `renyi_efficiency` of order 1.

    Source: C. E. Shannon, "A Mathematical Theory of Communication" (1948); as a measure of subwords, Gutierrez-Vasques
    et al. (2021).
    """
    return renyi_efficiency(counts, 1, n_types=n_types)


def utilization(counts: Iterable[int], n_vocab: int) -> float:
    """Types that occur at least once / `n_vocab`; 0.0 for an empty vocabulary.

    >>> utilization([3, 0, 1, 0], 4)
    0.5
    """
    return sum(count > 0 for count in counts) / n_vocab if n_vocab else 0.0
