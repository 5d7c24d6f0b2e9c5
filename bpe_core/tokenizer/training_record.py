"""The training record: what a vocabulary was learned from and how, so that an audit can be repeated from its file."""

from dataclasses import dataclass

from bpe_core.corpus import Source


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """Options, corpus and outcome of one training; it belongs to the merges of the vocabulary it is kept with."""

    pattern: str
    """The split pattern as it was asked for: a name of PATTERNS or a regular expression."""
    ties: str
    """The rule that chose among pairs of equal count."""
    id_layout: str
    """"bytes-first" or "specials-first"."""
    min_count: int
    """Pairs that occur less often were not merged."""
    max_token_length: int | None
    """No token is longer than this many bytes; None if there was no limit."""
    vocab_size: int
    """The size that was asked for; the vocabulary may have stayed smaller."""
    sources: tuple[Source, ...]
    """The documents, each with its size and the digest of its text."""
    steps: tuple[tuple[int, int, int], ...]
    """For each merge: the pair's count then, how many pairs had that count, tokens in the corpus after it."""
    n_bytes: int
    """Bytes of the corpus in UTF-8."""
    n_tokens_start: int
    """Tokens of the corpus before the first merge; less than `n_bytes` if the pattern drops whitespace."""
    created: str
    """When, in ISO 8601, UTC."""
    stop_reason: str
    """Why the training ended: the size was reached, no pair was left, or it was stopped."""
    end_of_word: str = ""
    """What stood at the end of every piece; "" if nothing did."""
