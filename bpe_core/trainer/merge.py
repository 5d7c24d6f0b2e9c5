"""What is told of a merge when it is made."""

from dataclasses import dataclass


@dataclass(slots=True)  # not frozen: making one would take three times as long, and they are made by the ten thousand
class Merge:
    """One step of a training: the two tokens that were joined, and what was known when they were chosen."""

    step: int
    """From 1."""
    left: int
    """Id of the left part."""
    right: int
    """Id of the right part."""
    token: int
    """Id of the new token."""
    token_bytes: bytes
    """Its bytes."""
    count: int
    """How often the pair occurred in the corpus, overlaps included (`aaa` holds `aa` twice)."""
    ties: int
    """How many pairs had this count; 1 if there was no tie, 0 if the merge was given by `start`."""
    n_tokens: int
    """Tokens in the corpus after this merge."""
