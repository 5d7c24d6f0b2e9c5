"""Compression: bytes and characters per token, tokens per word."""


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
