"""How well a tokenizer compresses and how evenly it uses its vocabulary, in single numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from bpe_core.errors import OptionError
from bpe_core.tokenizer.training_record import TrainingRecord


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The corpus as it was at one step of a training."""

    step: int
    """Merges made; 0 before the first."""
    n_tokens: int
    """Length of the corpus in tokens."""
    bytes_per_token: float
    """Bytes of the corpus by its tokens: the compression ratio."""


def bytes_per_token(n_bytes: int, n_tokens: int) -> float:
    """Bytes of UTF-8 a token stands for on average: the compression ratio; 0.0 for no tokens.

    Comparable between tokenizers on the same text, and, unlike characters per token, also between scripts.

    >>> bytes_per_token(11, 5)
    2.2
    """
    return n_bytes / n_tokens if n_tokens else 0.0


def characters_per_token(n_characters: int, n_tokens: int) -> float:
    """Code points a token stands for on average; 0.0 for no tokens. Below 1 where characters are cut apart."""
    return n_characters / n_tokens if n_tokens else 0.0


def fertility(n_tokens: int, n_words: int) -> float:
    """Tokens a word becomes on average (Ács 2019; Rust et al. 2021, arXiv 2012.15613); 0.0 for no words.

    1.0 is the least unless tokens span words. See `count_words` for what a word is; scripts written without spaces
    have long "words" and no comparable fertility.
    """
    return n_tokens / n_words if n_words else 0.0


def count_words(text: str) -> int:
    """Stretches of a text without whitespace.

    >>> count_words("Hello world! I'm fine.")
    4
    """
    return len(text.split())


def renyi_efficiency(token_counts: Iterable[int], n_vocab: int, alpha: float = 2.5) -> float:
    """How evenly tokens are used: the Rényi entropy of their distribution by that of n_vocab equally likely tokens.

    H_a(p) = log(sum p_i ** a) / (1 - a), over log(n_vocab); from 0 (one token says everything) to 1 (all alike). Of the
    orders tried, 2.5 agreed best with how well translation models trained on the tokens (Zouhar et al. 2023, arXiv
    2306.16842). `alpha` 1 is Shannon's entropy, infinity looks at the most frequent token alone. 0.0 where nothing was
    counted or the vocabulary has fewer than two tokens. Raises `OptionError` for a negative `alpha`.

    >>> [round(renyi_efficiency(counts, 4), 3) for counts in ([5, 5, 5, 5], [14, 2, 2, 2], [20, 0, 0, 0])]
    [1.0, 0.418, 0.0]
    """
    if not alpha >= 0:
        raise OptionError(f"The order of a Rényi entropy is 0 or more, not {alpha}; the usual one is 2.5.")
    used = [count for count in token_counts if count > 0]
    if not used or n_vocab < 2:
        return 0.0
    total = sum(used)
    most = max(used)
    least_surprise = math.log(total / most)
    if alpha == 1:
        entropy = math.fsum(count / total * math.log(total / count) for count in used)
    elif math.isinf(alpha):
        entropy = least_surprise
    else:  # by the most frequent token, so that no power of a small share underflows
        powers = math.fsum((count / most) ** alpha for count in used)
        entropy = (alpha * least_surprise - math.log(powers)) / (alpha - 1)
    return min(entropy / math.log(n_vocab), 1.0)  # rounding may exceed it


def utilization(token_counts: Iterable[int], n_vocab: int) -> float:
    """The part of the vocabulary that occurs at least once; 0.0 for an empty vocabulary.

    >>> utilization([3, 0, 1, 0], 4)
    0.5
    """
    return sum(count > 0 for count in token_counts) / n_vocab if n_vocab else 0.0


def compression_curve(record: TrainingRecord) -> list[CurvePoint]:
    """The length of the corpus before the first merge and after every one: a point more than there are merges.

    One training holds the curve for every smaller vocabulary too, because its first merges do not depend on how many
    follow.
    """
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
    return [CurvePoint(step, n, bytes_per_token(record.n_bytes, n)) for step, n in enumerate(lengths)]
