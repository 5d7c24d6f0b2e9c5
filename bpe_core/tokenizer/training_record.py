"""The training record: the corpus, options and statistics of a training, kept in the tokenizer's file for audits."""

import hashlib
from dataclasses import dataclass
from typing import Final

from bpe_core.corpus import Source

STOPPED: Final = "stopped"
"""The stop reason of a training that would have learned more."""


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """The record of one training; `steps[i]` belongs to the i-th merge of the vocabulary it is kept with."""

    pattern: str
    """The split pattern as it was asked for: a name of PATTERNS or a regular expression."""
    ties: str
    """The name of the tie rule, which chose among pairs of equal count; see `bpe_core.trainer.ties`."""
    id_layout: str
    """Whether bytes or special tokens have the lowest ids: "bytes-first" or "specials-first"."""
    min_count: int
    """Pairs that occur less often were not merged."""
    max_token_length: int | None
    """No token is longer than this many bytes; None if there was no limit."""
    vocab_size: int
    """The size that was asked for; the vocabulary may have stayed smaller."""
    sources: tuple[Source, ...]
    """The documents, each with its size and the digest of its text."""
    steps: tuple[tuple[int, int, int], ...]
    """For each merge: (the pair's count, how many pairs had that count, tokens in the corpus after the merge)."""
    n_bytes: int
    """Bytes of the corpus in UTF-8, those of a text as many times as it weighs."""
    n_tokens_start: int
    """Tokens of the corpus before the first merge; less than `n_bytes` if the pattern drops whitespace."""
    created: str
    """When the record was made, in ISO 8601, UTC."""
    stop_reason: str
    """Why the training ended: the size was reached, no pair was left, or it was stopped."""
    end_of_word: str = ""
    """The end-of-word marker that was put at the end of every piece; "" if none was."""
    min_share: str | None = None
    """The least share of the tokens that a pair was to make up, as a fraction ("1/10000"); None if there was no such
    rule."""
    n_given: int = 0
    """The first so many merges were given, by the vocabulary that was extended; 0 for a vocabulary of its own."""
    first_counts: tuple[int, ...] = ()
    """How often each of the 256 bytes occurred before the first merge, by value, then the end-of-word marker if there
    is one; empty if it is not known."""
    sample: str = ""
    """What was taken of the files, in words; "" if they were read whole."""

    @property
    def corpus_digest(self) -> str:
        """A SHA-256 of the digests and weights of all documents in their order, in hexadecimal: equal for the same
        texts, whatever their files are called."""
        digests = (source.sha256 + f" {source.weight}" * (source.weight > 1) for source in self.sources)
        return hashlib.sha256("".join(digests).encode()).hexdigest()
