"""A split pattern tried on a text, and on runs of characters, before anything large is split by it."""

from typing import Final

from bpe_core.patterns import patience, splitter

SECONDS: Final = 0.5
"""Processor time that a pattern may take for all of it; a usual one needs a hundredth of it."""
_RUN: Final = 64
"""Characters of a run: an expression with two ways to match each of them has more than anybody can wait for."""
_RUNS: Final = "".join(f"{character * _RUN}!" for character in "aA1 .\n日")


def tried(pattern: str, text: str) -> list[str]:
    """The pieces of a text.

    Raises `PatternError` if the pattern is none, or takes too long on the text, or on runs of letters, digits, spaces
    and signs: what would explode on some later text does so there.

    >>> tried("gpt2", "a small test")
    ['a', ' small', ' test']
    """
    split = splitter(pattern).split
    with patience(SECONDS):
        split(_RUNS)
        return split(text)
