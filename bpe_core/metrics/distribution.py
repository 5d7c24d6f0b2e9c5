"""How evenly a text uses its tokens: entropies of their frequencies, and the part of a vocabulary that occurs at all.

`counts` says how often each type of token occurs in a text, in any order; zeros are left out. Entropies are in bits.
Frequencies p_i are counts divided by their sum.
"""

import math
from collections.abc import Iterable

from bpe_core.errors import OptionError


def renyi_entropy(counts: Iterable[int], alpha: float = 2.5) -> float:
    """The Rényi entropy of order `alpha`, in bits: log2(sum of p_i ** alpha) / (1 - alpha); 0.0 for no tokens.

    The larger the order, the more the frequent tokens matter: 0 counts types (Hartley), 1 is Shannon's entropy,
    infinity looks at the most frequent type alone. Raises `OptionError` for a negative order. Source: A. Rényi, "On
    measures of entropy and information" (1961).

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
    # By the most frequent type, so that no power of a small frequency underflows.
    powers = math.fsum((count / most) ** alpha for count in used)
    return (alpha * least_surprise - math.log2(powers)) / (alpha - 1)


def renyi_efficiency(counts: Iterable[int], alpha: float = 2.5, *, n_types: int | None = None) -> float:
    """Rényi entropy by the highest that as many types could have, log2 of their number: from 0 to 1 (all alike).

    `n_types` is the number of types to compare with: those that occur, unless given; with the size of the vocabulary
    it is the share of the room that a vocabulary offers. 0.0 for fewer than two types. With order 2.5 it went with the
    quality of translation models trained on the tokens better than all other orders tried: Zouhar et al., "Tokenization
    and the Noiseless Channel" (2023, arXiv 2306.16842). Raises as `renyi_entropy` does.

    >>> renyi_efficiency([3, 2, 1, 1])
    0.8265064834225245
    """
    used = [count for count in counts if count > 0]
    n_types = len(used) if n_types is None else n_types
    entropy = renyi_entropy(used, alpha)
    return min(entropy / math.log2(n_types), 1.0) if n_types > 1 else 0.0  # rounding may exceed it


def shannon_efficiency(counts: Iterable[int], *, n_types: int | None = None) -> float:
    """Shannon's entropy by the highest that as many types could have: `renyi_efficiency` of order 1.

    Source: C. E. Shannon, "A Mathematical Theory of Communication" (1948); as a measure of subwords, Gutierrez-Vasques
    et al. (2021).
    """
    return renyi_efficiency(counts, 1, n_types=n_types)


def utilization(counts: Iterable[int], n_vocab: int) -> float:
    """The part of a vocabulary of `n_vocab` tokens that occurs at least once; 0.0 for an empty vocabulary.

    >>> utilization([3, 0, 1, 0], 4)
    0.5
    """
    return sum(count > 0 for count in counts) / n_vocab if n_vocab else 0.0
