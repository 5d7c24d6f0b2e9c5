"""Compression: bytes and characters per token, tokens per word, and how bytes per token grow during a training."""

from dataclasses import dataclass

from bpe_core.tokenizer.training_record import TrainingRecord


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The length of the training corpus after one step of a training."""

    step: int
    """How many merges were made; 0 before the first."""
    n_tokens: int
    """Length of the corpus in tokens."""
    bytes_per_token: float
    """Bytes of the corpus / tokens of the corpus: the compression ratio."""


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

    At least 1.0 unless tokens span words. Words are those of `count_words`; for scripts written without spaces the
    fertility is not comparable.
    """
    return n_tokens / n_words if n_words else 0.0


def count_words(text: str) -> int:
    """The number of words: maximal substrings without whitespace.

    >>> count_words("Hello world! I'm fine.")
    4
    """
    return len(text.split())


def parity(n_tokens: int, n_tokens_of_reference: int) -> float:
    """Tokens of a text / tokens of its translation into the reference language; 0.0 if the reference has no tokens.

    Source: Petrov et al., "Language Model Tokenizers Introduce Unfairness Between Languages" (2023, arXiv 2305.15425),
    where it is called the premium.
    """
    return n_tokens / n_tokens_of_reference if n_tokens_of_reference else 0.0


def compression_curve(record: TrainingRecord) -> list[CurvePoint]:
    """The length of the training corpus before the first merge and after each one: n + 1 points for n merges.

    Its first k points are the curve of a training with k - 1 merges, because merges do not depend on later ones.
    """
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
    return [CurvePoint(step, n, bytes_per_token(record.n_bytes, n)) for step, n in enumerate(lengths)]
