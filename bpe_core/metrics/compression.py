"""How much text a token stands for, by bytes, characters and words, and how that grows in the course of a training."""

from dataclasses import dataclass

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


def parity(n_tokens: int, n_tokens_of_reference: int) -> float:
    """Tokens of a text by the tokens of its translation: what one language pays where the other pays 1.

    0.0 if the reference has no tokens. Source: Petrov et al., "Language Model Tokenizers Introduce Unfairness Between
    Languages" (2023, arXiv 2305.15425), where it is called the premium.
    """
    return n_tokens / n_tokens_of_reference if n_tokens_of_reference else 0.0


def compression_curve(record: TrainingRecord) -> list[CurvePoint]:
    """The length of the corpus before the first merge and after every one: a point more than there are merges.

    One training holds the curve for every smaller vocabulary too, because its first merges do not depend on how many
    follow.
    """
    lengths = [record.n_tokens_start, *(n_tokens for _, _, n_tokens in record.steps)]
    return [CurvePoint(step, n, bytes_per_token(record.n_bytes, n)) for step, n in enumerate(lengths)]
